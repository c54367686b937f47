// What stands behind the window in a plain browser: the same calls, answered
// from recorded streams. It defines window.go and window.runtime, as the real
// window and the tests' HTTP adapter do; nothing else here knows of it.
import agreement from '../../../../backend/event/testdata/agreement.jsonl?raw'
import command from '../../../../backend/event/testdata/command.jsonl?raw'
import room from '../../../../backend/event/testdata/room.jsonl?raw'
import shelves from '../../../../backend/event/testdata/shelves.jsonl?raw'
import trouble from '../../../../backend/event/testdata/trouble.jsonl?raw'
import { FakeSession, read } from './fake-session'
import type {
  AgreementAsked,
  Answer,
  AppEvent,
  Key,
  KeySpec,
  Message,
  GrantInfo,
  Model,
  Preset,
  Problem,
  Provider,
  ProviderSpec,
  Prompt,
  Route,
  RouteSpec,
  Run,
  SessionChange,
  SessionQuery,
  SessionSpec,
  Settings,
  SnapshotQuery,
  Wait,
} from './types'

/** What is shown at first: which session, and up to which of its events. */
const scenes: Record<string, { open?: string; at?: number; empty?: boolean }> = {
  shelves: { open: 's-shelves' },
  running: { open: 's-shelves', at: -16 },
  room: { open: 's-room' },
  command: { open: 's-command' },
  trouble: { open: 's-kettle' },
  queued: { open: 's-kettle', at: 69 },
  agreement: { open: 's-tents', at: 13 },
  agreed: { open: 's-tents' },
  empty: { empty: true },
}

const minute = 60_000
const day = 24 * 60 * minute

export class Fake {
  readonly sessions = new Map<string, FakeSession>()
  private deleted = new Map<string, FakeSession>()
  private listeners = new Set<(batch: AppEvent[]) => void>()
  private timers: ReturnType<typeof setTimeout>[] = []
  private made = 0
  settings: Settings = {
    theme: 'system',
    zoom: 100,
    mode: 'ask',
    maxIterations: 100,
    concurrentRuns: 10,
    workspace: '',
    browserPath: '',
    browserAttach: '',
    browserFilter: 'on',
    systemPrompt: '',
    defaultProvider: '',
    titles: 'model',
    budget: {},
    network: {},
  }
  providers: Provider[] = []
  routes: Route[] = []
  own: Record<string, Model[]> = {}
  grants: GrantInfo[] = [
    {
      id: 'g1',
      sessionId: 's1',
      sessionTitle: 'Oak shelves',
      text: 'visit: https://example.org',
      words: 'Read all pages of https://example.org. Sending data and running scripts still ask.',
      used: 3,
      at: Date.now() - 3_600_000,
    },
  ]
  opened: string[] = []

  constructor(scene: string) {
    const s = scenes[scene] ?? scenes.shelves!
    const theme = new URLSearchParams(location.search).get('theme')
    if (theme) this.settings.theme = theme
    if (s.empty) return
    const streams = {
      's-shelves': shelves,
      's-room': room,
      's-command': command,
      's-kettle': trouble,
      ...(s.open === 's-tents' && { 's-tents': agreement }), // only in its own scenes
    }
    Object.entries(streams).forEach(([id, raw], i) => {
      let events = read(raw)
      if (s.open === id && s.at) events = events.slice(0, s.at)
      const end = events.at(-1)!.at
      const session = new FakeSession(id)
      const shift = Date.now() - end - i * 14 * minute - (id === 's-kettle' ? day : 0)
      const moved = (at: number | undefined) => (at === undefined ? at : at + shift)
      for (const e of events) {
        session.take({ ...e, at: e.at + shift })
        if (e.type !== 'session.changed') continue
        const { createdAt, updatedAt, startedAt } = e.data
        Object.assign(session.facts, {
          createdAt: moved(createdAt),
          updatedAt: moved(updatedAt),
          startedAt: moved(startedAt),
        })
      }
      this.sessions.set(id, session)
    })
    const old = [
      'Renew the library books',
      'Shopping list from three recipes',
      'Museum hours over the holidays',
    ]
    old.forEach((title, i) => {
      const session = new FakeSession(`s-old-${i}`)
      const at = Date.now() - (i * 2 + 1) * day - 2 * minute
      session.take(
        envelope('session.changed', session.facts.id, {
          id: session.facts.id,
          title,
          state: 'completed',
          seen: true,
          createdAt: at,
          updatedAt: at,
        }),
      )
      this.sessions.set(session.facts.id, session)
    })
    this.providers = [
      provider({ preset: 'tern', key: 'sk-7f3c' }, true),
      provider({ preset: 'alder', key: 'sk-02ae' }, false),
      provider({ preset: 'local' }, false),
    ]
    this.routes = [
      {
        id: 'everyday',
        name: 'Everyday',
        legs: [
          { provider: 'alder-1', model: 'alder-large' },
          { provider: 'alder-1', model: 'alder-mini', maxOutput: 4000 },
          { provider: 'local-1', model: 'small-8b', vision: false },
        ],
        isDefault: false,
      },
    ]
  }

