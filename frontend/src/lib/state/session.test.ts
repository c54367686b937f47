import { describe, expect, it } from 'vitest'
import type { AppEvent } from '../api'
import { answers, snapshotAfter, stream } from '../../testing/streams'
import type { RunView } from './run.svelte'
import { SessionView } from './session.svelte'

/** What a person sees of a run, in a form that can be compared. */
function seen(run: RunView) {
  return {
    look: run.look,
    steps: run.entries.map((e) =>
      e.kind === 'call'
        ? `${e.card.call.name} ${e.card.state} ${e.card.result?.text ?? ''}`
        : e.kind === 'said'
          ? `said ${e.text}`
          : `${e.note}`,
    ),
    answer: run.answer?.text,
    tokens: run.tokens,
    streaming: run.streaming?.text,
  }
}

async function viewAt(events: AppEvent[], loadAfter: number): Promise<SessionView> {
  answers({ Snapshot: () => snapshotAfter(events.slice(0, loadAfter)) })
  const view = new SessionView(events[0]!.sessionId)
  await view.load()
  return view
}

describe('a session', () => {
  it.each(['shelves', 'room', 'command', 'trouble'])(
    'looks the same however much of %s was loaded',
    async (name) => {
      const events = stream(name)
      const whole = await viewAt(events, events.length)
      for (const at of [1, 5, 20, 37, 60]) {
        if (at > events.length) continue
        const view = await viewAt(events, at)
        // Everything is told again: what is known is dropped, deltas too.
        for (const e of events) view.apply(e)
        const got = view.runs.map(seen)
        const want = whole.runs.map(seen)
        for (const r of got) if (r.look === 'stopped') r.answer = undefined
        expect(got).toEqual(want)
        expect(view.waits).toEqual(whole.waits)
        expect(view.page).toEqual(whole.page)
      }
    },
  )

  it('tells a run as it happens', async () => {
    const view = await viewAt(stream('shelves'), 1)
    for (const e of stream('shelves').slice(1)) view.apply(e)
    const run = view.runs[1]!
    expect(run.calls.map((c) => c.call.name)).toEqual([
      ...['browser_snapshot', 'browser_read', 'fs_list', 'browser_find'],
      ...['browser_click', 'fs_edit', 'shell_exec', 'browser_click'],
    ])
    expect(run.calls.at(-1)!.state).toBe('failed')
    expect(run.answer?.text).toContain('**oak shelf 80** is cheapest')
    expect(run.entries.filter((e) => e.kind === 'note').map((e) => e.note)).toEqual(['retry', 'notice'])
    expect(view.picture?.blob).toBe('blob-after')
    expect(view.files.map((f) => f.name)).toEqual(['shelves.csv'])
  })

  it('keeps events that come while it loads', async () => {
    const events = stream('shelves')
    const view = new SessionView('s-shelves')
    answers({
      Snapshot: () => {
        for (const e of events.slice(8)) view.apply(e)
        return snapshotAfter(events.slice(0, 12))
      },
    })
    await view.load()
    expect(view.runs.map((r) => r.look)).toEqual(['done', 'done'])
  })

  it('loads again when an event is missing', async () => {
    const events = stream('shelves')
    const calls = answers({
      Snapshot: () => snapshotAfter(events.slice(0, calls.length === 1 ? 10 : events.length)),
    })
    const view = new SessionView('s-shelves')
    await view.load()
    view.apply(events.at(-1)!)
    await expect.poll(() => view.runs.map((r) => r.look)).toEqual(['done', 'done'])
    expect(calls.length).toBe(2)
  })

  it('takes an event that no snapshot can explain instead of loading for ever', async () => {
    const events = stream('shelves')
    const calls = answers({ Snapshot: () => snapshotAfter(events.slice(0, 10)) })
    const view = new SessionView('s-shelves')
    await view.load()
    view.apply(events.at(-1)!)
    await expect.poll(() => view.facts?.state).toBe('completed')
    expect(calls.length).toBe(2)
  })

  it('joins deltas by their offset, so that none counts twice', async () => {
    const events = stream('shelves')
    const first = events.findIndex((e) => e.type === 'message.delta')
    const view = await viewAt(events, first)
    const delta = (offset: number, text: string): AppEvent => ({
      ...events[first]!,
      type: 'message.delta',
      seq: 0,
      data: { messageId: 'live', kind: 'text', offset, text },
    })
    for (const e of [delta(0, 'Hello '), delta(0, 'Hello '), delta(3, 'lo wor'), delta(9, 'ld')])
      view.apply(e)
    expect(view.runs[0]!.streaming?.text).toBe('Hello world')
  })

  it('drops the text of a reply that broke off when another begins', async () => {
    const events = stream('shelves')
    const start = events.findIndex((e) => e.type === 'message.started')
    const view = await viewAt(events, start)
    const run = view.runs[0]!
    run.apply(events[start]!)
    run.hearDelta({ messageId: 'm-run-1-1', kind: 'text', offset: 0, text: 'Broken' })
    run.apply({ ...events[start]!, type: 'message.started', data: { messageId: 'second' } })
    expect(run.streaming?.text).toBe('')
  })

  it('keeps what had streamed when the run is stopped', async () => {
    const view = await viewAt(stream('trouble'), 1)
    for (const e of stream('trouble').slice(1)) view.apply(e)
    expect(view.runs[3]!.answer).toMatchObject({ text: 'There are', cut: true })
    expect(view.runs.map((r) => r.look)).toEqual([
      'interrupted',
      'failed',
      'limit',
      'stopped',
      'done',
      'failed',
    ])
  })

  it('calls the outcome unknown when the program ended during a call', async () => {
    const view = await viewAt(stream('trouble'), stream('trouble').length)
    expect(view.runs[0]!.calls.map((c) => c.state)).toEqual(['succeeded', 'unknown'])
    const live = await viewAt(stream('trouble'), 1)
    for (const e of stream('trouble').slice(1)) live.apply(e)
    expect(live.runs[0]!.calls.map((c) => c.state)).toEqual(['succeeded', 'unknown'])
  })

  it('shows waiting prompts apart until their turn comes', async () => {
    const events = stream('trouble')
    const queued = events.findIndex((e) => e.type === 'run.queued' && e.data.ahead === 1)
    const view = await viewAt(events, queued)
    view.apply(events[queued]!)
    expect(view.queued.map((r) => r.id)).toEqual(['run-5'])
    expect(view.shown.map((r) => r.id)).not.toContain('run-5')
    for (const e of events.slice(queued + 1)) view.apply(e)
    expect(view.queued).toEqual([])
    expect(view.shown.map((r) => r.id)).toContain('run-5')
  })

  it('forgets what it asked once the run is over', async () => {
    const events = stream('room')
    const view = await viewAt(events, events.length)
    expect(view.waits.map((w) => (w.question ?? w.approval)!.id)).toEqual(['a-1', 'q-1'])
    view.apply({
      ...events.at(-1)!,
      seq: events.at(-1)!.seq + 1,
      type: 'approval.answered',
      data: { id: 'a-1', allowed: true, by: 'person' },
    })
    expect(view.waits.map((w) => (w.question ?? w.approval)!.id)).toEqual(['q-1'])
    view.apply({
      ...events.at(-1)!,
      runId: 'run-1',
      seq: events.at(-1)!.seq + 2,
      type: 'run.finished',
      data: { state: 'cancelled', iterations: 2, calls: 2, usage: { input: 0, output: 0 }, elapsedMs: 1 },
    })
    expect(view.waits).toEqual([])
  })

  it('says why another model took over, also when it is loaded later', async () => {
    const start = stream('shelves').slice(0, 6)
    const runId = start.findLast((e) => e.type === 'run.started')!.runId
    const seq = start.at(-1)!.seq
    const at = start.at(-1)!.at
    const told = [
      { from: 'Alder a', to: 'Tern t', kind: 'quota', reason: 'The account is empty.' },
      { from: 'Tern t', to: 'Alder a', reason: 'It is used again.' },
    ].map((d, i) => ({
      seq: seq + 1 + i,
      type: 'route.switched',
      sessionId: start[0]!.sessionId,
      runId,
      at: at + i,
      data: { provider: 'p', model: 'm', ...d },
    })) as AppEvent[]
    const want = ['Switched to Tern t, because the account is empty.', 'Switched back to Alder a.']
    for (const from of [start.length, start.length + 1, start.length + 2]) {
      const view = await viewAt([...start, ...told], from)
      for (const e of told) view.apply(e)
      const run = view.runs.find((r) => r.id === runId)!
      expect(run.entries.map((e) => (e.kind === 'note' ? e.text : ''))).toEqual(want)
      expect(run.switched).toBe(want[1])
    }
  })
})
