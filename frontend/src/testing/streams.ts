import { readFileSync } from 'node:fs'
import { FakeSession, read } from '../lib/api/fake-session'
import type { AppEvent, Snapshot } from '../lib/api/types'

/** A recorded stream, as the Go tests read it too. */
export function stream(name: string): AppEvent[] {
  return read(readFileSync(`../backend/event/testdata/${name}.jsonl`, 'utf8'))
}

/** The snapshot a store gives after these events. */
export function snapshotAfter(events: AppEvent[]): Snapshot {
  const s = new FakeSession(events[0]!.sessionId)
  for (const e of events) s.take(e)
  return JSON.parse(JSON.stringify(s.snapshot())) as Snapshot
}

/** Stands behind the window with one answer for each call, and notes what was called. */
export function answers(methods: Record<string, (...args: never[]) => unknown>): [string, ...unknown[]][] {
  const calls: [string, ...unknown[]][] = []
  const App = new Proxy(
    {},
    {
      get:
        (_, name: string) =>
        async (...args: unknown[]) => {
          calls.push([name, ...args])
          return methods[name]?.(...(args as never[]))
        },
    },
  )
  Object.assign(window, { go: { main: { App } }, runtime: { EventsOnMultiple: () => () => {} } })
  return calls
}
