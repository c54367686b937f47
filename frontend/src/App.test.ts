import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import App from './App.svelte'
import { installFake } from './lib/api/fake'
import { openApp, press } from './testing/app'
import { expectAccessible } from './testing/axe'

const prompt = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' })

describe('every screen', () => {
  it.each([
    ['empty', 'New session'],
    ['shelves', 'Oak shelves, prices and delivery'],
    ['running', 'Oak shelves, prices and delivery'],
    ['room', 'Book the Birch room for Thursday'],
    ['command', 'Tidy the notes folder'],
    ['trouble', 'Warranty form for the kettle'],
    ['queued', 'Warranty form for the kettle'],
    ['agreement', 'Compare three tents'],
    ['agreed', 'Compare three tents'],
  ])('%s can be used with assistive technology', async (scene, title) => {
    await openApp(scene, title)
    for (const b of screen.queryAllByRole('button', { expanded: false })) await fireEvent.click(b)
    await expectAccessible()
  })

  it.each(['General', 'Providers', 'Routes', 'Usage and budget', 'Permissions', 'Browser', 'About'])(
    'the settings page %s too',
    async (name) => {
      await openApp('shelves', 'Oak shelves, prices and delivery')
      await fireEvent.click(screen.getByRole('button', { name: 'Settings' }))
      await fireEvent.click(await screen.findByRole('button', { name }))
      await screen.findByRole('heading', { level: 1, name })
      await waitFor(() => expect(screen.queryByRole('status', { name: /Loading/ })).toBeNull())
      await expectAccessible()
      // With everything unfolded too.
      for (const b of screen.queryAllByRole('button', { expanded: false })) await fireEvent.click(b)
      for (const b of screen.queryAllByRole('button', { name: /^Add a/ })) await fireEvent.click(b)
      await expectAccessible()
    },
  )
})

