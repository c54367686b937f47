// Computes the contrast of every pair of roles that meet on screen, in both
// themes, from the tokens in app.css. A DOM test cannot see colours.
import { readFileSync } from 'node:fs'

const css = readFileSync(new URL('../src/app.css', import.meta.url), 'utf8')

function tokens(selector) {
  const from = css.indexOf(`${selector} {`)
  if (from < 0) throw new Error(`no ${selector} in app.css`)
  const body = css.slice(from, css.indexOf('}', from))
  return Object.fromEntries([...body.matchAll(/--([a-z-]+):\s*(#[0-9a-f]{6})/gi)].map((m) => [m[1], m[2]]))
}

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a, b) {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (hi + 0.05) / (lo + 0.05)
}

const grounds = ['bg', 'surface', 'sunken']
const pairs = [
  ...grounds.flatMap((g) => [
    ['text', g, 7],
    ['muted', g, 5.1],
    ['accent', g, 5.1],
    ['success', g, 5.1],
    ['warning', g, 5.1],
    ['danger', g, 5.1],
    ['control', g, 3.3],
  ]),
  ...['success', 'warning', 'danger', 'accent'].flatMap((r) => [
    [r, `${r}-soft`, 5.1],
    ['muted', `${r}-soft`, 5.1],
    ['text', `${r}-soft`, 7],
  ]),
  ['on-accent', 'accent', 5.1],
]

const bad = []
for (const [theme, selector] of [
  ['light', ':root'],
  ['dark', "[data-theme='dark']"],
]) {
  const t = tokens(selector)
  for (const [front, back, least] of pairs) {
    if (!t[front] || !t[back]) bad.push(`${theme}: --${t[front] ? back : front} is missing`)
    else if (contrast(t[front], t[back]) < least)
      bad.push(`${theme}: ${front} on ${back} is ${contrast(t[front], t[back]).toFixed(2)}, wanted ${least}`)
  }
}
for (const line of bad) console.error(line)
console.log(
  bad.length ? `contrast: ${bad.length} pairs too weak` : `contrast: ${pairs.length * 2} pairs hold`,
)
process.exit(bad.length ? 1 : 0)
