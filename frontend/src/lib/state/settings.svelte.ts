import {
  api,
  faultOf,
  type Fault,
  type GrantInfo,
  type KeySpec,
  type LocalServer,
  type Model,
  type ModelInfo,
  type Preset,
  type Problem,
  type Provider,
  type ProviderSpec,
  type ProviderTest,
  type Route,
  type RouteSpec,
  type Settings,
  type UsageReport,
} from '../api'

/** What a new home starts with; Reset leads back to it. */
export const defaults = {
  theme: 'system',
  zoom: 100,
  mode: 'ask',
  computer: '',
  maxIterations: 100,
  workspace: '',
  browserPath: '',
  browserAttach: '',
  browserFilter: 'on',
  systemPrompt: '',
  titles: 'model',
  'budget.run': 0,
  'budget.day': 0,
  'network.proxy': '',
  'network.caFile': '',
} as const

/** A setting, those of a group as group.name. */
export type Key = keyof typeof defaults
export type Value = string | number

/** Reads a setting; what is not set is at its default. */
export function valueOf(s: Settings | undefined, key: Key): Value {
  const found = key
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], s)
  return (found as Value | undefined) ?? defaults[key]
}

/** The settings with one of them changed. */
function withValue(s: Settings, key: Key, value: Value): Settings {
  const [name, part] = key.split('.') as [keyof Settings, string?]
  return { ...s, [name]: part ? { ...(s[name] as object), [part]: value } : value }
}

/** The settings and the providers, as the program behind the window keeps them. */
export class SettingsState {
  now = $state.raw<Settings>()
  providers = $state.raw<Provider[]>([])
  presets = $state.raw<Preset[]>([])
  routes = $state.raw<Route[]>([])
  servers = $state.raw<LocalServer[]>()
  /** What was wrong with the settings file at the start, until it is dismissed. */
  notices = $state.raw<Problem[]>([])
  loaded = $state(false)
  private saving = 0
  failure = $state.raw<Fault>()

  /** The route new sessions use, when they use one. */
  route = $derived(this.routes.find((r) => r.isDefault))
  /** The provider new sessions use when they use no route. */
  provider = $derived(this.providers.find((p) => p.isDefault) ?? this.providers[0])

  async load() {
    try {
      ;[this.now, this.providers, this.presets, this.routes] = await Promise.all([
        api.settings(),
        api.providers(),
        api.presets(),
        api.routes(),
      ])
      if (!this.loaded) this.notices = await api.notices()
      this.failure = undefined
      this.loaded = true
    } catch (thrown) {
      this.failure = faultOf(thrown)
    }
  }

  /** Sets one setting and keeps it at once. When that is refused it springs back. */
  async set(key: Key, value: Value) {
    const before = this.now
    if (!before || valueOf(before, key) === value) return
    this.now = withValue(before, key, value)
    this.saving++
    try {
      const kept = await api.saveSettings(this.now)
      // A change made meanwhile is on its way too, and says the last word.
      if (this.saving === 1) this.now = kept
    } catch (thrown) {
      this.now = before
      throw thrown
    } finally {
      this.saving--
    }
  }

  /** Somebody wrote the settings: loads them, unless it was this window just now. */
  async changed() {
    if (this.saving === 0) await this.load()
  }

  /** The person has read what was wrong with the file. */
  dismiss = () => (this.notices = [])

  /** Looks for model servers on this machine. */
  async look() {
    try {
      this.servers = await api.localServers()
    } catch {
      this.servers = []
    }
  }

  private async reload() {
    ;[this.providers, this.routes] = await Promise.all([api.providers(), api.routes()])
  }

  /** Does something to the providers or the routes, and shows them as they then are. */
  private async doing<T>(what: Promise<T>): Promise<T> {
    const out = await what
    await this.reload()
    return out
  }

  saveProvider = (spec: ProviderSpec) => this.doing(api.saveProvider(spec))
  removeProvider = (id: string) => this.doing(api.removeProvider(id))
  saveKey = (spec: KeySpec) => this.doing(api.saveKey(spec))
  removeKey = (provider: string, key: string) => this.doing(api.removeKey(provider, key))
  saveRoute = (spec: RouteSpec) => this.doing(api.saveRoute(spec))
  removeRoute = (id: string) => this.doing(api.removeRoute(id))
  saveModel = (provider: string, m: Model) => this.doing(api.saveModel(provider, m))

  /** Has new sessions use a provider, or a route. */
  async useForNew(id: string) {
    const route = this.routes.find((r) => r.id === id)
    if (route) {
      await this.saveRoute({ id, name: route.name, legs: route.legs, default: true })
      return
    }
    // A route would go before it.
    const old = this.route
    if (old) await api.saveRoute({ id: old.id, name: old.name, legs: old.legs, notDefault: true })
    await this.saveProvider({ id, default: true })
  }

  models = (provider: string): Promise<ModelInfo[]> => api.models(provider)
  usage = (days: number): Promise<UsageReport> => api.usage(days)
  /** Lists what was allowed for sessions. */
  grants = (): Promise<GrantInfo[]> => api.grants()
  /** Takes back what was allowed. */
  revoke = (id: string): Promise<void> => api.revoke(id)
  testProvider = (spec: ProviderSpec): Promise<ProviderTest> => api.testProvider(spec)
  openFile = () => api.openSettingsFile()
  chooseFolder = () => api.chooseFolder()
  version = () => api.version()
  machine = () => api.machine()
}
