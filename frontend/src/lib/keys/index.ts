import { t } from '../text'

/** Everything a key can do. */
export type Command =
  | 'new-session'
  | 'search'
  | 'sidebar'
  | 'side-panel'
  | 'settings'
  | 'stop'
  | 'extend'
  | 'next-region'
  | 'zoom-in'
  | 'zoom-out'
  | 'zoom-reset'

interface Binding {
  command: Command
  /** Parts joined by +; Mod is Cmd on macOS and Ctrl elsewhere. */
  keys: string[]
  label: () => string
}

/** The one list of commands with their keys. */
export const bindings: Binding[] = [
  { command: 'new-session', keys: ['Mod+N'], label: () => t.sidebar.newSession },
  { command: 'search', keys: ['Mod+Shift+F'], label: () => t.sidebar.search },
  { command: 'sidebar', keys: ['Mod+B'], label: () => t.shell.sidebar },
  { command: 'side-panel', keys: ['Mod+J'], label: () => t.shell.sidePanel },
  { command: 'settings', keys: ['Mod+,'], label: () => t.settings.title },
  { command: 'stop', keys: ['Mod+.'], label: () => t.run.stop },
  { command: 'extend', keys: ['Mod+Shift+A'], label: () => t.needs.extend },
  { command: 'next-region', keys: ['F6'], label: () => t.shell.nextRegion },
  { command: 'zoom-in', keys: ['Mod++', 'Mod+='], label: () => t.settings.zoomIn },
  { command: 'zoom-out', keys: ['Mod+-'], label: () => t.settings.zoomOut },
  { command: 'zoom-reset', keys: ['Mod+0'], label: () => t.settings.zoomReset },
]

const mac = typeof navigator !== 'undefined' && /mac/i.test(navigator.platform)

/** The command a key press asks for. Nothing fires while an input method composes. */
export function commandOf(e: KeyboardEvent): Command | undefined {
  if (composing(e)) return undefined
  return bindings.find((b) => b.keys.some((k) => matches(k, e)))?.command
}

/** Whether a key press belongs to an input method and not to us. */
export function composing(e: KeyboardEvent): boolean {
  // 229 is what web views send for keys an input method has taken.
  return e.isComposing || e.keyCode === 229
}

/** The parts of a binding, its key last; the key may be + itself. */
function partsOf(keys: string): string[] {
  return keys.endsWith('++') ? [...keys.slice(0, -2).split('+'), '+'] : keys.split('+')
}

function matches(keys: string, e: KeyboardEvent): boolean {
  const parts = partsOf(keys)
  const key = parts.pop()!
  const mod = mac ? e.metaKey : e.ctrlKey
  const other = mac ? e.ctrlKey : e.metaKey
  return (
    e.key.toLowerCase() === key.toLowerCase() &&
    mod === parts.includes('Mod') &&
    !other &&
    // Which key + sits on, and whether it needs Shift, differs by layout.
    (key === '+' || key === '=' || e.shiftKey === parts.includes('Shift')) &&
    e.altKey === parts.includes('Alt')
  )
}

/** How the keys of a command are written on this machine. */
export function keysOf(command: Command): string {
  const keys = bindings.find((b) => b.command === command)?.keys[0] ?? ''
  return partsOf(keys)
    .map((k) => (k === 'Mod' ? (mac ? '⌘' : 'Ctrl') : k === 'Shift' && mac ? '⇧' : k))
    .join(mac ? '' : ' ')
}

/** The command's keys in the form assistive technology reads. */
export function ariaKeys(command: Command): string {
  const keys = bindings.find((b) => b.command === command)?.keys[0] ?? ''
  return keys.replace('Mod', mac ? 'Meta' : 'Control')
}
