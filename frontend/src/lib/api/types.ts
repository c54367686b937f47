import type { config, engine } from '../wailsjs/go/models'
import type {
  AgreementAsked,
  AgreementChanged,
  ApprovalAsked,
  BrowserChanged,
  ClarificationAsked,
  Message,
  Problem,
  RouteRetrying,
  RouteSwitched,
  RunState,
  Status,
  ToolCall,
  Usage,
} from './events.gen'

export type * from './events.gen'

/** What a bound struct carries, without the methods of its generated class. */
type Plain<T> = { [K in keyof T as T[K] extends (...args: never[]) => unknown ? never : K]: T[K] }

export type Session = Plain<engine.Session>
export type SessionQuery = Plain<engine.SessionQuery>
export type SessionSpec = Omit<Plain<engine.SessionSpec>, 'endpoint'>
export type SessionChange = Plain<engine.SessionChange>
export type Partial = Plain<engine.Partial>
export type Key = Plain<engine.KeyInfo>
export type KeySpec = Plain<engine.KeySpec>
export type Provider = Omit<Plain<engine.Provider>, 'keys'> & { keys?: Key[] }
export type ProviderSpec = Plain<engine.ProviderSpec>
export type Model = Plain<config.Model>
export type ModelInfo = Omit<Plain<engine.ModelInfo>, 'own'> & { own: Model }
export type Leg = Plain<config.Leg>
export type Route = Omit<Plain<engine.Route>, 'legs'> & { legs: Leg[] }
export type RouteSpec = Omit<Plain<engine.RouteSpec>, 'legs'> & { legs: Leg[] }
export type Preset = Plain<engine.Preset>
export type GrantInfo = Plain<engine.GrantInfo>
export type UndoneFile = Plain<engine.UndoneFile>
export type Undone = Omit<Plain<engine.Undone>, 'files'> & { files: UndoneFile[] }
export type LocalServer = Plain<engine.LocalServer>
export type Answer = Plain<engine.Answer>
export type Settings = Omit<Plain<config.Settings>, 'providers' | 'routes'> & {
  providers?: unknown
  routes?: unknown
}

/** Fields that hold raw JSON or named words come from the event types instead. */
export type Run = Omit<Plain<engine.Run>, 'state' | 'error' | 'usage'> & {
  state: RunState
  error?: Problem
  usage: Usage
}
/** What was told of a run beside its messages. */
export interface Note {
  runId: string
  seq: number
  at: number
  notice?: { text: string }
  retrying?: RouteRetrying
  switched?: RouteSwitched
}
export type OpenCall = Omit<Plain<engine.OpenCall>, 'call'> & { call: ToolCall }
export type Wait = Omit<Plain<engine.Wait>, 'question' | 'approval' | 'agreement'> & {
  question?: ClarificationAsked
  approval?: ApprovalAsked
  agreement?: AgreementAsked
}
/** What is or was agreed for a run. */
export interface Agreed {
  runId: string
  agreement: AgreementChanged
}
export type Check = Omit<Plain<engine.Check>, 'problem'> & { problem?: Problem }
export type ProviderTest = Omit<Plain<engine.ProviderTest>, 'problem' | 'checks'> & {
  problem?: Problem
  checks?: Check[]
}
/** What one day or one model has used. */
export interface UsageOf {
  name: string
  usage: Usage
  replies: number
}
export interface UsageReport {
  total: Usage
  days: UsageOf[] | null
  models: UsageOf[] | null
  budgetRun?: number
  budgetDay?: number
}
export type SnapshotQuery = Plain<engine.SnapshotQuery>
export interface Snapshot {
  session: Session
  seq: number
  messages: Message[]
  runs: Run[]
  notes: Note[]
  agreed: Agreed[]
  more: boolean
  open: OpenCall[]
  waits: Wait[]
  status: Status
  partial?: Partial
  page: BrowserChanged
}

/** A prompt as it is sent; empty fields take what the session says. */
export interface Prompt {
  text: string
  mode?: string
  maxIterations?: number
}
