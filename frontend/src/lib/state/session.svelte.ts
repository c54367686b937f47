import {
  api,
  faultOf,
  type Answer,
  type AppEvent,
  type BrowserChanged,
  type Fault,
  type Session,
  type Snapshot,
  type Status,
  type Wait,
} from '../api'
import { isPicture, RunView } from './run.svelte'

/** Messages loaded at a time. */
const pageSize = 200

/**
 * A session as it is shown. Events are applied from the moment it is made;
 * those before the snapshot arrives wait for it. On a gap it is loaded again.
 */
export class SessionView {
  readonly id: string
  facts = $state.raw<Session>()
  runs = $state.raw<RunView[]>([])
  waits = $state.raw<Wait[]>([])
  status = $state.raw<Status>({ state: 'idle', iteration: 0, maxIterations: 0 })
  page = $state.raw<BrowserChanged>({ url: '', title: '', open: false })
  more = $state(false)
  loaded = $state(false)
  loadingOlder = $state(false)
  failure = $state.raw<Fault>()

  private seq = 0
  private oldest = 0
  private early: AppEvent[] | undefined = [] // events that came while a snapshot is on its way
  private again = false
  private reloadedFor = 0
  private reloadedAt = 0
  private closed = false

  constructor(id: string) {
    this.id = id
  }

  /** The run that works or waits for the person. */
  active = $derived(this.runs.find((r) => r.active))
  /** Prompts that wait for a run to end. */
  queued = $derived(this.active ? this.runs.filter((r) => r.state === 'queued') : [])
  /** Runs with a place in the transcript. */
  shown = $derived(this.active ? this.runs.filter((r) => r.state !== 'queued') : this.runs)
  /** The newest picture of a page. */
  picture = $derived(
    this.runs
      .flatMap((r) => r.calls)
      .flatMap((c) => c.pictures)
      .at(-1),
  )
  /** Files the session made, the newest of each name. */
  files = $derived([
    ...new Map(
      this.runs
        .flatMap((r) => r.calls)
        .flatMap((c) => [
          ...written(c),
          ...c.files.map((f) => ({ name: f.name, size: f.size as number | undefined })),
        ])
        .map((f) => [f.name, f]),
    ).values(),
  ])
  /** How much there is, for those who scrolled away: grows by one with every step or answer. */
  things = $derived(this.runs.reduce((n, r) => n + 1 + r.entries.length + (r.answer ? 1 : 0), 0))

  /** Loads the newest part of the session. */
  async load() {
    if (this.closed) return
    this.early ??= []
    try {
      this.take(await api.snapshot(this.id, { before: 0, limit: pageSize }))
      this.failure = undefined
    } catch (thrown) {
      this.failure = faultOf(thrown)
      return
    }
    const waiting = this.early ?? []
    this.early = undefined
    for (const e of waiting) this.apply(e)
    if (this.again) {
      this.again = false
      await this.load()
    }
  }

  /** Loads the part before what is shown. */
  async loadOlder() {
    if (!this.more || this.loadingOlder) return
    this.loadingOlder = true
    try {
      const s = await api.snapshot(this.id, { before: this.oldest, limit: pageSize })
      const known = new Set(this.runs.map((r) => r.id))
      this.runs = [...build(s).filter((r) => !known.has(r.id)), ...this.runs]
      this.more = s.more && s.messages.length > 0
      this.oldest = s.messages[0]?.seq ?? this.oldest
    } catch (thrown) {
      this.failure = faultOf(thrown)
    } finally {
      this.loadingOlder = false
    }
  }

  /** No event reaches this view any more. */
  close() {
    this.closed = true
  }

  private take(s: Snapshot) {
    this.facts = s.session
    this.seq = s.seq
    // Runs that were loaded by scrolling up stay.
    const fresh = build(s)
    const first = fresh[0]?.id
    const cut = this.runs.findIndex((r) => r.id === first)
    const older = cut > 0 ? this.runs.slice(0, cut) : []
    this.runs = [...older, ...fresh]
    if (older.length === 0) {
      this.more = s.more
      this.oldest = s.messages[0]?.seq ?? 0
    }
    this.waits = s.waits
    this.status = s.status
    this.page = s.page
    this.loaded = true
  }

