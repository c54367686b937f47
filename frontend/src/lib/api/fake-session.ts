import type {
  AppEvent,
  BrowserChanged,
  Agreed,
  Message,
  Note,
  OpenCall,
  Run,
  Session,
  Snapshot,
  Status,
  Wait,
} from './types'

/** Reads a recorded stream: one event a line. */
export function read(raw: string): AppEvent[] {
  return raw
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AppEvent)
}

/** A session as a store would hold it: folds events, and answers with snapshots. */
export class FakeSession {
  facts: Session
  seq = 0
  messages: Message[] = []
  runs = new Map<string, Run>()
  notes: Note[] = []
  agreed: Agreed[] = []
  open = new Map<string, OpenCall>()
  waits: Wait[] = []
  status: Status = { state: 'idle', iteration: 0, maxIterations: 0 }
  page: BrowserChanged = { url: '', title: '', open: false }
  partial: Snapshot['partial']

  constructor(id: string) {
    this.facts = {
      id,
      title: '',
      autoTitle: true,
      state: '',
      seen: false,
      workspace: '',
      mode: 'ask',
      provider: '',
      model: '',
      systemPrompt: '',
      maxIterations: 0,
      headless: false,
      tour: false,
      createdAt: 0,
      updatedAt: 0,
    }
  }

  get active(): Run | undefined {
    return [...this.runs.values()].find((r) => r.state === 'running' || r.state === 'awaiting_user')
  }

  snapshot(): Snapshot {
    return {
      session: this.facts,
      seq: this.seq,
      messages: this.messages,
      runs: [...this.runs.values()],
      notes: this.notes,
      agreed: this.agreed,
      more: false,
      open: [...this.open.values()],
      waits: this.waits,
      status: this.status,
      partial: this.partial,
      page: this.page,
    }
  }

  drop(runID: string) {
    this.runs.delete(runID)
    this.messages = this.messages.filter((m) => m.runId !== runID)
  }

  take(e: AppEvent) {
    if (e.seq > 0) this.seq = e.seq
    const run = this.runs.get(e.runId ?? '')
    switch (e.type) {
      case 'session.changed':
        Object.assign(this.facts, e.data)
        return
      case 'run.queued':
        this.messages.push(e.data.message)
        this.runs.set(e.runId!, {
          id: e.runId!,
          sessionId: e.sessionId,
          promptId: e.data.message.id,
          state: 'queued',
          iteration: 0,
          maxIterations: 100,
          provider: '',
          model: '',
          mode: 'ask',
          calls: 0,
          usage: { input: 0, output: 0 },
          createdAt: e.at,
        })
        return
      case 'run.started':
        Object.assign(run!, e.data, { state: 'running', startedAt: e.at })
        return
      case 'run.status':
        this.status = e.data
        if (run && e.data.state === 'awaiting_user') run.state = 'awaiting_user'
        return
      case 'run.interrupted':
        Object.assign(run!, { state: 'interrupted' })
        this.partial = undefined
        this.waits = this.waits.filter((w) => w.runId !== e.runId)
        return
      case 'run.finished':
        Object.assign(run!, {
          state: e.data.state,
          reason: e.data.reason,
          error: e.data.error,
          iteration: e.data.iterations,
          calls: e.data.calls,
          usage: e.data.usage,
          finishedAt: e.at,
        })
        return this.close(e.runId)
      case 'iteration.started':
        if (run) run.iteration = e.data.n
        return
      case 'iteration.finished':
        if (run && e.data.usage)
          run.usage = {
            input: run.usage.input + e.data.usage.input,
            output: run.usage.output + e.data.usage.output,
            cost: (run.usage.cost ?? 0) + (e.data.usage.cost ?? 0),
          }
        return
      case 'message.started':
        this.partial = { runId: e.runId!, messageId: e.data.messageId, text: '', reasoning: '' }
        return
      case 'message.delta':
        if (this.partial && e.data.kind === 'text') this.partial.text += e.data.text
        if (this.partial && e.data.kind === 'reasoning') this.partial.reasoning += e.data.text
        return
      case 'message.finished':
        this.partial = undefined
        this.messages.push(e.data.message)
        return
      case 'run.notice':
        this.note(e, { notice: e.data })
        return
      case 'route.retrying':
        this.note(e, { retrying: e.data })
        return
      case 'route.switched':
        Object.assign(run!, { provider: e.data.provider, model: e.data.model })
        this.note(e, { switched: e.data })
        return
      case 'tool.started':
        this.open.set(e.data.call.id, { ...e.data, runId: e.runId!, startedAt: e.at })
        return
      case 'tool.finished':
        this.messages.push(e.data.message)
        this.open.delete(e.data.message.result!.callId)
        return
      case 'clarification.asked':
        this.waits.push({ runId: e.runId!, since: e.at, question: e.data })
        return
      case 'approval.asked':
        this.waits.push({ runId: e.runId!, since: e.at, approval: e.data })
        return
      case 'agreement.asked':
        this.waits.push({ runId: e.runId!, since: e.at, agreement: e.data })
        return
      case 'agreement.changed':
        this.agreed = this.agreed.filter((a) => a.runId !== e.runId)
        this.agreed.push({ runId: e.runId!, agreement: e.data })
        return
      case 'clarification.answered':
      case 'approval.answered':
      case 'agreement.answered':
        this.waits = this.waits.filter((w) => (w.question ?? w.approval ?? w.agreement)?.id !== e.data.id)
        return
      case 'browser.changed':
        this.page = e.data
    }
  }

  private note(e: AppEvent, what: Partial<Note>) {
    this.notes.push({ runId: e.runId!, seq: e.seq, at: e.at, ...what })
  }

  private close(runID: string | undefined) {
    this.partial = undefined
    this.waits = this.waits.filter((w) => w.runId !== runID)
    for (const [id, call] of this.open) if (call.runId === runID) this.open.delete(id)
  }
}
