import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

const languages = { bash, css, diff, go, javascript, json, python, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)
hljs.registerAliases(['sh', 'shell', 'zsh'], { languageName: 'bash' })

/** Past this size colours cost more than they give. */
const longest = 50_000

/**
 * Returns code as HTML: escaped, with spans of hljs classes where the language
 * is known. The output holds no other tag.
 */
export function highlight(code: string, language = ''): string {
  const name = language.trim().split(/\s/, 1)[0]!.toLowerCase()
  if (code.length > longest || !hljs.getLanguage(name)) return escapeHTML(code)
  return hljs.highlight(code, { language: name, ignoreIllegals: true }).value
}

/** Text as HTML that shows exactly that text. */
export function escapeHTML(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}
