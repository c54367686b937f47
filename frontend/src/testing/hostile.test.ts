import { fireEvent, render, screen, within } from '@testing-library/svelte'
import { tick } from 'svelte'
import { describe, expect, it, vi } from 'vitest'
import type { ToolResult } from '../lib/api'
import { CallCard } from '../lib/state/run.svelte'
import { otherHost } from '../lib/text/markdown'
import { openApp } from './app'
import { heavy, hostile, strange } from './hostile'
import Stage from './Stage.svelte'

/** The beginnings of a text, letter by letter; a long one in larger steps. */
function* growing(text: string) {
  const step = text.length > 1000 ? Math.ceil(text.length / 11) : 1
  for (let n = step; n < text.length; n += step) yield text.slice(0, n)
}

describe('text from outside', () => {
  it('is tried in 48 forms at least', () => expect(hostile.length).toBeGreaterThanOrEqual(48))

  it.each(hostile.concat(heavy))('$id ($cls) as an answer draws nothing but words', async ({ markdown }) => {
    const { container } = render(Stage, { text: markdown })
    expect(strange(container)).toEqual([])
    expect(container.textContent!.trim().length).toBeGreaterThan(0)
  })

  it.each(hostile.concat(heavy))('$id ($cls) as an answer that grows', async ({ markdown }) => {
    const { container, rerender } = render(Stage, { text: '', streaming: true })
    for (const text of growing(markdown)) {
      await rerender({ text, streaming: true })
      expect(strange(container)).toEqual([])
    }
    await rerender({ text: markdown, streaming: false })
    expect(strange(container)).toEqual([])
  })

  it.each(heavy)('$id keeps its words', ({ markdown, words }) => {
    const { container } = render(Stage, { text: markdown })
    expect(container.textContent).toContain(words)
  })

  it.each(hostile)('$id ($cls) as the output of a tool is that text', async ({ markdown }) => {
    const card = new CallCard({ id: 'c-1', name: 'shell_exec', arguments: { command: markdown } })
    card.start({ call: card.call, effect: 'acts' }, Date.now())
    render(Stage, { card })
    for (const letter of markdown) card.hear(letter)
    await tick()
    const live = screen.getByRole('group', { name: 'Output' })
    expect(live.textContent).toBe(markdown)
    expect(live.children).toHaveLength(0)
    card.finish({
      callId: 'c-1',
      name: 'shell_exec',
      state: 'succeeded',
      text: markdown,
      elapsedMs: 1,
    } as ToolResult)
    await tick()
    const result = screen.getByRole('group', { name: 'Result' })
    expect(result.textContent).toBe(markdown)
    expect(result.children).toHaveLength(0)
    const args = screen.getByLabelText('Arguments')
    expect([...args.querySelectorAll('*')].filter((e) => !['DT', 'DD', 'MARK'].includes(e.tagName))).toEqual(
      [],
    )
  })

  it('as the title of a session is that text', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    const before = document.querySelectorAll('img, iframe, script, style, form, a, input, svg').length
    for (const { markdown } of hostile) {
      const title = markdown.replace(/\s+/g, ' ').trim()
      await (fake.calls.ChangeSession as (id: string, c: object) => Promise<unknown>)('s-shelves', { title })
      await expect.poll(() => screen.getByRole('heading', { level: 1 }).textContent!.trim()).toBe(title)
      expect(
        screen.getByRole('heading', { level: 1 }).querySelectorAll('*:not(button, svg, svg *)'),
      ).toHaveLength(0)
      expect(document.title).toContain(title)
      expect(document.querySelectorAll('img, iframe, script, style, form, a, input, svg')).toHaveLength(
        before,
      )
    }
  })
})

describe('what is dropped on the window', () => {
  it.each(['dragover', 'drop'])('is refused: %s', async (kind) => {
    await openApp('shelves', 'Oak shelves, prices and delivery')
    const link = await screen.findByRole('link', { name: 'the shop' })
    for (const target of [document.body, link, screen.getByRole('textbox', { name: 'Prompt' })])
      expect(await fireEvent(target, new Event(kind, { bubbles: true, cancelable: true }))).toBe(false)
  })
})

describe('a link', () => {
  it.each([
    ['https://bank.example/login', 'https://sink.example/k', 'bank.example'],
    ['bank.example', 'https://bank.example@sink.example/k', 'bank.example'],
    ['me@bank.example', 'mailto:a@sink.example', 'bank.example'],
    ['www.bank.example', 'https://bank.example/', undefined],
    ['https://BANK.example:8080/x', 'https://bank.example:8080/x', undefined],
    ['Bücher.example', 'https://xn--bcher-kva.example/', undefined],
    ['bаnk.example', 'https://bank.example/', 'bаnk.example'],
    ['README.md', 'https://code.example/main/README.md', undefined],
    ['me@bank.example', 'mailto:me@bank.example', undefined],
    ['the shop', 'https://sink.example/', undefined],
    ['version 1.2 of it', 'https://sink.example/', undefined],
  ])('that reads %s and leads to %s names %s', (words, target, want) =>
    expect(otherHost(words, target)).toBe(want),
  )

  it('cannot be turned round', () => {
    render(Stage, { text: '[\u202egro.knab\u202c\u2066](https://sink.example/k)' })
    expect(screen.getByRole('link').textContent).toBe('gro.knab')
  })

  it('leaves by no press of any kind, and its address is shown first', async () => {
    const open = vi.spyOn(window, 'open').mockReturnValue(null)
    const onopen = vi.fn(() => Promise.resolve())
    let links = 0
    for (const { id, markdown } of hostile) {
      const { container, unmount } = render(Stage, { text: markdown, onopen })
      for (const link of container.querySelectorAll('a')) {
        links++
        for (const kind of ['auxclick', 'contextmenu', 'click']) {
          const press = new MouseEvent(kind, { bubbles: true, cancelable: true, button: 1, ctrlKey: true })
          expect(await fireEvent(link, press), `${id} ${kind}`).toBe(false)
        }
        const dialog = await screen.findByRole('dialog')
        expect(dialog.textContent).toContain(new URL(link.href).host || new URL(link.href).pathname)
        await fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }))
        await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
      }
      unmount()
    }
    expect(links).toBeGreaterThanOrEqual(12)
    expect(open).not.toHaveBeenCalled()
    expect(onopen).not.toHaveBeenCalled()
  })

  it('that names another host says so before it is opened', async () => {
    render(Stage, {
      text: '[https://bank.example/login](https://sink.example/k)',
      onopen: () => Promise.resolve(),
    })
    await fireEvent.click(screen.getByRole('link'))
    const dialog = await screen.findByRole('dialog')
    expect(dialog.textContent).toContain('https://sink.example/k')
    expect(dialog.textContent).toContain('The link reads bank.example, but it leads elsewhere.')
  })
})
