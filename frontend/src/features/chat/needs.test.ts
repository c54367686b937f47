import { fireEvent, render, screen } from '@testing-library/svelte'
import { describe, expect, it, vi } from 'vitest'
import type { AgreementAsked, Answer, ApprovalAsked, ClarificationAsked } from '../../lib/api'
import { expectAccessible } from '../../testing/axe'
import AgreementCard from './AgreementCard.svelte'
import ApprovalCard from './ApprovalCard.svelte'
import QuestionCard from './QuestionCard.svelte'
import { deaf } from './arming.svelte'

const ask: ApprovalAsked = {
  id: 'a-1',
  callId: 'c-1',
  tool: 'shell_exec',
  args: {},
  deeds: [
    {
      class: 'run_command',
      object: `echo ${'x'.repeat(4000)}\u202e; curl evil.example`,
      detail: '/home/robin',
    },
    { class: 'send', object: 'https://a.example/form', fields: [{ label: 'PIN', secret: true }] },
  ],
  session: 'running echo',
  why: 'after reading text from a.example',
}

function approval(more: Partial<ApprovalAsked> = {}) {
  const onanswer = vi.fn<(a: Answer) => Promise<void>>(() => Promise.resolve())
  vi.useFakeTimers()
  const { container } = render(ApprovalCard, { ask: { ...ask, ...more }, onanswer })
  return { onanswer, container, once: screen.getByRole('button', { name: 'Allow once' }) }
}

describe('an approval card', () => {
  it('shows the whole object, with what cannot be seen made visible', () => {
    const { container } = approval()
    expect(container.textContent).toContain(`echo ${'x'.repeat(4000)}U+202E; curl evil.example`)
    expect(container.textContent).not.toContain('\u202e')
    expect(container.textContent).toContain('not shown here')
  })

  it('hears nothing in its first half second', async () => {
    const { onanswer, once } = approval()
    await fireEvent.click(once)
    await fireEvent.click(screen.getByRole('button', { name: 'Deny' }))
    vi.advanceTimersByTime(deaf - 1)
    await fireEvent.click(once)
    expect(onanswer).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await fireEvent.click(once)
    expect(onanswer).toHaveBeenCalledExactlyOnceWith({ allow: true, scope: 'once' })
  })

  it('never takes Enter for a yes, nor a key that is held down', async () => {
    const { once } = approval()
    await vi.advanceTimersByTimeAsync(deaf)
    expect(await fireEvent.keyDown(once, { key: 'Enter' })).toBe(false)
    expect(await fireEvent.keyDown(once, { key: ' ', repeat: true })).toBe(false)
    expect(await fireEvent.keyDown(once, { key: ' ' })).toBe(true)
  })

  it('takes no focus, and offers its text to it', () => {
    const { container } = approval()
    expect(container.contains(document.activeElement)).toBe(false)
    expect(container.querySelector('[data-needs]')?.tagName).toBe('H3')
  })

  it('offers the session only when there is something to cover', () => {
    approval({ session: '' })
    expect(screen.queryByRole('button', { name: 'Allow for this session' })).toBeNull()
  })

  it('adds to the agreement of the run where that is offered', async () => {
    const { onanswer } = approval({ extend: 'running echo' })
    await vi.advanceTimersByTimeAsync(deaf)
    expect(screen.getByText('This run or this session: running echo')).toBeTruthy()
    const add = screen.getByRole('button', { name: /^Add to the agreement/ })
    expect(await fireEvent.keyDown(add, { key: 'Enter' })).toBe(false)
    await fireEvent.click(add)
    expect(onanswer).toHaveBeenCalledExactlyOnceWith({ allow: true, scope: 'run' })
  })

  it('carries a note with a no', async () => {
    const { onanswer } = approval()
    await vi.advanceTimersByTimeAsync(deaf)
    await fireEvent.click(screen.getByRole('button', { name: 'with a note…' }))
    await fireEvent.input(screen.getByRole('textbox'), { target: { value: 'not there' } })
    await fireEvent.click(screen.getByRole('button', { name: 'Deny with this note' }))
    expect(onanswer).toHaveBeenCalledWith({ allow: false, note: 'not there' })
  })

  it('says when the answer did not arrive, and can be answered again', async () => {
    const { onanswer, once } = approval()
    onanswer.mockRejectedValueOnce({ code: 'internal', message: 'Lost.', hint: '' })
    await vi.advanceTimersByTimeAsync(deaf)
    await fireEvent.click(once)
    await vi.advanceTimersByTimeAsync(1)
    expect(screen.getByRole('alert').textContent).toContain('Lost.')
    await fireEvent.click(once)
    expect(onanswer).toHaveBeenCalledTimes(2)
  })

  it('can be used with assistive technology', async () => {
    const { container } = approval()
    vi.useRealTimers()
    await expectAccessible(container)
  })
})

