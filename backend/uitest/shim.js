// Stands in for the Wails runtime. Calls wait until the event stream is open,
// so that no event between a subscription and a snapshot is lost.
;(() => {
  const listeners = new Map()
  const stream = new EventSource('/uitest/events')
  const open = new Promise((resolve) => stream.addEventListener('open', resolve, { once: true }))
  const deliver = (name, data) => {
    for (const l of [...(listeners.get(name) ?? [])]) {
      l.callback(...data)
      if (l.left > 0 && --l.left === 0) l.off()
    }
  }
  stream.addEventListener('message', (m) => {
    const { name, data } = JSON.parse(m.data)
    deliver(name, data)
  })
  const post = async (path, body) => {
    await open
    const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) })
    const answer = await response.json()
    if ('error' in answer) throw answer.error
    return answer.result
  }
  const EventsOnMultiple = (name, callback, max) => {
    const listener = {
      callback,
      left: max,
      off: () => listeners.set(name, (listeners.get(name) ?? []).filter((l) => l !== listener)),
    }
    listeners.set(name, [...(listeners.get(name) ?? []), listener])
    return listener.off
  }
  const runtime = {
    EventsOnMultiple,
    EventsOn: (name, callback) => EventsOnMultiple(name, callback, -1),
    EventsOnce: (name, callback) => EventsOnMultiple(name, callback, 1),
    EventsOff: (...names) => names.forEach((name) => listeners.delete(name)),
    EventsOffAll: () => listeners.clear(),
    EventsEmit: (name, ...data) => {
      deliver(name, data)
      void post('/uitest/emit', { name, data })
    },
    ClipboardSetText: (text) => navigator.clipboard.writeText(text).then(() => true),
    ClipboardGetText: () => navigator.clipboard.readText(),
    Environment: async () => ({ buildType: 'uitest', platform: 'linux', arch: 'amd64' }),
    BrowserOpenURL: (url) => void post('/uitest/emit', { name: 'uitest:open', data: [url] }),
  }
  // What only moves a native window has nothing to do here.
  window.runtime = new Proxy(runtime, { get: (has, name) => has[name] ?? (() => Promise.resolve()) })
  window.go = {
    main: { App: new Proxy({}, { get: (_, method) => (...args) => post('/rpc/' + String(method), args) }) },
  }
})()
