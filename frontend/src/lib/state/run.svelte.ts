import type {
  AgreementChanged,
  AppEvent,
  Artifact,
  Message,
  Note,
  OpenCall,
  Problem,
  Run,
  RunState,
  ToolCall,
  ToolResult,
  CallState,
  Usage,
} from '../api'
import { clause, t } from '../text'

/** Live output past this many characters loses its start. */
const longestProgress = 64 * 1024

/** What a run looks like to a person. */
export type Look = 'queued' | 'running' | 'needsYou' | 'done' | 'stopped' | 'failed' | 'limit' | 'interrupted'

/** The look of a stored state and its reason. */
export function lookOf(state: string, reason = ''): Look | undefined {
  switch (state) {
    case 'queued':
      return 'queued'
    case 'running':
      return 'running'
    case 'awaiting_user':
      return 'needsYou'
    case 'interrupted':
      return 'interrupted'
    case 'completed':
      return reason === 'limit' ? 'limit' : 'done'
    case 'cancelled':
      return reason === 'limit' ? 'limit' : 'stopped'
    case 'failed':
      return reason === 'limit' ? 'limit' : 'failed'
  }
  return undefined
}

/** One tool call of a run. */
export class CallCard {
  readonly id: string
  call = $state.raw<ToolCall>({ id: '', name: '', arguments: {} })
  title = $state('')
  acts = $state(false)
  state = $state<CallState | 'pending'>('pending')
  startedAt = $state(0)
  progress = $state('')
  result = $state.raw<ToolResult>()

  constructor(call: ToolCall) {
    this.id = call.id
    this.call = call
  }

  running = $derived(this.state === 'started')
  pictures = $derived((this.result?.artifacts ?? []).filter(isPicture))
  files = $derived((this.result?.artifacts ?? []).filter((a) => !isPicture(a)))

  start(e: { call: ToolCall; title?: string; effect: string }, at: number) {
    this.call = e.call
    this.title = e.title ?? ''
    this.acts = e.effect === 'acts'
    this.state = 'started'
    this.startedAt = at
  }

  finish(result: ToolResult) {
    this.result = result
    this.state = result.state
    this.title ||= result.title ?? ''
  }

  hear(text: string) {
    this.progress = (this.progress + text).slice(-longestProgress)
  }
}

/** Whether an artifact is something to look at. */
export function isPicture(a: Artifact): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(a.media)
}

/** A reply while it streams. */
export class Streaming {
  text = $state('')
  reasoning = $state('')
  /** Name of the tool whose arguments are being written. */
  tool = $state('')

  constructor(readonly messageId: string) {}

  /** Adds a delta at its offset. Returns false when text before it is missing. */
  add(kind: string, offset: number, text: string, name?: string): boolean {
    if (kind === 'call') {
      if (name) this.tool = name
      return true
    }
    const key = kind === 'reasoning' ? 'reasoning' : 'text'
    const have = this[key]
    if (offset > have.length) return false
    if (offset + text.length > have.length) this[key] = have.slice(0, offset) + text
    return true
  }
}

/** What a run's timeline is made of, in order. */
export type Entry =
  | { kind: 'said'; id: string; text: string; reasoning: string }
  | { kind: 'call'; id: string; card: CallCard }
  | {
      kind: 'note'
      id: string
      note: 'notice' | 'retry' | 'switch'
      text: string
      until?: number
      attempt?: number
    }

/** One attempt to answer a prompt. Only the loader and apply write to it. */
export class RunView {
  readonly id: string
  prompt = $state.raw<Message>()
  state = $state<RunState>('queued')
  reason = $state('')
  error = $state.raw<Problem>()
  iteration = $state(0)
  maxIterations = $state(0)
  provider = $state('')
  model = $state('')
  tokens = $state(0)
  /** US dollars, where prices are known. */
  cost = $state(0)
  /** The server counted nothing, so the figures are a guess. */
  estimated = $state(false)
  /** The last switch to another model, as a sentence. */
  switched = $state('')
  createdAt = $state(0)
  startedAt = $state(0)
  finishedAt = $state(0)
  entries = $state.raw<Entry[]>([])
  answer = $state.raw<{ id: string; text: string; reasoning: string; cut: boolean }>()
  streaming = $state.raw<Streaming>()
  /** What is or was agreed for the run. */
  agreed = $state.raw<AgreementChanged>()

