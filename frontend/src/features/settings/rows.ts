import type { Key } from '../../lib/state/settings.svelte'
import type { SettingsPage } from '../../lib/state/app.svelte'
import { t } from '../../lib/text'

interface Base {
  key: Key
  page: SettingsPage
  name: string
  about: string
}

/** One setting: name, one sentence, and the kind of its control. */
export type SettingRow = Base &
  (
    | { kind: 'choice'; options: { value: string; label: string }[]; careful?: string }
    | { kind: 'number'; min: number; max: number }
    | { kind: 'zoom' | 'amount' }
    | { kind: 'folder' | 'line' | 'text'; placeholder: string }
  )

const s = t.settings

/** Every setting, in the order of its page. The search looks through them all. */
export const rows: SettingRow[] = [
  {
    key: 'theme',
    page: 'general',
    name: s.theme,
    about: s.themeAbout,
    kind: 'choice',
    options: Object.entries(s.themes).map(([value, label]) => ({ value, label })),
  },
  { key: 'zoom', page: 'general', name: s.zoom, about: s.zoomAbout, kind: 'zoom' },
  {
    key: 'mode',
    page: 'general',
    name: s.mode,
    about: s.modeAbout,
    kind: 'choice',
    options: [
      { value: 'plan', label: t.composer.plan },
      { value: 'ask', label: t.composer.ask },
      { value: 'auto', label: t.composer.auto },
      { value: 'full', label: t.composer.full },
    ],
    careful: 'full',
  },
  {
    key: 'maxIterations',
    page: 'general',
    name: s.maxIterations,
    about: s.maxIterationsAbout,
    kind: 'number',
    min: 1,
    max: 1000,
  },
  {
    key: 'workspace',
    page: 'general',
    name: s.workspace,
    about: s.workspaceAbout,
    kind: 'folder',
    placeholder: s.workspaceDefault,
  },
  {
    key: 'titles',
    page: 'general',
    name: s.titles,
    about: s.titlesAbout,
    kind: 'choice',
    options: Object.entries(s.titleKinds).map(([value, label]) => ({ value, label })),
  },
  {
    key: 'systemPrompt',
    page: 'general',
    name: s.systemPrompt,
    about: s.systemPromptAbout,
    kind: 'text',
    placeholder: s.systemPromptEmpty,
  },
  {
    key: 'network.proxy',
    page: 'providers',
    name: s.proxy,
    about: s.proxyAbout,
    kind: 'line',
    placeholder: s.proxyEmpty,
  },
  {
    key: 'network.caFile',
    page: 'providers',
    name: s.caFile,
    about: s.caFileAbout,
    kind: 'line',
    placeholder: s.caFileEmpty,
  },
  { key: 'budget.run', page: 'usage', name: s.budgetRun, about: s.budgetRunAbout, kind: 'amount' },
  { key: 'budget.day', page: 'usage', name: s.budgetDay, about: s.budgetDayAbout, kind: 'amount' },
  {
    key: 'browserPath',
    page: 'browser',
    name: s.browserPath,
    about: s.browserPathAbout,
    kind: 'line',
    placeholder: s.browserPathEmpty,
  },
  {
    key: 'browserAttach',
    page: 'browser',
    name: s.browserAttach,
    about: s.browserAttachAbout,
    kind: 'line',
    placeholder: s.browserAttachEmpty,
  },
  {
    key: 'browserFilter',
    page: 'browser',
    name: s.browserFilter,
    about: s.browserFilterAbout,
    kind: 'choice',
    options: Object.entries(s.switches).map(([value, label]) => ({ value, label })),
  },
]

/** The settings whose name, sentence or page holds every word of a query. */
export function find(query: string): SettingRow[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return rows.filter((r) => {
    const text = `${r.name} ${r.about} ${s.pages[r.page]}`.toLowerCase()
    return words.every((w) => text.includes(w))
  })
}
