import { readFileSync } from 'node:fs'
import { tags } from '../lib/text/markdown'

export interface Hostile {
  id: string
  cls: string
  markdown: string
}

const read = (name: string) =>
  (JSON.parse(readFileSync(`src/testing/${name}.json`, 'utf8')) as { payloads: Hostile[] }).payloads

/** Texts that try to run, load, cover or lead away; the real window is fed the same. */
export const hostile: Hostile[] = [...read('markdown-payloads'), ...read('markdown-kinds')].map((p) => ({
  ...p,
  markdown: p.markdown.replaceAll('${SINK}', 'https://sink.example'),
}))

/** Texts that are too much for a parser, with words that must still be there. */
export const heavy: (Hostile & { words: string })[] = [
  { id: 'h-quotes', cls: 'nesting', markdown: `${'>'.repeat(3000)} deep`, words: `${'>'.repeat(3000)} deep` },
  { id: 'h-lists', cls: 'nesting', markdown: `${'- '.repeat(2000)}deep`, words: 'deep' },
  { id: 'h-marks', cls: 'nesting', markdown: `${'*a **b '.repeat(700)}deep`, words: 'deep' },
  { id: 'h-brackets', cls: 'nesting', markdown: `${'['.repeat(3000)}deep`, words: 'deep' },
  {
    id: 'h-table',
    cls: 'table',
    markdown: `| a | b |\n| - | - |\n${'| <img src=https://sink.example/h> | 2 |\n'.repeat(400)}| last | 2 |`,
    words: 'last',
  },
]

/** What nothing that came from outside may carry, whatever it is an attribute of. */
const loads =
  /^(?:on.*|src|srcset|srcdoc|style|action|formaction|poster|background|data|ping|target|manifest|xlink:href|id|name|http-equiv|form)$/i

/**
 * Everything in drawn Markdown that the allow-list does not know. The frame
 * around it is the window's own: code blocks with their button to copy.
 */
export function strange(root: Element): string[] {
  return [...root.querySelectorAll('*')].flatMap((e) => {
    const name = e.tagName.toLowerCase()
    const drawn = e.parentElement?.closest('.md .md, code') && root.contains(e.parentElement)
    if (!drawn) {
      const frame = ['div', 'pre', 'code', 'span', 'button', 'svg', 'path', 'rect', 'polyline', 'line']
      return frame.includes(name) ? [] : [`<${name}> in the frame`]
    }
    const bad = tags.includes(name) ? [] : [`<${name}>`]
    for (const a of e.attributes) {
      const fine =
        !loads.test(a.name) &&
        ((a.name === 'href' && name === 'a' && /^(?:https?:\/\/|mailto:)/.test(a.value)) ||
          (a.name === 'class' && /^(?:hljs-[a-z_-]+|[a-z]+_|md-picture|\s)*$/.test(a.value)) ||
          (a.name === 'start' && name === 'ol' && /^\d+$/.test(a.value)) ||
          (a.name === 'align' && /^(?:left|center|right)$/.test(a.value)))
      if (!fine) bad.push(`${name}[${a.name}=${a.value}]`)
    }
    return bad
  })
}
