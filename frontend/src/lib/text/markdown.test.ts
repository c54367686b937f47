import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BlockCutter, linkTarget, tags } from './markdown'

interface Payload {
  id: string
  markdown: string
}
const file = readFileSync('src/testing/markdown-payloads.json', 'utf8')
const payloads = (JSON.parse(file) as { payloads: Payload[] }).payloads.map((p) => ({
  ...p,
  markdown: p.markdown.replaceAll('${SINK}', 'https://sink.example'),
}))

function render(text: string, streaming = false, cutter = new BlockCutter()): HTMLElement {
  const root = document.createElement('div')
  root.innerHTML = cutter
    .update(text, streaming)
    .map((b) => (b.kind === 'code' ? `<pre><code>${b.html}</code></pre>` : b.html))
    .join('')
  return root
}

/** Everything in a tree that the allow-list does not know. */
function strange(root: HTMLElement): string[] {
  return [...root.querySelectorAll('*')].flatMap((e) => {
    const name = e.tagName.toLowerCase()
    const bad = tags.includes(name) ? [] : [`<${name}>`]
    for (const a of e.attributes) {
      const fine =
        (a.name === 'href' && name === 'a' && linkTarget(a.value) !== undefined) ||
        (a.name === 'class' && /^(hljs-|md-picture|[a-z]+_|\s)*/.test(a.value)) ||
        (a.name === 'start' && name === 'ol')
      if (!fine) bad.push(`${name}[${a.name}=${a.value}]`)
    }
    return bad
  })
}

describe('markdown', () => {
  it('is made of 24 tags at most', () => expect(tags.length).toBeLessThanOrEqual(24))

  it.each(payloads)('$id leaves nothing that runs, loads or leads away', ({ markdown }) => {
    expect(strange(render(markdown))).toEqual([])
  })

  it.each(payloads)('$id leaves nothing either when it comes letter by letter', ({ markdown }) => {
    const cutter = new BlockCutter()
    for (let n = 1; n <= markdown.length; n++)
      expect(strange(render(markdown.slice(0, n), true, cutter))).toEqual([])
    expect(strange(render(markdown, false, cutter))).toEqual([])
  })

  it('shows raw HTML as the text it is', () => {
    expect(render('a <b onclick="x()">bold</b>').textContent).toContain('<b onclick="x()">bold</b>')
  })

  it('says where a picture would come from and does not load it', () => {
    const root = render('![a cat](https://pics.example/cat.png?secret=1)')
    expect(root.querySelector('img')).toBeNull()
    expect(root.textContent?.trim()).toBe('Picture: a cat from pics.example, not loaded')
  })

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'wails://wails',
    '/settings',
    '//evil.example',
    'x:y',
  ])('makes no link of %s', (href) => {
    const root = render(`[text](${href})`)
    expect(root.querySelector('a')).toBeNull()
    expect(root.textContent?.trim()).toBe('text')
  })

  it('links web and mail', () => {
    const links = [...render('[a](https://a.example/x) [m](mailto:a@b.example)').querySelectorAll('a')]
    expect(links.map((a) => a.getAttribute('href'))).toEqual(['https://a.example/x', 'mailto:a@b.example'])
  })

  it('survives nesting past what the parser can follow', () => {
    expect(render('>'.repeat(6000) + ' deep').textContent).toContain('deep')
  })

  it('draws only the last block again while text grows', () => {
    const cutter = new BlockCutter()
    const text = '# One\n\nTwo is here.\n\n- three\n- four\n\nFive'
    const first = cutter.update(text, true)
    const second = cutter.update(`${text} and **six`, true)
    expect(second.slice(0, -1).every((b, i) => b === first[i])).toBe(true)
    expect(second.at(-1)).toMatchObject({ kind: 'html', html: '<p>Five and <strong>six</strong></p>\n' })
    expect(
      cutter
        .update(`${text} and **six** more`, false)
        .map((b) => b.raw)
        .join(''),
    ).toContain('six** more')
  })

  it('reads the same whole as letter by letter', () => {
    const text =
      '# Head\n\nA *b* `c`.\n\n1. one\n2. two\n\n   more\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```go\nfunc main() {}\n```\n\nEnd.'
    const cutter = new BlockCutter()
    for (let n = 1; n <= text.length; n++) cutter.update(text.slice(0, n), true)
    const html = (c: BlockCutter, streaming: boolean) => c.update(text, streaming).map((b) => b.html)
    expect(html(cutter, true)).toEqual(html(new BlockCutter(), false))
  })

  it('colours code and keeps it exactly', () => {
    const block = new BlockCutter().update('```go\nfunc a() { b("<x>") }\n```', false)[0]!
    expect(block).toMatchObject({ kind: 'code', language: 'go', code: 'func a() { b("<x>") }' })
    expect(block.html).toContain('hljs-keyword')
    const pre = document.createElement('pre')
    pre.innerHTML = block.html
    expect(pre.textContent).toBe('func a() { b("<x>") }')
  })

  it('starts over when the text is another', () => {
    const cutter = new BlockCutter()
    cutter.update('One.\n\nTwo.', true)
    expect(cutter.update('Other.\n\nText.', true).map((b) => b.html)).toEqual([
      '<p>Other.</p>\n',
      '<p>Text.</p>\n',
    ])
  })
})
