import type { config, engine } from '../wailsjs/go/models'
import type {
  ApprovalAsked,
  BrowserChanged,
  ClarificationAsked,
  Message,
  Problem,
  RunState,
  Status,
  ToolCall,
} from './events.gen'

export type * from './events.gen'

/** What a bound struct carries, without the methods of its generated class. */
type Plain<T> = { [K in keyof T as T[K] extends (...args: never[]) => unknown ? never : K]: T[K] }

export type Session = Plain<engine.Session>
export type SessionQuery = Plain<engine.SessionQuery>
export type SessionSpec = Omit<Plain<engine.SessionSpec>, 'endpoint'>
export type SessionChange = Plain<engine.SessionChange>
export type Partial = Plain<engine.Partial>
export type Provider = Plain<engine.Provider>
export type ProviderSpec = Plain<engine.ProviderSpec>
export type Preset = Plain<engine.Preset>
export type LocalServer = Plain<engine.LocalServer>
export type Answer = Plain<engine.Answer>
export type Settings = Omit<Plain<config.Settings>, 'providers'> & { providers?: unknown }

/** Fields that hold raw JSON or named words come from the event types instead. */
export type Run = Omit<Plain<engine.Run>, 'state' | 'error' | 'usage'> & {
  state: RunState
  error?: Problem
  usage: { input: number; output: number; estimated?: boolean }
}
export type OpenCall = Omit<Plain<engine.OpenCall>, 'call'> & { call: ToolCall }
export type Wait = Omit<Plain<engine.Wait>, 'question' | 'approval'> & {
  question?: ClarificationAsked
  approval?: ApprovalAsked
}
export type ProviderTest = Omit<Plain<engine.ProviderTest>, 'problem'> & { problem?: Problem }
export type SnapshotQuery = Plain<engine.SnapshotQuery>
export interface Snapshot {
  session: Session
  seq: number
  messages: Message[]
  runs: Run[]
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
