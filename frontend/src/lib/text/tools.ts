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
  [/^ask_/, 'ask'],
]

/** The kind of a tool by its name. */
export function toolKind(name: string): ToolKind {
  return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}

/** The verb of a tool: -ing while it runs, past tense after. Unknown tools are named. */
export function toolVerb(name: string, running: boolean): string {
  return (t.tool.sentence[name] ?? t.tool.other)[running ? 0 : 1]
}

/** The object of a call in a few words: its title, else what its arguments name. */
export function toolObject(name: string, args: unknown, title?: string): string {
  if (title) return title
  const a = typeof args === 'object' && args !== null ? (args as Record<string, unknown>) : {}
  const pick = ['url', 'path', 'command', 'text', 'pattern', 'key', 'query', 'question', 'title', 'ref']
  if (name === 'browser_type' || name === 'browser_fill') pick.splice(pick.indexOf('text'), 1)
  const found = pick.map((k) => a[k]).find((v) => typeof v === 'string' && v !== '') as string | undefined
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