  /** What the program says about its settings file. */
  notices: Problem[] = []

  calls: Record<string, (...args: never[]) => unknown> = {
    Sessions: (q: SessionQuery) =>
      [...this.sessions.values()]
        .map((s) => s.facts)
        .filter((s) => s.title.toLowerCase().includes(q.search.toLowerCase()))
        .sort((a, b) => b.updatedAt - a.updatedAt),
    CreateSession: (spec: SessionSpec) => {
      const s = new FakeSession(`s-new-${++this.made}`)
      Object.assign(s.facts, spec, { title: '', createdAt: Date.now(), updatedAt: Date.now() })
      this.sessions.set(s.facts.id, s)
      return s.facts
    },
    Snapshot: (id: string, q: SnapshotQuery) => {
      const s = this.find(id).snapshot()
      return q.before ? { ...s, messages: [], runs: [], more: false } : s
    },
    ChangeSession: (id: string, c: SessionChange) => {
      const s = this.find(id)
      Object.assign(s.facts, c)
      this.tell(s, 'session.changed', '', { ...s.facts })
      return s.facts
    },
    DeleteSession: (id: string) => {
      this.deleted.set(id, this.find(id))
      this.sessions.delete(id)
      this.emit(envelope('session.deleted', '', { id }))
    },
    RestoreSession: (id: string) => {
      const s = this.deleted.get(id)
      if (s) this.sessions.set(id, s)
    },
    SaveExport: () => '/home/robin/session.md',
    SendPrompt: (id: string, p: Prompt) => this.play(id, p.text),
    StartTour: () => {
      const s = (this.calls.CreateSession as (spec: SessionSpec) => FakeSession['facts'])({ tour: true })
      this.play(s.id, 'Take the tour.')
      return s.id
    },
    Stop: (id: string) => this.stop(id),
    Leave: (runID: string) => {
      const s = [...this.sessions.values()].find((x) => x.runs.has(runID))!
      this.cancel(s, s.runs.get(runID)!, 'left')
    },
    Undo: () => ({ files: [{ path: '/home/robin/Gofer/notes.txt', did: 'made' }] }),
    RemoveQueued: (runID: string) => {
      for (const s of this.sessions.values()) s.drop(runID)
    },
    Continue: (runID: string) => {
      const s = [...this.sessions.values()].find((x) => x.runs.has(runID))!
      return this.play(s.facts.id, '')
    },
    RevokeAgreed: (runID: string, line: string) => this.revokeAgreed(runID, line),
    Status: (id: string) => this.find(id).status,
    Answer: (waitID: string, a: Answer) => this.answer(waitID, a),
    Settings: () => this.settings,
    SaveSettings: (s: Settings) => (this.settings = s),
    Notices: () => this.notices,
    Presets: () => presets,
    Providers: () => this.providers,
    SaveProvider: (spec: ProviderSpec) => {
      const known = this.providers.find((p) => p.id === spec.id)
      const saved = known ? withKey({ ...known, ...clear(spec) }, spec.key) : provider(spec, false)
      this.providers = [...this.providers.filter((p) => p.id !== saved.id), saved].map((p) =>
        spec.default ? { ...p, isDefault: p.id === saved.id } : p,
      )
      return saved
    },
    RemoveProvider: (id: string) => {
      this.providers = this.providers.filter((p) => p.id !== id)
    },
    SaveKey: (spec: KeySpec) => this.saveKey(spec),
    RemoveKey: (id: string, key: string) => {
      const p = this.providers.find((x) => x.id === id)!
      return this.withKeys(
        p,
        p.keys!.filter((k) => k.id !== key),
      )
    },
    Models: (id: string) => {
      const own = this.own[id] ?? []
      const names = [...own.map((m) => m.name), ...this.providers.find((p) => p.id === id)!.models]
      return [...new Set(names)].map((name, i) => {
        const mine = own.find((m) => m.name === name) ?? { name }
        return {
          input: [200_000, 128_000, 0][i % 3],
          vision: i !== 1,
          priceInput: [3, 0.25, undefined][i % 3],
          priceOutput: [12, 1, undefined][i % 3],
          ...mine,
          own: mine,
        }
      })
    },
    SaveModel: (id: string, m: Model) => {
      const said = Object.values(m).some((v) => v !== m.name && (!Array.isArray(v) || v.length > 0))
      this.own[id] = [...(this.own[id] ?? []).filter((x) => x.name !== m.name), ...(said ? [m] : [])]
      return this.providers.find((p) => p.id === id)
    },
    Routes: () => this.routes,
    SaveRoute: (spec: RouteSpec) => {
      const old = this.routes.find((r) => r.id === spec.id)
      const saved: Route = {
        id: old?.id ?? `route-${++this.made}`,
        name: spec.name,
        legs: spec.legs,
        isDefault: spec.default === true || (old?.isDefault === true && !spec.notDefault),
      }
      const others = this.routes.map((r) => ({ ...r, isDefault: r.isDefault && !spec.default }))
      this.routes = old ? others.map((r) => (r.id === saved.id ? saved : r)) : [...others, saved]
      return saved
    },
    RemoveRoute: (id: string) => {
      this.routes = this.routes.filter((r) => r.id !== id)
    },
    Usage: () => this.usage(),
    Grants: () => this.grants,
    Revoke: (id: string) => {
      this.grants = this.grants.filter((g) => g.id !== id)
    },
    TestProvider: (spec: ProviderSpec) =>
      spec.key === 'wrong'
        ? {
            ok: false,
            elapsedMs: 210,
            url: spec.baseUrl ?? '',
            models: null,
            problem: {
              code: 'auth',
              message: 'Tern did not accept the key.',
              hint: 'Copy it again from the key page.',
            },
          }
        : {
            ok: true,
            elapsedMs: 412,
            answer: 'Hello.',
            url: spec.baseUrl ?? '',
            model: spec.model || 'tern-large',
            models: ['tern-large', 'tern-mini', 'tern-sight'],
            checks: [
              { what: 'models', ok: true, elapsedMs: 80, text: '3 listed' },
              { what: 'text', ok: true, elapsedMs: 412, firstMs: 210, text: 'ready' },
              { what: 'stream', ok: true, elapsedMs: 930, firstMs: 190, text: '21 pieces' },
              { what: 'tools', ok: true, elapsedMs: 640, text: 'called as asked' },
              {
                what: 'pictures',
                ok: false,
                elapsedMs: 120,
                text: '',
                problem: {
                  code: 'bad_request',
                  message: 'This model takes no pictures.',
                  hint: 'It works with text; screenshots are not shown to it.',
                },
              },
            ],
          },
    LocalServers: () => [
      {
        preset: 'local',
        name: 'Local server',
        baseUrl: 'http://127.0.0.1:11434/v1',
        models: ['small-8b', 'small-3b', 'tiny-1b'],
        added: this.providers.some((p) => p.local),
      },
    ],
    ShowBrowser: () => undefined,
    Version: () => '0.1.0',
    Machine: () => 'alder',
    SetTheme: () => undefined,
    ChooseFolder: () => '/home/robin/Errands',
    OpenFolder: () => undefined,
    OpenSettingsFile: () => undefined,
    OpenExternal: (address: string) => void this.opened.push(address),
  }