  private cards = new Map<string, CallCard>()
  private seen = new Set<string>()

  constructor(id: string) {
    this.id = id
  }

  look = $derived(lookOf(this.state, this.reason) ?? 'queued')
  active = $derived(this.state === 'running' || this.state === 'awaiting_user')
  calls = $derived(this.entries.filter((e) => e.kind === 'call').map((e) => e.card))
  current = $derived(this.calls.findLast((c) => c.running))
  /** What is agreed holds now. */
  bound = $derived(this.active && this.agreed !== undefined && !this.agreed.over)

  /** The stored facts of the run. */
  load(run: Run) {
    this.state = run.state
    this.reason = run.reason ?? ''
    this.error = run.error
    this.iteration = run.iteration
    this.maxIterations = run.maxIterations
    this.provider = run.provider
    this.model = run.model
    this.count(run.usage)
    this.createdAt = run.createdAt
    this.startedAt = run.startedAt ?? 0
    this.finishedAt = run.finishedAt ?? 0
  }

  /** A stored message of the run. Each is taken once. */
  addMessage(m: Message) {
    if (this.seen.has(m.id)) return
    this.seen.add(m.id)
    switch (m.role) {
      case 'user':
        this.prompt ??= m
        return
      case 'assistant':
        return this.addReply(m)
      case 'tool':
        if (m.result) this.card(m.result.callId, m.result.name).finish(m.result)
    }
  }

  private addReply(m: Message) {
    this.fileAnswer()
    const said = { id: m.id, text: textOf(m, 'text'), reasoning: textOf(m, 'reasoning') }
    if (!m.calls?.length) {
      this.answer = { ...said, cut: m.finish === 'length' }
      return
    }
    if (said.text || said.reasoning) this.push({ kind: 'said', ...said })
    for (const call of m.calls) this.card(call.id, call.name).call = call
  }

  /** An answer that turns out not to be the last word goes into the timeline. */
  private fileAnswer() {
    if (!this.answer) return
    const { id, text, reasoning } = this.answer
    this.push({ kind: 'said', id, text, reasoning })
    this.answer = undefined
  }

  /** A call that has started and not ended, as the snapshot tells it. */
  addOpen(open: OpenCall) {
    this.card(open.call.id, open.call.name).start(open, open.startedAt)
  }

  /**
   * Calls without an end in a run that is over: nobody knows. One that had not
   * begun never will, unless the run was interrupted and goes on.
   */
  settle() {
    if (this.active || this.state === 'queued') return
    for (const card of this.cards.values()) {
      if (card.state === 'started') card.state = 'unknown'
      if (card.state === 'pending' && this.state !== 'interrupted') card.state = 'cancelled'
    }
  }

