import { createContext } from 'svelte'
import { api, subscribe, type AppEvent } from '../api'
import { t } from '../text'
import { toolSentence } from '../text/tools'
import { Layout } from './layout.svelte'
import { SessionView } from './session.svelte'
import { SessionList } from './sessions.svelte'
import { SettingsState } from './settings.svelte'

/** The pages of the settings. */
export type SettingsPage = 'general' | 'providers' | 'routes' | 'usage' | 'permissions' | 'browser' | 'about'

/** Coarse steps for those who listen are told at most this often. */
const quiet = 3000

/** The whole window: what is shown, and the one place where events come in. */
export class AppState {
  readonly sessions = new SessionList()
  readonly settings = new SettingsState()
  readonly layout = new Layout()
  view = $state.raw<SessionView>()
  settingsPage = $state<SettingsPage>()
  /** What the polite region says. */
  spoken = $state('')
  /** The mode the next new session starts with, when it was chosen beside Send. */
  newMode = $state<string>()
  /** Grows when the composer should take the focus. */
  focusPrompt = $state(0)
  /** Grows with every prompt that was sent from here. */
  sent = $state(0)
  /** Text the composer should start with. */
  suggestion = $state.raw<{ text: string }>()

  private spokenAt = 0
  private end = () => {}

  /** The mode that holds for the next prompt. */
  mode = $derived(this.view?.facts?.mode || this.newMode || this.settings.now?.mode || 'ask')

  /** Subscribes first, then loads, so that nothing falls between the two. */
  async start() {
    this.end = subscribe(this.apply, this.missed)
    await Promise.all([this.sessions.load(), this.settings.load()])
    this.focusPrompt++
  }

  stop() {
    this.end()
    this.view?.close()
  }

  apply = (e: AppEvent) => {
    this.sessions.apply(e)
    if (e.type === 'settings.changed') void this.settings.changed()
    if (e.type === 'session.deleted' && e.data.id === this.view?.id) this.startNew()
    this.view?.apply(e)
    if (e.sessionId === this.view?.id) this.speak(e)
    if (e.type === 'session.changed') this.markSeen()
  }

  /** What the person looks at counts as opened. */
  markSeen = () => {
    const facts = this.view?.facts
    if (!facts || facts.seen || this.settingsPage || !document.hasFocus()) return
    if (!['completed', 'failed', 'cancelled', 'interrupted'].includes(facts.state)) return
    void api.changeSession(facts.id, { seen: true }).catch(() => {})
  }

  private missed = () => {
    void this.sessions.load()
    void this.settings.load()
    this.view?.missed()
  }

  /** Shows a session. */
  async open(id: string) {
    this.settingsPage = undefined
    if (this.view?.id === id) return
    this.view?.close()
    const view = new SessionView(id)
    this.view = view
    await view.load()
    this.focusPrompt++
    if (view === this.view) this.markSeen()
  }

  /** Shows the page of a session that is not made yet. */
  startNew = () => {
    this.settingsPage = undefined
    this.view?.close()
    this.view = undefined
    this.newMode = undefined
    this.focusPrompt++
  }

  /** Sends a prompt to the session that is shown, or to a new one: the tour's script answers nothing else. */
  async send(text: string) {
    let id = this.view?.facts?.tour ? undefined : this.view?.id
    if (!id) {
      const session = await api.createSession(this.newMode ? { mode: this.newMode } : {})
      this.sessions.add(session)
      id = session.id
      await this.open(id)
    }
    await api.sendPrompt(id, { text })
    this.sent++
  }

  async startTour() {
    const id = await api.startTour()
    await this.sessions.load()
    await this.open(id)
  }

  async setMode(mode: string) {
    if (!this.view) {
      this.newMode = mode
      return
    }
    this.view.facts = await api.changeSession(this.view.id, { mode })
  }

  /** Gives the session that is shown another model. */
  async setProvider(provider: string) {
    if (this.view) this.view.facts = await api.changeSession(this.view.id, { provider, model: '' })
  }

  exportSession = (id: string, format: 'markdown' | 'json') => api.saveExport(id, format)
  setWindowTheme = (theme: string) => api.setTheme(theme)
  openExternal = (address: string) => api.openExternal(address)

  /** Ends and needs are told at once, steps now and then. */
  private speak(e: AppEvent) {
    const at = Date.now()
    switch (e.type) {
      case 'run.finished':
        this.spoken =
          e.data.state === 'completed'
            ? t.announce.ready
            : e.data.state === 'failed'
              ? t.announce.failed
              : t.announce.stopped
        break
      case 'tool.started':
        if (at - this.spokenAt < quiet) return
        this.spoken = `${t.announce.working} ${toolSentence(e.data.call.name, e.data.call.arguments, true, e.data.title)}`
        break
      case 'run.started':
        this.spoken = t.announce.working
        break
      case 'route.switched':
      case 'route.retrying':
      case 'run.notice': {
        const note = this.view?.runs.find((r) => r.id === e.runId)?.entries.at(-1)
        if (note?.kind !== 'note') return
        this.spoken = note.text
        break
      }
      default:
        return
    }
    this.spokenAt = at
  }
}

export const [useApp, provideApp] = createContext<AppState>()