  on(listener: (batch: AppEvent[]) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Stores an event and tells it. */
  tell(s: FakeSession, type: AppEvent['type'], runId: string, data: unknown) {
    const e = { ...envelope(type, s.facts.id, data), ...(runId ? { runId } : {}) } as AppEvent
    e.seq = type === 'message.delta' || type === 'tool.progress' ? 0 : s.seq + 1
    s.take(e)
    this.emit(e)
  }

  emit(...batch: AppEvent[]) {
    for (const l of this.listeners) l(batch)
  }

  private withKeys(p: Provider, keys: Key[]): Provider {
    const list = keys.some((k) => k.active) ? keys : keys.map((k, i) => ({ ...k, active: i === 0 }))
    const saved = { ...p, keys: list, keyHint: list.find((k) => k.active)?.hint ?? '' }
    this.providers = this.providers.map((x) => (x.id === p.id ? saved : x))
    return saved
  }

  private saveKey(spec: KeySpec): Provider {
    const p = this.providers.find((x) => x.id === spec.provider)!
    const keys = (p.keys ?? []).map((k) => (k.id ? k : { ...k, id: 'key-first' }))
    const id = spec.id || (spec.key === undefined ? keys[0]!.id : `key-${++this.made}`)
    const old: Key = keys.find((k) => k.id === id) ?? {
      id,
      hint: '',
      place: 'keychain',
      active: keys.length === 0,
    }
    const key: Key = {
      ...old,
      alias: spec.alias ?? old.alias,
      expires: spec.expires ?? old.expires,
      hint: spec.key?.slice(-4) ?? old.hint,
    }
    key.expired = !!key.expires && key.expires < Date.now()
    const list = keys.some((k) => k.id === id) ? keys.map((k) => (k.id === id ? key : k)) : [...keys, key]
    return this.withKeys(p, spec.active ? list.map((k) => ({ ...k, active: k.id === id })) : list)
  }

  private usage() {
    const days = [0, 1, 2, 5].map((ago) => ({
      name: new Intl.DateTimeFormat('sv').format(Date.now() - ago * day),
      usage: { input: 182_000 - ago * 20_000, output: 9_400, cached: 40_000, cost: 0.42 / (ago + 1) },
      replies: 31 - ago * 4,
    }))
    const total = { input: 560_000, output: 37_600, cost: 0.84, estimated: true }
    const models = [
      { name: 'tern-large', usage: { ...total, cost: 0.84 }, replies: 92 },
      { name: 'small-8b', usage: { input: 8000, output: 900, estimated: true }, replies: 4 },
    ]
    return {
      total,
      days: this.sessions.size > 0 ? days.reverse() : null,
      models,
      budgetDay: this.settings.budget.day,
    }
  }

  private find(id: string): FakeSession {
    const s = this.sessions.get(id)
    if (!s)
      throw { code: 'not_found', message: 'This session does not exist.', hint: 'It may have been deleted.' }
    return s
  }

  /** Plays the second run of the recorded shelves into a session, as it happened. */
  private play(id: string, text: string): string {
    const s = this.find(id)
    const runId = `run-live-${++this.made}`
    const prompt: Message = {
      id: `p-${runId}`,
      sessionId: id,
      runId,
      seq: s.messages.length + 1,
      role: 'user',
      parts: [{ type: 'text', text }],
      createdAt: Date.now(),
    }
    const busy = s.active !== undefined
    this.tell(s, 'run.queued', runId, { message: prompt, ahead: busy ? 1 : 0 })
    if (busy) return runId
    if (!s.facts.title) s.facts.title = text.slice(0, 60)
    this.tell(s, 'session.changed', '', {
      ...s.facts,
      state: 'running',
      updatedAt: Date.now(),
      startedAt: Date.now(),
    })
    let wait = 0
    let last = 0
    for (const e of read(shelves).filter((x) => x.runId === 'run-2' && x.type !== 'run.queued')) {
      wait += Math.min(1500, last ? e.at - last : 0)
      last = e.at
      const data = JSON.parse(
        JSON.stringify(e.data)
          .replaceAll('run-2', runId)
          .replaceAll('s-shelves', id)
          .replaceAll('"c-', `"${runId}-c-`),
      )
      this.timers.push(
        setTimeout(
          () =>
            s.active?.id === runId || e.type === 'run.started'
              ? this.tell(s, e.type, runId, data)
              : undefined,
          wait,
        ),
      )
    }
    this.timers.push(
      setTimeout(
        () =>
          s.runs.get(runId)?.state === 'completed' &&
          this.tell(s, 'session.changed', '', { ...s.facts, state: 'completed', updatedAt: Date.now() }),
        wait + 5,
      ),
    )
    return runId
  }

  private stop(id: string) {
    const s = this.find(id)
    if (s.active) this.cancel(s, s.active, 'stopped')
  }

  private cancel(s: FakeSession, run: Run, reason: string) {
    this.tell(s, 'run.finished', run.id, {
      state: 'cancelled',
      reason,
      iterations: run.iteration,
      calls: run.calls,
      usage: run.usage,
      elapsedMs: 0,
    })
    this.tell(s, 'session.changed', '', { ...s.facts, state: 'cancelled', updatedAt: Date.now() })
  }

  private answer(waitID: string, a: Answer) {
    for (const s of this.sessions.values()) {
      const wait = s.waits.find((w) => (w.question ?? w.approval ?? w.agreement)?.id === waitID)
      if (!wait) continue
      if (wait.approval)
        this.tell(s, 'approval.answered', wait.runId, {
          id: waitID,
          allowed: a.allow ?? false,
          scope: a.scope,
          note: a.note,
          by: 'person',
        })
      else if (wait.agreement) this.agree(s, wait, wait.agreement, a)
      else
        this.tell(s, 'clarification.answered', wait.runId, {
          id: waitID,
          answer: a.text ?? '',
          by: a.skip ? 'skip' : a.decide ? 'agent' : 'person',
        })
      if (s.waits.length === 0 && !wait.agreement) this.stop(s.facts.id) // what is agreed is seen while it holds
      return
    }
    throw { code: 'not_found', message: 'This is no longer asked.', hint: '' }
  }

  private agree(s: FakeSession, wait: Wait, asked: AgreementAsked, a: Answer) {
    const lines = asked.lines.filter((l) => a.allow && a.lines?.includes(l.id))
    this.tell(s, 'agreement.answered', wait.runId, {
      id: asked.id,
      allowed: lines.length > 0,
      lines: lines.map((l) => l.id),
      note: a.note,
      by: 'person',
    })
    if (lines.length > 0) this.tell(s, 'agreement.changed', wait.runId, { ...asked, lines })
  }

  private revokeAgreed(runID: string, line: string) {
    for (const s of this.sessions.values()) {
      const agreed = s.agreed.find((a) => a.runId === runID)?.agreement
      if (!agreed) continue
      const lines = agreed.lines.map((l) => (l.id === line ? { ...l, revoked: true } : l))
      this.tell(s, 'agreement.changed', runID, { ...agreed, lines })
    }
  }

  end() {
    this.timers.forEach(clearTimeout)
  }
}

const presets: Preset[] = [
  {
    id: 'alder',
    name: 'Alder',
    baseUrl: 'https://api.alder.example/v1',
    keyPage: 'https://alder.example/keys',
    local: false,
    needsKey: true,
    models: ['alder-large', 'alder-mini'],
  },
  {
    id: 'tern',
    name: 'Tern',
    baseUrl: 'https://api.tern.example/v1',
    keyPage: 'https://tern.example/keys',
    local: false,
    needsKey: true,
    models: ['tern-large', 'tern-mini'],
  },
  { id: 'quarry', name: 'Quarry', baseUrl: 'https://quarry.example/v1', local: false, needsKey: true },
  { id: 'local', name: 'Local server', baseUrl: 'http://127.0.0.1:11434/v1', local: true, needsKey: false },
]

function provider(spec: ProviderSpec, isDefault: boolean): Provider {
  const preset = presets.find((p) => p.id === spec.preset)
  const made: Provider = {
    id: `${spec.preset || 'other'}-1`,
    preset: spec.preset ?? '',
    name: spec.name || preset?.name || 'Other',
    baseUrl: spec.baseUrl || preset?.baseUrl || '',
    model: spec.model || preset?.models?.[0] || '',
    models: preset?.models ?? [],
    local: preset?.local ?? false,
    needsKey: preset?.needsKey ?? false,
    keyHint: '',
    keyPlace: 'none',
    isDefault: isDefault || spec.default === true,
  }
  return withKey(made, spec.key)
}

/** Puts the single key of a provider in its place; undefined leaves it. */
function withKey(p: Provider, key: string | undefined): Provider {
  if (key === undefined) return p
  const hint = key.slice(-4)
  const keys = key ? [{ id: '', hint, place: 'keychain', active: true }] : []
  return { ...p, keyHint: hint, keyPlace: key ? 'keychain' : 'none', keys }
}

function clear<T extends object>(o: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(o).filter(([k, v]) => v !== undefined && k !== 'key' && k !== 'default'),
  ) as Partial<T>
}

function envelope(type: AppEvent['type'], sessionId: string, data: unknown): AppEvent {
  return { seq: 0, type, sessionId, at: Date.now(), data } as AppEvent
}

/** Puts a fake behind the window and shows its scene. */
export function installFake(scene: string): Fake {
  const fake = new Fake(scene)
  const copy = (v: unknown) => (v === undefined ? v : JSON.parse(JSON.stringify(v)))
  const app = new Proxy({} as Record<string, unknown>, {
    get:
      (_, name: string) =>
      async (...args: unknown[]) =>
        copy(await fake.calls[name]!(...(copy(args) as never[]))),
  })
  Object.assign(window, {
    go: { main: { App: app } },
    runtime: {
      EventsOnMultiple: (_: string, heard: (batch: AppEvent[]) => void) =>
        fake.on((batch) => heard(copy(batch) as AppEvent[])),
    },
    fake,
    fakeScene: scenes[scene]?.open,
  })
  return fake
}
