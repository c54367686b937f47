import {
  api,
  faultOf,
  type Fault,
  type LocalServer,
  type Preset,
  type Problem,
  type Provider,
  type ProviderSpec,
  type ProviderTest,
  type Settings,
} from '../api'

/** What a new home starts with; Reset leads back to it. */
export const defaults = {
  theme: 'system',
  zoom: 100,
  mode: 'ask',
  maxIterations: 100,
  workspace: '',
  browserPath: '',
  browserAttach: '',
  systemPrompt: '',
} as const

type Key = keyof typeof defaults

/** The settings and the providers, as the program behind the window keeps them. */
export class SettingsState {
  now = $state.raw<Settings>()
  providers = $state.raw<Provider[]>([])
  presets = $state.raw<Preset[]>([])
  servers = $state.raw<LocalServer[]>()
  /** What was wrong with the settings file at the start, until it is dismissed. */
  notices = $state.raw<Problem[]>([])
  loaded = $state(false)
  private saving = 0
  failure = $state.raw<Fault>()

  /** The provider new sessions use. */
  provider = $derived(this.providers.find((p) => p.isDefault) ?? this.providers[0])

  async load() {
    try {
      ;[this.now, this.providers, this.presets] = await Promise.all([
        api.settings(),
        api.providers(),
        api.presets(),
      ])
      if (!this.loaded) this.notices = await api.notices()
      this.failure = undefined
      this.loaded = true
    } catch (thrown) {
      this.failure = faultOf(thrown)
    }
  }

  /** Sets one setting and keeps it at once. When that is refused it springs back. */
  async set<K extends Key>(key: K, value: Settings[K]) {
    const before = this.now
    if (!before || before[key] === value) return
    this.now = { ...before, [key]: value }
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

  async saveProvider(spec: ProviderSpec): Promise<Provider> {
    const saved = await api.saveProvider(spec)
    this.providers = await api.providers()
    return saved
  }

  async removeProvider(id: string) {
    await api.removeProvider(id)
    this.providers = await api.providers()
  }

  testProvider = (spec: ProviderSpec): Promise<ProviderTest> => api.testProvider(spec)
  openFile = () => api.openSettingsFile()
  chooseFolder = () => api.chooseFolder()
  version = () => api.version()
}
