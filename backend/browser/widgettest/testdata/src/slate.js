import { createElement, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createEditor, Node } from 'slate'
import { Editable, Slate, withReact } from 'slate-react'
import { withHistory } from 'slate-history'

function App() {
  const [editor] = useState(() => withHistory(withReact(createEditor())))
  window.read = () => editor.children.map((n) => Node.string(n)).join('\n')
  return createElement(
    Slate,
    { editor, initialValue: [{ type: 'paragraph', children: [{ text: 'Old first' }] }, { type: 'paragraph', children: [{ text: 'Old second' }] }] },
    createElement(Editable, { 'aria-label': 'Note', placeholder: 'Write here' }),
  )
}
createRoot(document.getElementById('editor')).render(createElement(App))
