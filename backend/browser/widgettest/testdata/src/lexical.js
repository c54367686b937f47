import { $createParagraphNode, $createTextNode, $getRoot, createEditor } from 'lexical'
import { registerRichText } from '@lexical/rich-text'
import { createEmptyHistoryState, registerHistory } from '@lexical/history'

const editor = createEditor({ namespace: 'test', onError(e) { throw e } })
editor.setRootElement(document.getElementById('editor'))
registerRichText(editor)
registerHistory(editor, createEmptyHistoryState(), 300)
editor.update(() => {
  for (const line of ['Old first', 'Old second']) $getRoot().append($createParagraphNode().append($createTextNode(line)))
}, { discrete: true })
window.read = () => editor.read(() => $getRoot().getChildren().map((n) => n.getTextContent()).join('\n'))
