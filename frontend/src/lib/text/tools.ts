import { t } from '.'

/** The kinds of tools, each with an icon. */
export type ToolKind =
  | 'page'
  | 'read'
  | 'click'
  | 'type'
  | 'picture'
  | 'write'
  | 'file'
  | 'shell'
  | 'web'
  | 'plan'
  | 'ask'
  | 'other'

const kinds: [RegExp, ToolKind][] = [
  [/^browser_(snapshot|read|find|extract|console|network|wait|downloads)$/, 'read'],
  [/^browser_(click|click_at|hover|drag|select|select_text|dialog|scroll)$/, 'click'],
  [/^browser_(type|fill|press|upload)$/, 'type'],
  [/^browser_(screenshot|pdf)$/, 'picture'],
  [/^browser_eval$/, 'shell'],
  [/^browser_/, 'page'],
  [/^fs_(write|edit|delete|mkdir)$/, 'write'],
  [/^fs_/, 'file'],
  [/^shell_/, 'shell'],
  [/^web_/, 'web'],
  [/^todo_/, 'plan'],
  [/^(ask|propose)_/, 'ask'],
]

/** The kind of a tool by its name. */
export function toolKind(name: string): ToolKind {
  return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}

/** The verb of a tool: -ing while it runs, past tense after. Unknown tools are named. */
export function toolVerb(name: string, running: boolean): string {
  return (t.tool.sentence[name] ?? t.tool.other)[running ? 0 : 1]
}

/** Tools whose verb already says all: what they look at is the page. */
const whole = new Set([
  'browser_snapshot',
  'browser_read',
  'browser_extract',
  'browser_screenshot',
  'browser_eval',
])

/**
 * The object of a call in a few words: its title, else the name its result
 * quotes for a ref, else what its arguments name.
 */
export function toolObject(name: string, args: unknown, title?: string, result = ''): string {
  if (title) return title === '.' ? t.tool.workspace : title
  const a = typeof args === 'object' && args !== null ? (args as Record<string, unknown>) : {}
  const pick = [
    'url',
    'path',
    'command',
    'text',
    'pattern',
    'key',
    'query',
    'question',
    'title',
    'goal',
    'ref',
  ]
  if (name === 'browser_type' || name === 'browser_fill') pick.splice(pick.indexOf('text'), 1)
  if (typeof a.ref === 'string') {
    const quoted = /"([^"\n]{1,80})"/.exec(result.split('\n', 1)[0]!)?.[1]
    if (quoted) return quoted
  }
  if (whole.has(name)) return ''
  if (Array.isArray(a.fields)) return t.tool.fields(a.fields.length)
  const found = pick.map((k) => a[k]).find((v) => typeof v === 'string' && v !== '') as string | undefined
  if (found === '.') return t.tool.workspace
  if (!found) return t.tool.sentence[name] ? '' : name
  const object = 'url' in a && found === a.url ? host(found) : found
  return object.split('\n', 1)[0]!.slice(0, 160)
}

/** The whole sentence, for those who listen instead of look. */
export function toolSentence(name: string, args: unknown, running: boolean, title?: string): string {
  return `${toolVerb(name, running)} ${toolObject(name, args, title)}`.trim()
}

/** Host and path of an address; anything else stays as it is. */
export function host(address: string): string {
  try {
    const u = new URL(address)
    return u.host + (u.pathname === '/' ? '' : u.pathname)
  } catch {
    return address
  }
}