describe('the window', () => {
  it('has the names the tests of the real window look for', async () => {
    await openApp('shelves', 'Oak shelves, prices and delivery')
    for (const name of ['New session', 'Settings', 'Search', 'Send', 'Side panel', 'More', 'Mode: Ask'])
      expect(screen.getByRole('button', { name })).toBeTruthy()
    expect(screen.getByRole('region', { name: 'Transcript' })).toBeTruthy()
    expect(screen.getByRole('navigation', { name: 'Sessions' })).toBeTruthy()
    expect(screen.getByRole('complementary', { name: 'Side panel' })).toBeTruthy()
    expect(prompt()).toBeTruthy()
  })

  it('starts a session from a prompt and shows its answer', async () => {
    const fake = await openApp('empty', 'New session')
    await fireEvent.input(prompt(), { target: { value: '; Compare shelves' } })
    prompt().focus()
    press('Enter')
    await screen.findByRole('heading', { level: 1, name: 'Compare shelves' })
    expect(prompt().value).toBe('')
    const region = screen.getByRole('region', { name: 'Transcript' })
    await waitFor(() => expect(within(region).getByText('Compare shelves')).toBeTruthy())
    await waitFor(() => expect(screen.getAllByText('Working').length).toBeGreaterThan(0))
    await fireEvent.click(within(region).getByRole('button', { name: 'Stop' }))
    await waitFor(() => expect(within(region).getByText('Stopped')).toBeTruthy())
    fake.end()
  })

  it('queues a prompt while a run works, and takes it out again', async () => {
    const fake = await openApp('running', 'Oak shelves, prices and delivery')
    await fireEvent.input(prompt(), { target: { value: 'Then the chairs' } })
    prompt().focus()
    press('Enter')
    const queue = await screen.findByRole('list', { name: 'Queued prompts' })
    await fireEvent.click(within(queue).getByRole('button', { name: 'Remove: Then the chairs' }))
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Queued prompts' })).toBeNull())
    fake.end()
  })

  it('takes a queued prompt back to be written anew', async () => {
    const fake = await openApp('running', 'Oak shelves, prices and delivery')
    await fireEvent.input(prompt(), { target: { value: 'Then the chairs' } })
    prompt().focus()
    press('Enter')
    await fireEvent.click(await screen.findByRole('button', { name: 'Edit: Then the chairs' }))
    await waitFor(() => expect(prompt().value).toBe('Then the chairs'))
    expect(screen.queryByRole('list', { name: 'Queued prompts' })).toBeNull()
    fake.end()
  })

  it('goes from the prompt to what needs the person with one key', async () => {
    const fake = await openApp('room', 'Book the Birch room for Thursday')
    prompt().focus()
    press('F6')
    expect(document.activeElement?.hasAttribute('data-needs')).toBe(true)
    fake.end()
  })

  it('says that the settings file was broken, until that is read', async () => {
    const fake = installFake('shelves')
    fake.notices = [{ code: 'broken', message: 'The settings file was broken.', hint: 'It was kept as x.' }]
    render(App)
    expect((await screen.findByRole('alert')).textContent).toContain('It was kept as x.')
    await fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }))
    await waitFor(() => expect(screen.queryByText('The settings file was broken.')).toBeNull())
    fake.end()
  })

  it('asks in a new session what is typed in the tour', async () => {
    const fake = await openApp('empty', 'New session')
    await fireEvent.click(await screen.findByRole('button', { name: 'Start the tour' }))
    await waitFor(() => expect(prompt().placeholder).toBe('Ask for something in a new session'))
    const asked: string[] = []
    fake.calls.SendPrompt = (id: string) => (asked.push(id), 'r-1')
    await fireEvent.input(prompt(), { target: { value: 'Hello' } })
    prompt().focus()
    press('Enter')
    await waitFor(() => expect(asked).toHaveLength(1))
    const snapshot = fake.calls.Snapshot as (id: string, q: object) => { session: { tour: boolean } }
    expect(snapshot(asked[0]!, {}).session.tour).toBeFalsy()
    fake.end()
  })

  it('gives a prompt back when it could not be sent', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    fake.calls.SendPrompt = () =>
      Promise.reject({ code: 'no_provider', message: 'No model is set up.', hint: 'Set one up in Settings.' })
    await fireEvent.input(prompt(), { target: { value: 'Hello' } })
    prompt().focus()
    press('Enter')
    expect((await screen.findByRole('alert')).textContent).toContain(
      'No model is set up. Set one up in Settings.',
    )
    expect(prompt().value).toBe('Hello')
  })

  it('keeps a draft for each session', async () => {
    await openApp('shelves', 'Oak shelves, prices and delivery')
    await fireEvent.input(prompt(), { target: { value: 'A draft' } })
    await fireEvent.click(screen.getByRole('button', { name: /^Renew the library books/ }))
    await screen.findByRole('heading', { level: 1, name: 'Renew the library books' })
    expect(prompt().value).toBe('')
    await fireEvent.click(screen.getByRole('button', { name: /^(Done: )?Oak shelves/ }))
    await waitFor(() => expect(prompt().value).toBe('A draft'))
  })

  it('sends nothing while an input method composes, and new lines with Shift', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    let sent = 0
    fake.calls.SendPrompt = () => ++sent
    await fireEvent.input(prompt(), { target: { value: 'ni' } })
    prompt().focus()
    press('Enter', { isComposing: true })
    press('Enter', { keyCode: 229 } as KeyboardEventInit)
    expect(press('Enter', { shiftKey: true })).toBe(true)
    expect(sent).toBe(0)
  })

  it('recalls the last prompt with the up key', async () => {
    await openApp('shelves', 'Oak shelves, prices and delivery')
    prompt().focus()
    press('ArrowUp')
    await waitFor(() =>
      expect(prompt().value).toBe('Compare all three with delivery to 8001 in shelves.csv.'),
    )
  })

  it('stops the run on the second Escape', async () => {
    await openApp('running', 'Oak shelves, prices and delivery')
    press('Escape')
    await screen.findAllByText('Press Esc again to stop the run.')
    press('Escape')
    await waitFor(() => expect(screen.queryByText('Working')).toBeNull())
  })

  it('deletes a session with undo, and moves on to the neighbour', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    screen.getByRole('button', { name: /^Renew the library books/ }).focus()
    press('Delete')
    const undo = await screen.findByRole('button', { name: 'Undo' })
    await waitFor(() => expect(screen.queryByRole('button', { name: /^Renew the library books/ })).toBeNull())
    expect(document.activeElement?.getAttribute('data-session')).toBe('s-kettle')
    await fireEvent.click(undo)
    await screen.findByRole('button', { name: /^Renew the library books/ })
    expect(fake.sessions.has('s-old-0')).toBe(true)
  })

  it('renames a session in place', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    screen.getByRole('button', { name: /^Renew the library books/ }).focus()
    press('F2')
    const field = await screen.findByRole('textbox', { name: 'Title of the session' })
    await fireEvent.input(field, { target: { value: 'Library' } })
    await fireEvent.keyDown(field, { key: 'Enter' })
    await screen.findByRole('button', { name: /^Library/ })
    expect(fake.sessions.get('s-old-0')?.facts.title).toBe('Library')
  })

  it('shows where a link leads and opens it outside only then', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    const link = await screen.findByRole('link', { name: 'the shop' })
    expect(await fireEvent.click(link)).toBe(false)
    const dialog = await screen.findByRole('dialog')
    expect(dialog.textContent).toContain('https://shop.example.org/delivery')
    expect(fake.opened).toEqual([])
    await fireEvent.click(within(dialog).getByRole('button', { name: 'Open' }))
    await waitFor(() => expect(fake.opened).toEqual(['https://shop.example.org/delivery']))
    expect(
      await fireEvent(link, new MouseEvent('auxclick', { bubbles: true, cancelable: true, button: 1 })),
    ).toBe(false)
  })

  it('finds a setting by its words and keeps a change at once', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    await fireEvent.click(screen.getByRole('button', { name: 'Settings' }))
    await fireEvent.input(await screen.findByRole('searchbox', { name: 'Search settings' }), {
      target: { value: 'colours' },
    })
    await fireEvent.click(await screen.findByRole('radio', { name: 'Dark' }))
    await waitFor(() => expect(fake.settings.theme).toBe('dark'))
    expect(document.documentElement.dataset.theme).toBe('dark')
    await fireEvent.click(screen.getByRole('button', { name: 'Reset Theme' }))
    await waitFor(() => expect(fake.settings.theme).toBe('system'))
  })

  it('asks for the name of the computer before it never asks again', async () => {
    const fake = await openApp('shelves', 'Oak shelves, prices and delivery')
    await fireEvent.click(screen.getByRole('button', { name: 'Settings' }))
    await fireEvent.click(await screen.findByRole('radio', { name: 'Full' }))
    const dialog = await screen.findByRole('dialog')
    const confirm = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Switch to Full' })
    expect(confirm.disabled).toBe(true)
    expect(fake.settings.mode).toBe('ask')
    await fireEvent.input(within(dialog).getByRole('textbox'), { target: { value: 'full' } })
    expect(confirm.disabled).toBe(true)
    await within(dialog).findByLabelText('Type the name of this computer, “alder”, to confirm')
    await fireEvent.input(within(dialog).getByRole('textbox'), { target: { value: 'Alder' } })
    await fireEvent.click(confirm)
    await waitFor(() => expect(fake.settings.mode).toBe('full'))
  })

  it('asks once what the computer is for', async () => {
    const fake = await openApp('empty', 'New session')
    const question = await screen.findByRole('region', { name: 'What is this computer for?' })
    await fireEvent.click(within(question).getByRole('button', { name: 'Everyday use' }))
    await waitFor(() => expect(fake.settings.computer).toBe('everyday'))
    expect(fake.settings.mode).toBe('ask')
    await waitFor(() => expect(question.isConnected).toBe(false))
  })

  it('takes a word to be told that only the agent uses the computer', async () => {
    const fake = await openApp('empty', 'New session')
    await fireEvent.click(await screen.findByRole('button', { name: 'Only the agent' }))
    const dialog = await screen.findByRole('dialog')
    expect(fake.settings.computer).toBeUndefined()
    await fireEvent.input(within(dialog).getByRole('textbox'), { target: { value: 'Alder' } })
    await fireEvent.click(within(dialog).getByRole('button', { name: 'Switch to Full' }))
    await waitFor(() => expect(fake.settings.computer).toBe('agent'))
    expect(fake.settings.mode).toBe('full')
    expect(screen.queryByRole('region', { name: 'What is this computer for?' })).toBeNull()
  })

  it('tests a provider and says in words what went wrong', async () => {
    await openApp('empty', 'New session')
    await fireEvent.click(await screen.findByRole('button', { name: 'Set up a model' }))
    await fireEvent.click(await screen.findByRole('button', { name: /^T?\s*Tern/ }))
    await fireEvent.input(await screen.findByLabelText('Key'), { target: { value: 'wrong' } })
    await fireEvent.click(screen.getByRole('button', { name: 'Test' }))
    await screen.findByText(/Tern did not accept the key/)
    await fireEvent.input(screen.getByLabelText('Key'), { target: { value: 'sk-1234' } })
    await fireEvent.click(screen.getByRole('button', { name: 'Test' }))
    await screen.findByText('Answered in 0.4 s')
    await screen.findByText('Works: text, streaming, tools. Does not work: pictures.')
    await fireEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByText('•••• •••• 1234')
  })
})

