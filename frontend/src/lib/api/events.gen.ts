// Written by go generate ./backend/event. Do not edit.

/** Any JSON value, as tools take and models send it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type Role = 'system' | 'user' | 'assistant' | 'tool'

export type PartType = 'text' | 'reasoning' | 'image' | 'file'

export interface Part {
  type: PartType
  text?: string
  blob?: string
  media?: string
  name?: string
  width?: number
  height?: number
  size?: number
}

export interface ToolCall {
  id: string
  wireId?: string
  name: string
  arguments: Json
  invalid?: string
  raw?: string
  extra?: Json
}

export type CallState = 'started' | 'succeeded' | 'failed' | 'cancelled' | 'unknown'

export interface Artifact {
  blob: string
  name: string
  media: string
  size: number
  width?: number
  height?: number
}

export interface ToolResult {
  callId: string
  name: string
  state: CallState
  title?: string
  text: string
  outcome?: string
  origin?: string
  artifacts?: Artifact[]
  elapsedMs: number
}

export interface Usage {
  input: number
  output: number
  cached?: number
  reasoning?: number
  estimated?: boolean
  cost?: number
}

export interface Message {
  id: string
  sessionId: string
  runId?: string
  seq: number
  role: Role
  parts?: Part[]
  calls?: ToolCall[]
  result?: ToolResult
  model?: string
  finish?: string
  usage?: Usage
  replay?: Json
  createdAt: number
}

export interface RunQueued {
  message: Message
  ahead: number
}

export interface RunStarted {
  model: string
  provider: string
  mode: string
  maxIterations: number
}

export interface RunInterrupted {
  iteration: number
}

export interface RunContinued {
  epoch: number
}

export type RunState = 'queued' | 'running' | 'awaiting_user' | 'interrupted' | 'completed' | 'failed' | 'cancelled'

export interface Reason {
  model: string
  code: string
  message: string
  hint?: string
}

export interface Problem {
  code: string
  message: string
  hint?: string
  reasons?: Reason[]
}

export interface RunFinished {
  state: RunState
  reason?: string
  error?: Problem
  iterations: number
  calls: number
  usage: Usage
  elapsedMs: number
}

export interface IterationStarted {
  n: number
  model: string
}

export interface IterationFinished {
  n: number
  usage?: Usage
  elapsedMs: number
}

export type State = 'idle' | 'thinking' | 'tool_call' | 'awaiting_user' | 'complete' | 'error' | 'cancelled'

export interface Status {
  state: State
  runId?: string
  iteration: number
  maxIterations: number
  currentTool?: string
  lastMessage?: string
  error?: Problem
  since?: number
}

export interface MessageStarted {
  messageId: string
}

export interface MessageDelta {
  messageId: string
  kind: string
  offset: number
  text: string
  call?: number
  name?: string
}

export interface MessageFinished {
  message: Message
}

export interface ToolStarted {
  call: ToolCall
  title?: string
  effect: string
}

export interface ToolProgress {
  callId: string
  text: string
}

export interface ToolFinished {
  message: Message
}

export interface RouteRetrying {
  attempt: number
  waitMs: number
  kind: string
  reason: string
}

export interface RouteSwitched {
  from: string
  to: string
  provider: string
  model: string
  kind?: string
  reason: string
}

export interface Notice {
  text: string
}

export interface Option {
  label: string
  value: string
}

export interface Question {
  kind: string
  title: string
  why?: string
  options?: Option[]
  default?: string
  waitMs?: number
}

export interface ClarificationAsked {
  id: string
  callId?: string
  question: Question
}

export interface ClarificationAnswered {
  id: string
  answer: string
  by: string
}

export interface ClarificationExpired {
  id: string
}

export interface ClarificationDismissed {
  id: string
}

export interface DeedField {
  label: string
  value?: string
  secret?: boolean
}

export interface Deed {
  class: string
  object: string
  detail?: string
  text?: string
  fields?: DeedField[]
}

export interface ApprovalAsked {
  id: string
  callId: string
  tool: string
  args: Json
  deeds: Deed[]
  session?: string
  missing?: string
  why?: string
  extend?: string
  client?: string
}

export interface ApprovalAnswered {
  id: string
  allowed: boolean
  scope?: string
  note?: string
  by: string
}

export interface ApprovalDismissed {
  id: string
}

export interface AgreementLine {
  id: string
  class: string
  object: string
  words: string
  used?: number
  added?: boolean
  revoked?: boolean
}

export interface AgreementAsked {
  id: string
  callId?: string
  goal: string
  lines: AgreementLine[]
  spend?: number
  iterations?: number
  missing?: string
  why?: string
}

export interface AgreementAnswered {
  id: string
  allowed: boolean
  lines?: string[]
  note?: string
  by: string
}

export interface AgreementDismissed {
  id: string
}

export interface AgreementChanged {
  goal: string
  lines: AgreementLine[]
  spend?: number
  iterations?: number
  over?: boolean
}

export interface BrowserChanged {
  url: string
  title: string
  open: boolean
}

export interface ArtifactCreated {
  artifact: Artifact
  callId?: string
}

export interface SessionChanged {
  id: string
  title: string
  state: string
  reason?: string
  seen: boolean
  createdAt: number
  updatedAt: number
  startedAt?: number
}

export interface SessionDeleted {
  id: string
}

export type SettingsChanged = Record<string, never>

/** One event on its way. */
export interface Envelope<T extends string, D> {
  seq: number
  type: T
  sessionId: string
  runId?: string
  lane?: string
  at: number
  data: D
}

/** Every event the product tells. */
export type AppEvent =
  | Envelope<'run.queued', RunQueued>
  | Envelope<'run.started', RunStarted>
  | Envelope<'run.interrupted', RunInterrupted>
  | Envelope<'run.continued', RunContinued>
  | Envelope<'run.finished', RunFinished>
  | Envelope<'iteration.started', IterationStarted>
  | Envelope<'iteration.finished', IterationFinished>
  | Envelope<'run.status', Status>
  | Envelope<'message.started', MessageStarted>
  | Envelope<'message.delta', MessageDelta>
  | Envelope<'message.finished', MessageFinished>
  | Envelope<'tool.started', ToolStarted>
  | Envelope<'tool.progress', ToolProgress>
  | Envelope<'tool.finished', ToolFinished>
  | Envelope<'route.retrying', RouteRetrying>
  | Envelope<'route.switched', RouteSwitched>
  | Envelope<'run.notice', Notice>
  | Envelope<'clarification.asked', ClarificationAsked>
  | Envelope<'clarification.answered', ClarificationAnswered>
  | Envelope<'clarification.expired', ClarificationExpired>
  | Envelope<'clarification.dismissed', ClarificationDismissed>
  | Envelope<'approval.asked', ApprovalAsked>
  | Envelope<'approval.answered', ApprovalAnswered>
  | Envelope<'approval.dismissed', ApprovalDismissed>
  | Envelope<'agreement.asked', AgreementAsked>
  | Envelope<'agreement.answered', AgreementAnswered>
  | Envelope<'agreement.dismissed', AgreementDismissed>
  | Envelope<'agreement.changed', AgreementChanged>
  | Envelope<'browser.changed', BrowserChanged>
  | Envelope<'artifact.created', ArtifactCreated>
  | Envelope<'session.changed', SessionChanged>
  | Envelope<'session.deleted', SessionDeleted>
  | Envelope<'settings.changed', SettingsChanged>
