import * as bound from '../wailsjs/go/main/App'
import { faultOf } from './errors'
import type {
  Answer,
  KeySpec,
  LocalServer,
  Model,
  ModelInfo,
  Preset,
  Problem,
  Prompt,
  Provider,
  ProviderSpec,
  ProviderTest,
  Route,
  RouteSpec,
  Session,
  SessionChange,
  SessionQuery,
  SessionSpec,
  Settings,
  Snapshot,
  SnapshotQuery,
  Status,
  Undone,
  GrantInfo,
  UsageReport,
} from './types'

/** Runs a call; every refusal comes out as a Fault. */
async function ask<T>(call: () => Promise<unknown>): Promise<T> {
  try {
    return (await call()) as T
  } catch (thrown) {
    throw faultOf(thrown)
  }
}

/** An empty Go slice arrives as null. */
async function list<T>(call: () => Promise<unknown>): Promise<T[]> {
  return (await ask<T[] | null>(call)) ?? []
}

/** The generated parameter types are classes; plain objects are what is sent. */
type Sent<F extends (...args: never[]) => unknown, N extends number = 0> = Parameters<F>[N]

/** Everything the window may ask of the program behind it. */
export const api = {
  sessions: (q: SessionQuery) => list<Session>(() => bound.Sessions(q)),
  createSession: (spec: SessionSpec) =>
    ask<Session>(() => bound.CreateSession(spec as Sent<typeof bound.CreateSession>)),
  snapshot: async (id: string, q: SnapshotQuery): Promise<Snapshot> => {
    const s = await ask<Snapshot>(() => bound.Snapshot(id, q))
    return {
      ...s,
      messages: s.messages ?? [],
      runs: s.runs ?? [],
      notes: s.notes ?? [],
      agreed: s.agreed ?? [],
      open: s.open ?? [],
      waits: s.waits ?? [],
    }
  },
  changeSession: (id: string, change: SessionChange) => ask<Session>(() => bound.ChangeSession(id, change)),
  deleteSession: (id: string) => ask<void>(() => bound.DeleteSession(id)),
  restoreSession: (id: string) => ask<void>(() => bound.RestoreSession(id)),
  saveExport: (id: string, format: 'markdown' | 'json') => ask<string>(() => bound.SaveExport(id, format)),
  sendPrompt: (id: string, prompt: Prompt) => ask<string>(() => bound.SendPrompt(id, prompt)),
  startTour: () => ask<string>(() => bound.StartTour()),
  stop: (id: string) => ask<void>(() => bound.Stop(id)),
  removeQueued: (runID: string) => ask<void>(() => bound.RemoveQueued(runID)),
  continueRun: (runID: string) => ask<string>(() => bound.Continue(runID)),
  leave: (runID: string) => ask<void>(() => bound.Leave(runID)),
  undo: async (runID: string, callID: string): Promise<Undone> => {
    const u = await ask<Undone>(() => bound.Undo(runID, callID))
    return { ...u, files: u.files ?? [] }
  },
  status: (id: string) => ask<Status>(() => bound.Status(id)),
  answer: (waitID: string, answer: Answer) => ask<void>(() => bound.Answer(waitID, answer)),
  settings: () => ask<Settings>(() => bound.Settings()),
  saveSettings: (s: Settings) =>
    ask<Settings>(() => bound.SaveSettings(s as Sent<typeof bound.SaveSettings>)),
  notices: () => list<Problem>(() => bound.Notices()),
  presets: () => list<Preset>(() => bound.Presets()),
  providers: () => list<Provider>(() => bound.Providers()),
  saveProvider: (spec: ProviderSpec) =>
    ask<Provider>(() => bound.SaveProvider(spec as Sent<typeof bound.SaveProvider>)),
  removeProvider: (id: string) => ask<void>(() => bound.RemoveProvider(id)),
  testProvider: (spec: ProviderSpec) =>
    ask<ProviderTest>(() => bound.TestProvider(spec as Sent<typeof bound.TestProvider>)),
  saveKey: (spec: KeySpec) => ask<Provider>(() => bound.SaveKey(spec)),
  removeKey: (provider: string, key: string) => ask<Provider>(() => bound.RemoveKey(provider, key)),
  models: (provider: string) => list<ModelInfo>(() => bound.Models(provider)),
  saveModel: (provider: string, m: Model) => ask<Provider>(() => bound.SaveModel(provider, m)),
  routes: () => list<Route>(() => bound.Routes()),
  saveRoute: (spec: RouteSpec) => ask<Route>(() => bound.SaveRoute(spec as Sent<typeof bound.SaveRoute>)),
  removeRoute: (id: string) => ask<void>(() => bound.RemoveRoute(id)),
  grants: () => list<GrantInfo>(() => bound.Grants()),
  revokeAgreed: (runID: string, line: string) => ask<void>(() => bound.RevokeAgreed(runID, line)),
  revoke: (id: string) => ask<void>(() => bound.Revoke(id)),
  usage: (days: number) => ask<UsageReport>(() => bound.Usage(days)),
  localServers: () => list<LocalServer>(() => bound.LocalServers()),
  showBrowser: (id: string) => ask<void>(() => bound.ShowBrowser(id)),
  version: () => ask<string>(() => bound.Version()),
  machine: () => ask<string>(() => bound.Machine()),
  setTheme: (theme: string) => ask<void>(() => bound.SetTheme(theme)),
  chooseFolder: () => ask<string>(() => bound.ChooseFolder()),
  openFolder: (id: string) => ask<void>(() => bound.OpenFolder(id)),
  openSettingsFile: () => ask<void>(() => bound.OpenSettingsFile()),
  openExternal: (address: string) => ask<void>(() => bound.OpenExternal(address)),
}

/** Where the bytes of a blob are. */
export function blobURL(key: string): string {
  return `/blob/${encodeURIComponent(key)}`
}
