// Controlled fields, a select, a date picker and a sortable list, all of React.
import { createElement as h, useState } from 'react'
import { createRoot } from 'react-dom/client'
import Select from 'react-select'
import AsyncSelect from 'react-select/async'
import DatePicker from 'react-datepicker'
import 'react-datepicker/dist/react-datepicker.css'
import { DndContext, KeyboardSensor, PointerSensor, closestCenter, useSensor, useSensors } from '@dnd-kit/core'
import { SortableContext, arrayMove, useSortable, verticalListSortingStrategy } from '@dnd-kit/sortable'

const fruit = ['Apple', 'Apricot', 'Banana', 'Cherry'].map((x) => ({ value: x.toLowerCase(), label: x }))
const later = (typed) => new Promise((done) => setTimeout(() => done(fruit.filter((f) => f.label.toLowerCase().includes(typed.toLowerCase()))), 400))

function Row({ id }) {
  const s = useSortable({ id })
  const t = s.transform
  return h('div', { ref: s.setNodeRef, style: { height: 40, border: '1px solid', transition: s.transition, transform: t ? `translate3d(${t.x}px,${t.y}px,0)` : undefined }, ...s.attributes, ...s.listeners }, id)
}

function App() {
  const [name, setName] = useState('')
  const [upper, setUpper] = useState('')
  const [one, setOne] = useState(null)
  const [many, setMany] = useState([])
  const [found, setFound] = useState(null)
  const [date, setDate] = useState(new Date(2026, 0, 15))
  const [items, setItems] = useState(['Alpha', 'Beta', 'Gamma', 'Delta'])
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 5 } }), useSensor(KeyboardSensor))
  window.state = { name, upper, one: one?.value, many: many.map((x) => x.value), found: found?.value, date: date?.toDateString(), items }
  return h('div', null,
    h('label', null, 'Name ', h('input', { value: name, onChange: (e) => setName(e.target.value) })),
    h('label', null, 'Upper ', h('input', { value: upper, onChange: (e) => setUpper(e.target.value.toUpperCase()) })),
    h('h2', null, 'One'), h(Select, { options: fruit, value: one, onChange: setOne }),
    h('h2', null, 'Many'), h(Select, { options: fruit, isMulti: true, value: many, onChange: setMany }),
    h('h2', null, 'Found'), h(AsyncSelect, { loadOptions: later, value: found, onChange: setFound }),
    h('h2', null, 'Date'), h(DatePicker, { selected: date, onChange: setDate }),
    h(DndContext, { sensors, collisionDetection: closestCenter, onDragEnd: ({ active, over }) => over && active.id !== over.id && setItems((l) => arrayMove(l, l.indexOf(active.id), l.indexOf(over.id))) },
      h(SortableContext, { items, strategy: verticalListSortingStrategy }, items.map((id) => h(Row, { key: id, id })))))
}
createRoot(document.getElementById('app')).render(h(App))
