import { describe, expect, it } from 'vitest'
import {
  bytes,
  clause,
  clock,
  count,
  dayGroup,
  duration,
  longDuration,
  money,
  price,
  tokens,
  unfenced,
  visible,
  when,
} from '.'
import { parseDiff, replaced, tally } from './diff'
import { host, toolObject, toolSentence } from './tools'

const text = (s: string) =>
  visible(s)
    .map((p) => (p.escape ? `<${p.text}>` : p.text))
    .join('')

describe('numbers', () => {
  it.each([
    [0, '$0.00'],
    [0.002, 'under $0.01'],
    [0.034, '$0.03'],
    [12.5, '$12.50'],
  ])('%d dollars are %s', (n, want) => expect(money(n)).toBe(want))
  it.each([
    [3, '$3.00'],
    [0.25, '$0.25'],
    [0.075, '$0.075'],
  ])('a price of %d is %s', (n, want) => expect(price(n)).toBe(want))
  it.each([
    ['128k', 128_000],
    ['1.5 M', 1_500_000],
    ['200,000', 200_000],
    ['4096', 4096],
    ['many', undefined],
    ['-1', undefined],
    ['', undefined],
  ])('who types %j means %s tokens', (raw, want) => expect(tokens(raw)).toBe(want))
  it.each([
    ['The model is busy.', 'the model is busy'],
    ['Tern did not accept the key.', 'Tern did not accept the key'],
    ['There is no such model: "x".', 'there is no such model: "x"'],
  ])('%j ends a sentence as %j', (s, want) => expect(clause(s)).toBe(want))
  it.each([
    [950, '950'],
    [1000, '1k'],
    [12_400, '12.4k'],
    [140_400, '140k'],
    [999_999, '1M'],
  ])('%d tokens are %s', (n, want) => expect(count(n)).toBe(want))
  it.each([
    [118, '118 B'],
    [2048, '2 KB'],
    [5_400_000, '5.1 MB'],
  ])('%d bytes are %s', (n, want) => expect(bytes(n)).toBe(want))
  it.each([
    [31, '31 ms'],
    [410, '0.4 s'],
    [9_949, '9.9 s'],
    [12_300, '12 s'],
    [124_000, '2 min 04 s'],
    [3_723_000, '1 h 02 min'],
  ])('%d ms are %s', (ms, want) => expect(duration(ms)).toBe(want))
  it('never counts backwards', () => expect(longDuration(-500)).toBe('0 s'))
})

describe('times', () => {
  const now = new Date(2026, 10, 30, 14, 2).getTime()
  const at = (d: number, h = 9) => new Date(2026, 10, d, h, 5).getTime()
  it('are grouped by calendar day', () => {
    expect([at(30), at(29, 23), at(24), at(5), at(-60)].map((t) => dayGroup(t, now))).toEqual([
      'Today',
      'Yesterday',
      'Last week',
      'Last month',
      'Earlier',
    ])
  })
  it('are as short as their group allows', () => {
    expect([at(30), at(25), at(2)].map((t) => when(t, now))).toEqual(['09:05', 'Wed', 'Nov 2'])
    expect(clock(at(29, 18), now)).toBe('Yesterday 18:05')
  })
})

describe('what cannot be seen', () => {
  it('is shown as its number', () => {
    expect(text('rm \u202egnp.exe')).toBe('rm <U+202E>gnp.exe')
    expect(text('a\u200bb\u0007c\u00add')).toBe('a<U+200B>b<U+0007>c<U+00AD>d')
    expect(text('tag \u{e0041}')).toBe('tag <U+E0041>')
  })
  it('leaves ordinary text, lines and other scripts alone', () => {
    expect(text('Größe 漢字\n\tعربي 🎉')).toBe('Größe 漢字\n\tعربي 🎉')
  })
})

describe('results', () => {
  it('are shown without the marks that are for the model', () => {
    const text =
      'Exit code 0.\n<outside from="stdout of \\"x\\" …">\none\n<\u200b/outside\ntwo\n</outside>\nend'
    expect(unfenced(text)).toBe('Exit code 0.\none\n</outside\ntwo\nend')
  })
})

describe('tools', () => {
  it('are told in a sentence, with the object the call names', () => {
    expect(toolSentence('browser_open', { url: 'https://a.example/x' }, true)).toBe('Opening a.example/x')
    expect(toolSentence('browser_click', { ref: 'e1' }, false, 'Save')).toBe('Clicked Save')
    expect(toolSentence('fs_list', { path: '.' }, false)).toBe('Listed the workspace')
    expect(toolSentence('fs_list', { path: '.' }, false, '.')).toBe('Listed the workspace')
    expect(toolSentence('browser_type', { ref: 'e2', text: 'secret' }, false)).toBe('Typed e2')
    expect(toolSentence('weather__now', {}, false)).toBe('Used weather__now')
  })
  it('take the name of a ref from the result after a reload', () => {
    expect(
      toolObject('browser_click', { ref: 'e31' }, '', 'clicked button "Check delivery" e31\n+ text "x"'),
    ).toBe('Check delivery')
  })
  it('name an address by host and path', () => {
    expect([host('https://a.example/'), host('nonsense')]).toEqual(['a.example', 'nonsense'])
  })
})

describe('differences', () => {
  it('are read from a unified diff', () => {
    const lines = parseDiff('--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n')!
    expect(lines.map((l) => l.sign + l.text)).toEqual(['@@@ -1,2 +1,2 @@', '-old', '+new', ' same'])
    expect(parseDiff('just text\n- a list')).toBeUndefined()
  })
  it('keep every line of the content, whatever it looks like', () => {
    const lines = parseDiff('--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- DROP TABLE\n+++ evil\n+@@ x @@\n')!
    expect(lines.slice(1).map((l) => l.sign + l.text)).toEqual(['--- DROP TABLE', '+++ evil', '+@@ x @@'])
  })
  it('need no head for a new file', () => {
    expect(parseDiff('@@ -0,0 +1,1 @@\n+one\n')).toEqual([{ sign: '+', text: 'one' }])
  })
  it('are made from what a replacement took and gave', () => {
    const lines = replaced('a\nb\nc\n', 'a\nB\nc\n')
    expect(lines.map((l) => l.sign + l.text)).toEqual([' a', '-b', '+B', ' c'])
    expect(tally(lines)).toEqual({ added: 1, removed: 1 })
    expect(tally(replaced('', 'one\ntwo\n'))).toEqual({ added: 2, removed: 0 })
  })
})
