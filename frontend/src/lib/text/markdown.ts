import DOMPurify from 'dompurify'
import { Marked, type Token, type TokensList } from 'marked'
import remend from 'remend'
import { t } from '.'
import { escapeHTML, highlight } from './highlight'

// Markdown comes from models and web pages. Three walls: raw HTML is shown as
// the text it is and pictures become a word with their host; what is left goes
// through an allow-list; the page's policy loads nothing from outside.

/** The tags an answer can be made of. */
export const tags = [
  ...[
    'p',
    'br',
    'strong',
    'em',
    'del',
    'code',
    'pre',
    'blockquote',
    'ul',
    'ol',
    'li',
    'h3',
    'h4',
    'h5',
    'h6',
  ],
  ...['hr', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span'],
]

/** What turns the direction of text. In the words of a link it could only deceive. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g

const ourClass = /^(?:hljs-[a-z_-]+|[a-z]+_|md-picture)$/

/** A piece of an answer that is drawn on its own. */
export type Block = { key: number; raw: string } & (
  { kind: 'html'; html: string } | { kind: 'code'; code: string; language: string; html: string }
)

/** The address a link may lead to, or undefined: absolute http, https or mailto only. */
export function linkTarget(href: string): string | undefined {
  try {
    const u = new URL(href)
    return ['http:', 'https:', 'mailto:'].includes(u.protocol) ? u.href : undefined
  } catch {
    return undefined
  }
}

/**
 * The host that the words of a link name, when the link leads to another one. A
 * name without a scheme that is the file the address ends in is no host.
 */
export function otherHost(words: string, target: string): string | undefined {
  const named = /^\s*(https?:\/\/)?(?:[^\s/@]*@)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?=[\s:/?#]|$)/iu.exec(words)
  if (!named) return undefined
  const [, scheme, host = ''] = named
  const { hostname, pathname } = new URL(target)
  if (!scheme && pathname.endsWith(`/${host}`)) return undefined
  // A mail address has its host behind the @, not where a URL has it.
  const leads = hostname || pathname.slice(pathname.lastIndexOf('@') + 1)
  const bare = (name: string) => name.toLowerCase().replace(/^www\./, '')
  return bare(linkHost(host)) === bare(leads) ? undefined : host
}

/** A host as addresses write it: without letters of other scripts. */
function linkHost(named: string): string {
  try {
    return new URL(`https://${named}`).hostname
  } catch {
    return named
  }
}

/** Quotes nested past what anybody writes. Parsing them takes seconds, then fails. */
const tooDeep = /^(?: {0,3}>){64}/m

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text }) => escapeHTML(text),
    heading({ tokens, depth }) {
      const tag = `h${Math.min(6, depth + 2)}`
      return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens).replace(turning, '')
      const target = linkTarget(href)
      return target ? `<a href="${escapeHTML(target)}">${inner}</a>` : inner
    },
    image: ({ href, text }) => {
      const target = linkTarget(href)
      const host = target ? new URL(target).host : ''
      return `<span class="md-picture">${escapeHTML(t.link.picture(text, host))}</span>`
    },
    code: ({ text, lang }) => `<pre><code>${highlight(text, lang)}</code></pre>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
})

const purify = DOMPurify()
purify.addHook('uponSanitizeAttribute', (_, attribute) => {
  if (attribute.attrName === 'align' && !/^(left|center|right)$/.test(attribute.attrValue))
    attribute.keepAttr = false
  if (attribute.attrName === 'class')
    attribute.attrValue = attribute.attrValue
      .split(/\s+/)
      .filter((c) => ourClass.test(c))
      .join(' ')
})

/** Puts HTML through the allow-list. */
export function clean(html: string): string {
  return purify.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: ['href', 'class', 'start', 'align'],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    KEEP_CONTENT: true,
  })
}

/**
 * Draws a growing text block by block. While text only grows at its end, all
 * blocks but the last stay the same objects and are not drawn again.
 */
export class BlockCutter {
  private blocks: Block[] = []
  private stable = 0 // length of the text that the finished blocks cover
  private text = ''

  /** Takes the text as it is now. While streaming, open marks at its end are closed. */
  update(text: string, streaming: boolean): Block[] {
    if (!text.startsWith(this.text.slice(0, this.stable)) || !streaming) this.restart()
    this.text = text
    const tail = text.slice(this.stable)
    const kept = this.blocks.filter((b) => b.key < this.stable)
    let tokens: TokensList
    if (tooDeep.test(tail)) return (this.blocks = [...kept, plain(this.stable, tail)])
    try {
      tokens = marked.lexer(streaming ? remend(tail) : tail)
    } catch {
      // Nested past what the parser can follow: show it as it came.
      return (this.blocks = [...kept, plain(this.stable, tail)])
    }
    let at = this.stable
    const fresh: Block[] = []
    for (const token of tokens) {
      if (token.type !== 'space' && token.type !== 'def') fresh.push(draw(at, token, tokens))
      at += token.raw.length
    }
    const last = fresh.at(-1)
    if (streaming && last) this.stable = Math.min(last.key, text.length)
    return (this.blocks = [...kept, ...fresh])
  }

  private restart() {
    this.blocks = []
    this.stable = 0
  }
}

function draw(key: number, token: Token, list: TokensList): Block {
  const raw = token.raw
  try {
    if (token.type === 'code') {
      const { text, lang = '' } = token as { text: string; lang?: string }
      return {
        key,
        raw,
        kind: 'code',
        code: text,
        language: lang.split(/\s/, 1)[0]!,
        html: clean(highlight(text, lang)),
      }
    }
    const one = Object.assign([token], { links: list.links })
    return { key, raw, kind: 'html', html: clean(marked.parser(one)) }
  } catch {
    return plain(key, raw)
  }
}

function plain(key: number, raw: string): Block {
  return { key, raw, kind: 'html', html: `<p>${escapeHTML(raw)}</p>` }
}