  apply(e: AppEvent) {
    switch (e.type) {
      case 'run.queued':
        this.createdAt = e.at
        return this.addMessage(e.data.message)
      case 'run.started':
        this.state = 'running'
        this.startedAt = e.at
        this.provider = e.data.provider
        this.model = e.data.model
        this.maxIterations = e.data.maxIterations
        return
      case 'run.interrupted':
        this.state = 'interrupted'
        this.iteration = e.data.iteration
        this.finishedAt = e.at
        return this.breakOff()
      case 'run.continued':
        this.state = 'running'
        this.finishedAt = 0
        return
      case 'run.finished':
        this.state = e.data.state
        this.reason = e.data.reason ?? ''
        this.error = e.data.error
        this.iteration = e.data.iterations
        this.count(e.data.usage)
        this.finishedAt = e.at
        return this.breakOff()
      case 'run.status':
        if (e.data.iteration) this.iteration = e.data.iteration
        if (e.data.maxIterations) this.maxIterations = e.data.maxIterations
        if (e.data.state === 'awaiting_user') this.state = 'awaiting_user'
        else if (
          this.state === 'awaiting_user' &&
          (e.data.state === 'thinking' || e.data.state === 'tool_call')
        )
          this.state = 'running'
        return
      case 'iteration.started':
        this.iteration = e.data.n
        if (e.data.model) this.model = e.data.model
        return
      case 'iteration.finished':
        if (e.data.usage) {
          this.tokens += total(e.data.usage)
          this.cost += e.data.usage.cost ?? 0
          this.estimated ||= e.data.usage.estimated ?? false
        }
        return
      case 'message.started':
        this.streaming = new Streaming(e.data.messageId)
        return
      case 'message.finished':
        this.streaming = undefined
        return this.addMessage(e.data.message)
      case 'tool.started':
        return this.card(e.data.call.id, e.data.call.name).start(e.data, e.at)
      case 'tool.progress':
        return this.cards.get(e.data.callId)?.hear(e.data.text)
      case 'tool.finished':
        return this.addMessage(e.data.message)
      case 'route.retrying':
        return this.addNote({ runId: this.id, seq: e.seq, at: e.at, retrying: e.data })
      case 'route.switched':
        this.provider = e.data.provider
        this.model = e.data.model
        return this.addNote({ runId: this.id, seq: e.seq, at: e.at, switched: e.data })
      case 'agreement.changed':
        return this.agree(e.data)
      case 'run.notice':
        return this.addNote({ runId: this.id, seq: e.seq, at: e.at, notice: e.data })
    }
  }

  /** What is agreed as of now, the whole of it. */
  agree(agreed: AgreementChanged) {
    this.agreed = { ...agreed, lines: agreed.lines ?? [] }
  }

  /** What was told beside the messages. */
  addNote(n: Note) {
    const id = `note-${n.seq}`
    if (n.retrying) {
      const { reason, waitMs, attempt } = n.retrying
      this.push({ kind: 'note', id, note: 'retry', text: reason, until: n.at + waitMs, attempt })
    } else if (n.switched) {
      const { to, reason, kind } = n.switched
      this.switched = kind ? t.run.switched(to, clause(reason)) : t.run.switchedBack(to)
      this.push({ kind: 'note', id, note: 'switch', text: this.switched })
    } else if (n.notice) this.push({ kind: 'note', id, note: 'notice', text: n.notice.text })
  }

  private count(u: Usage | undefined) {
    this.tokens = total(u)
    this.cost = u?.cost ?? 0
    this.estimated = u?.estimated ?? false
  }

  /** A delta of the reply that streams. Returns false when text before it is missing. */
  hearDelta(d: { messageId: string; kind: string; offset: number; text: string; name?: string }): boolean {
    if (this.seen.has(d.messageId)) return true
    if (this.streaming?.messageId !== d.messageId) {
      if (d.offset > 0) return false
      this.streaming = new Streaming(d.messageId)
    }
    return this.streaming.add(d.kind, d.offset, d.text, d.name)
  }

  /** What had streamed stays to be read when no stored reply replaces it. */
  private breakOff() {
    const s = this.streaming
    this.streaming = undefined
    if (s && (s.text || s.reasoning)) {
      this.fileAnswer()
      this.answer = { id: s.messageId, text: s.text, reasoning: s.reasoning, cut: true }
    }
    this.settle()
  }

  private card(id: string, name: string): CallCard {
    let card = this.cards.get(id)
    if (!card) {
      card = new CallCard({ id, name, arguments: {} })
      this.cards.set(id, card)
      this.push({ kind: 'call', id, card })
    }
    return card
  }

  private push(entry: Entry) {
    this.entries = [...this.entries, entry]
  }
}

function textOf(m: Message, kind: 'text' | 'reasoning'): string {
  return (m.parts ?? [])
    .filter((p) => p.type === kind)
    .map((p) => p.text ?? '')
    .join('')
}

function total(u: { input: number; output: number } | undefined): number {
  return u ? u.input + u.output : 0
}
