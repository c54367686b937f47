import { EditorView, basicSetup } from 'codemirror'
import { javascript } from '@codemirror/lang-javascript'

window.view = new EditorView({ doc: "let old = 'text'\n", extensions: [basicSetup, javascript()], parent: document.getElementById('editor') })
window.read = () => window.view.state.doc.toString()
