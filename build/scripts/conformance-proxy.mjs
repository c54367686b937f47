// Sends requests on to a server and adds the token of a file, for a tool that
// cannot. What a request calls its host and its origin stays as it is, but for
// the name of the proxy itself: the server shall judge them.
// Usage: node conformance-proxy.mjs URL TOKEN-FILE; prints its own URL.
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'

const [target, tokenFile] = process.argv.slice(2)
const server = new URL(target)
const token = readFileSync(tokenFile, 'utf8').trim()

const proxy = createServer((from, to) => {
  const port = proxy.address().port
  const headers = { ...from.headers, authorization: `Bearer ${token}` }
  for (const name of ['host', 'origin']) {
    headers[name] = headers[name]?.replace(new RegExp(`(127\\.0\\.0\\.1|localhost):${port}$`), server.host)
    if (!headers[name]) delete headers[name]
  }
  const on = request({ host: server.hostname, port: server.port, path: from.url, method: from.method, headers }, (answer) => {
    to.writeHead(answer.statusCode, answer.headers)
    to.flushHeaders()
    answer.pipe(to)
  })
  on.on('error', () => to.destroy())
  to.on('close', () => on.destroy())
  from.pipe(on)
})
proxy.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${proxy.address().port}${server.pathname}`))