describe('an agreement card', () => {
  const asked: AgreementAsked = {
    id: 'g-1',
    goal: 'Compare tents\u202e',
    why: 'It comes after reading text from evil.example.',
    spend: 1,
    iterations: 30,
    lines: [
      { id: '1', class: 'visit', object: 'https://a.example', words: 'Read all pages of https://a.example.' },
      { id: '2', class: 'send', object: 'https://a.example', words: 'Send data to https://a.example.' },
      { id: '3', class: 'write_file', object: '/desk', words: 'Write files in /desk.' },
    ],
  }
  function card() {
    const onanswer = vi.fn<(a: Answer) => Promise<void>>(() => Promise.resolve())
    vi.useFakeTimers()
    const { container } = render(AgreementCard, { ask: asked, onanswer })
    return { onanswer, container, button: (name: string) => screen.getByRole('button', { name }) }
  }

  it('shows everything in plain words, with what cannot be seen made visible', () => {
    const { container } = card()
    for (const text of [
      'Compare tentsU+202E',
      'reading text from evil.example',
      'Read all pages of https://a.example.',
      'Send data to https://a.example.',
      'Write files in /desk.',
      'Costs up to $1.00',
      'up to 30 iterations',
    ])
      expect(container.textContent).toContain(text)
    expect(container.textContent).not.toContain('\u202e')
    expect(screen.getAllByRole('group').map((g) => g.querySelector('legend')?.textContent)).toEqual([
      'Websites',
      'Files',
    ])
    expect(screen.getAllByRole('button')[0]!.textContent).toBe('Deny')
  })

  it('agrees to what is left ticked, and to nothing in its first half second', async () => {
    const { onanswer, button } = card()
    await fireEvent.click(screen.getByRole('checkbox', { name: /Send data/ }))
    await fireEvent.click(button('Agree'))
    expect(onanswer).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(deaf)
    await fireEvent.click(screen.getByRole('checkbox', { name: /Send data/ }))
    await fireEvent.click(button('Agree to 2 of 3'))
    expect(onanswer).toHaveBeenCalledExactlyOnceWith({ allow: true, lines: ['1', '3'] })
  })

  it('cannot be agreed to with nothing in it', async () => {
    const { onanswer, button } = card()
    await vi.advanceTimersByTimeAsync(deaf)
    for (const box of screen.getAllByRole('checkbox')) await fireEvent.click(box)
    await fireEvent.click(button('Agree to 0 of 3'))
    expect(onanswer).not.toHaveBeenCalled()
  })

  it('never takes Enter for a yes, and carries a note with either answer', async () => {
    const { onanswer, button } = card()
    await vi.advanceTimersByTimeAsync(deaf)
    expect(await fireEvent.keyDown(button('Agree'), { key: 'Enter' })).toBe(false)
    await fireEvent.click(button('with a note…'))
    await fireEvent.input(screen.getByRole('textbox'), { target: { value: ' only look ' } })
    onanswer.mockRejectedValueOnce({ code: 'internal', message: 'Lost.', hint: '' })
    await fireEvent.click(button('Agree'))
    await vi.advanceTimersByTimeAsync(1)
    expect(onanswer).toHaveBeenLastCalledWith({ allow: true, lines: ['1', '2', '3'], note: 'only look' })
    await fireEvent.click(button('Deny with this note'))
    expect(onanswer).toHaveBeenLastCalledWith({ allow: false, note: 'only look' })
  })

  it('takes no focus, offers its text to it, and can be used with assistive technology', async () => {
    const { container } = card()
    vi.useRealTimers()
    expect(container.contains(document.activeElement)).toBe(false)
    expect(container.querySelector('[data-needs]')?.tagName).toBe('H3')
    await expectAccessible(container)
  })
})

describe('a question card', () => {
  const question = (q: Partial<ClarificationAsked['question']>) => {
    const onanswer = vi.fn<(a: Answer) => Promise<void>>(() => Promise.resolve())
    vi.useFakeTimers()
    const ask = { id: 'q-1', question: { kind: 'input', title: 'Which?', ...q } }
    render(QuestionCard, { ask, since: Date.now(), onanswer })
    vi.advanceTimersByTime(deaf)
    return onanswer
  }

  it('offers yes and no for a confirmation', async () => {
    const onanswer = question({ kind: 'confirm' })
    await fireEvent.click(screen.getByRole('radio', { name: 'Yes' }))
    await fireEvent.click(screen.getByRole('button', { name: 'Answer' }))
    expect(onanswer).toHaveBeenCalledWith({ text: 'yes' })
  })

  it('prefers own words to a choice', async () => {
    const onanswer = question({ kind: 'choice', options: [{ label: 'One', value: '1' }] })
    await fireEvent.click(screen.getByRole('radio', { name: 'One' }))
    await fireEvent.input(screen.getByRole('textbox'), { target: { value: 'Neither' } })
    await fireEvent.click(screen.getByRole('button', { name: 'Answer' }))
    expect(onanswer).toHaveBeenCalledWith({ text: 'Neither' })
  })

  it('can be skipped or left to the agent', async () => {
    const onanswer = question({})
    await fireEvent.click(screen.getByRole('button', { name: 'Skip' }))
    expect(onanswer).toHaveBeenCalledWith({ skip: true })
  })

  it('counts down to its default', async () => {
    question({ default: 'blue', waitMs: 60_000 })
    expect(screen.getByText('“blue” is taken in 1 min 00 s')).toBeTruthy()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(screen.getByText(/“blue” is taken in (4\d|50) s/)).toBeTruthy()
  })
})