describe('an agreement', () => {
  it('is agreed to, shown with the run, and taken back line by line', async () => {
    await openApp('agreement', 'Compare three tents')
    await screen.findByRole('heading', { name: 'Agree on what this run may do' })
    const agree = screen.getByRole('button', { name: 'Agree' })
    await waitFor(() => expect(agree.getAttribute('aria-disabled')).toBe('false'))
    await fireEvent.click(screen.getByRole('checkbox', { name: /^Send data/ }))
    expect(agree.textContent.trim()).toBe('Agree to 4 of 5')
    await fireEvent.click(agree)
    const row = await screen.findByRole('button', {
      name: 'Agreed for this run: 2 sites, 1 folder, up to $1.00',
    })
    await fireEvent.click(row)
    await fireEvent.click(
      screen.getByRole('button', { name: /^Take back: Read all pages of https:..outdoor/ }),
    )
    await screen.findByRole('button', { name: 'Agreed for this run: 1 site, 1 folder, up to $1.00' })
    expect(screen.getByText('Taken back')).toBeTruthy()
  })

  it('is added to by its keys, once the card takes input and nothing lies over it', async () => {
    const fake = await openApp('agreed', 'Compare three tents')
    const given: unknown[] = []
    const answer = fake.calls.Answer as (id: string, a: unknown) => unknown
    fake.calls.Answer = (id: string, a: unknown) => {
      given.push(a)
      return answer(id, a)
    }
    const add = await screen.findByRole('button', { name: /^Add to the agreement/ })
    expect(add.textContent).toContain('Ctrl Shift A')
    const keys = { ctrlKey: true, shiftKey: true }
    press('A', keys)
    expect(given).toEqual([])
    await waitFor(() => expect(add.getAttribute('aria-disabled')).toBe('false'))
    press('A', { ...keys, repeat: true })
    press('Enter', keys)
    expect(given).toEqual([])
    press('A', keys)
    await waitFor(() => expect(given).toEqual([{ allow: true, scope: 'run' }]))
  })

  it('is told in the past once its run is over', async () => {
    const fake = await openApp('agreed', 'Compare three tents')
    await screen.findByRole('button', { name: /^Agreed for this run: 2 sites/ })
    ;(fake.calls.Stop as (id: string) => void)('s-tents')
    await waitFor(() => expect(screen.queryByRole('button', { name: /^Agreed for this run/ })).toBeNull())
    await fireEvent.click(screen.getByRole('button', { expanded: false, name: /^Stopped/ }))
    await fireEvent.click(await screen.findByRole('button', { name: /^Was agreed for this run: 2 sites/ }))
    expect(screen.getByText('Used once')).toBeTruthy()
    expect(screen.queryByRole('button', { name: /^Take back/ })).toBeNull()
  })
})