  /** The only writer of what a run shows. */
  apply(e: AppEvent) {
    if (this.closed || e.sessionId !== this.id) return
    if (this.early) {
      this.early.push(e)
      return
    }
    if (e.seq > 0) {
      if (e.seq <= this.seq) return
      if (e.seq > this.seq + 1) return this.reload(e)
      this.seq = e.seq
    }
    switch (e.type) {
      case 'message.delta':
        if (this.run(e.runId)?.hearDelta(e.data) === false) this.reload(e)
        return
      case 'run.queued':
        if (!this.run(e.runId)) this.runs = [...this.runs, new RunView(e.runId ?? e.data.message.id)]
        break
      case 'run.status':
        this.status = e.data
        break
      case 'run.finished':
      case 'run.interrupted':
        this.waits = this.waits.filter((w) => w.runId !== e.runId)
        break
      case 'clarification.asked':
        this.waits = [...this.waits, { runId: e.runId ?? '', since: e.at, question: e.data }]
        break
      case 'approval.asked':
        this.waits = [...this.waits, { runId: e.runId ?? '', since: e.at, approval: e.data }]
        break
      case 'agreement.asked':
        this.waits = [...this.waits, { runId: e.runId ?? '', since: e.at, agreement: e.data }]
        break
      case 'clarification.answered':
      case 'clarification.expired':
      case 'clarification.dismissed':
      case 'approval.answered':
      case 'approval.dismissed':
      case 'agreement.answered':
      case 'agreement.dismissed':
        this.waits = this.waits.filter((w) => (w.question ?? w.approval ?? w.agreement)?.id !== e.data.id)
        break
      case 'browser.changed':
        this.page = e.data
        return
      case 'session.changed':
        if (this.facts) this.facts = { ...this.facts, ...e.data }
        return
    }
    this.run(e.runId)?.apply(e)
    if (e.type === 'run.finished' && e.data.reason === 'removed') this.drop(e.runId)
  }

  /** Loads again because something was missed. */
  missed() {
    if (this.early) this.again = true
    else void this.load()
  }

  /**
   * Loads again because of an event that does not follow what is known. Once
   * for one event, and for deltas once a second: what a snapshot cannot mend is
   * taken as it is.
   */
  private reload(e: AppEvent) {
    if (e.seq > 0 ? e.seq === this.reloadedFor : Date.now() - this.reloadedAt < 1000) {
      if (e.seq > 0) {
        this.seq = e.seq - 1
        this.apply(e)
      }
      return
    }
    if (e.seq > 0) this.reloadedFor = e.seq
    this.reloadedAt = Date.now()
    this.early = [e]
    void this.load()
  }

  private run(id: string | undefined): RunView | undefined {
    return id ? this.runs.findLast((r) => r.id === id) : undefined
  }

  private drop(id: string | undefined) {
    this.runs = this.runs.filter((r) => r.id !== id)
  }

  /** Ends the run that works or waits. */
  stop = () => api.stop(this.id)
  /** Goes on with a run that ended early. */
  continue = (runID: string) => api.continueRun(runID)
  /** Gives an interrupted run up. */
  leave = (runID: string) => api.leave(runID)
  /** Takes back what a run, or one call of it, did to files. */
  undo = (runID: string, callID: string) => api.undo(runID, callID)
  /** Settles a question, an approval or an agreement. */
  answer = (waitID: string, answer: Answer) => api.answer(waitID, answer)
  /** Takes back a line of what is agreed for a run. */
  revokeAgreed = (runID: string, line: string) => api.revokeAgreed(runID, line)
  /** Raises the session's browser window. */
  showBrowser = () => api.showBrowser(this.id)

  /** Shows the folder the session works in. */
  openFolder = () => api.openFolder(this.id)

  /** Takes a prompt out of the queue. */
  async removeQueued(runID: string) {
    await api.removeQueued(runID)
    this.drop(runID)
  }
}

/** Puts the messages of a snapshot into the runs they belong to. */
function build(s: Snapshot): RunView[] {
  const runs = s.runs.map((run) => {
    const view = new RunView(run.id)
    view.load(run)
    view.prompt = s.messages.find((m) => m.id === run.promptId)
    return view
  })
  const byID = new Map(runs.map((r) => [r.id, r]))
  // What was told beside the messages stands where it was told.
  const notes = [...s.notes]
  const noteUntil = (at: number) => {
    while (notes.length > 0 && notes[0]!.at <= at) {
      const n = notes.shift()!
      byID.get(n.runId)?.addNote(n)
    }
  }
  for (const m of s.messages) {
    noteUntil(m.createdAt)
    if (m.runId) byID.get(m.runId)?.addMessage(m)
  }
  noteUntil(Infinity)
  for (const a of s.agreed) byID.get(a.runId)?.agree(a.agreement)
  for (const open of s.open) byID.get(open.runId)?.addOpen(open)
  for (const run of runs) run.settle()
  const p = s.partial
  const partial = p && byID.get(p.runId)
  if (p && partial) {
    partial.hearDelta({ messageId: p.messageId, kind: 'text', offset: 0, text: p.text })
    partial.hearDelta({ messageId: p.messageId, kind: 'reasoning', offset: 0, text: p.reasoning })
  }
  return runs
}

function written(c: {
  call: { name: string; arguments: unknown }
  state: string
}): { name: string; size?: number }[] {
  const a = (c.call.arguments ?? {}) as { path?: unknown; save_as?: unknown }
  const writes = c.call.name === 'fs_write' || c.call.name === 'fs_edit'
  const path = writes ? a.path : c.call.name === 'web_fetch' ? a.save_as : undefined
  return c.state === 'succeeded' && typeof path === 'string' && path !== '' ? [{ name: path }] : []
}

export { isPicture }
