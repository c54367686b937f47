import { Component, createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { ContentState, Editor, EditorState } from 'draft-js'

class App extends Component {
  state = { editor: EditorState.createWithContent(ContentState.createFromText('Old first\nOld second')) }
  render() {
    window.read = () => this.state.editor.getCurrentContent().getPlainText('\n')
    return createElement(Editor, { ariaLabel: 'Note', editorState: this.state.editor, onChange: (editor) => this.setState({ editor }) })
  }
}
createRoot(document.getElementById('editor')).render(createElement(App))
