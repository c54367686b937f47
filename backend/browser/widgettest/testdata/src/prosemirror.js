import { EditorState } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { DOMParser } from 'prosemirror-model'
import { schema } from 'prosemirror-schema-basic'
import { exampleSetup } from 'prosemirror-example-setup'

const content = document.createElement('div')
content.innerHTML = '<h2>Old title</h2><p>Old <b>text</b></p>'
window.view = new EditorView(document.getElementById('editor'), {
  state: EditorState.create({ doc: DOMParser.fromSchema(schema).parse(content), plugins: exampleSetup({ schema, menuBar: false }) }),
})
window.read = () => window.view.state.doc.textBetween(0, window.view.state.doc.content.size, '\n')
