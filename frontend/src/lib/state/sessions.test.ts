import { describe, expect, it } from 'vitest'
import { answers, stream } from '../../testing/streams'
import { SessionList } from './sessions.svelte'
import { SettingsState } from './settings.svelte'

const session = (id: string, updatedAt: number) => ({
  id,
  title: id,
  state: 'completed',
  seen: true,
  updatedAt,
})

describe('the list of sessions', () => {
  it('puts the newest first and follows events', async () => {
    answers({ Sessions: () => [session('a', 1), session('b', 2)] })
    const list = new SessionList()
    await list.load()
    expect(list.rows.map((r) => r.id)).toEqual(['b', 'a'])
    for (const e of stream('room')) list.apply(e)
    expect(list.rows[0]).toMatchObject({ id: 's-room', look: 'needsYou' })
    list.apply({ seq: 1, type: 'session.deleted', sessionId: '', at: 0, data: { id: 'b' } })
    expect(list.rows.map((r) => r.id)).toEqual(['s-room', 'a'])
  })

  it('puts a session back when deleting it is refused', async () => {
    answers({
      Sessions: () => [session('a', 1)],
      DeleteSession: () => Promise.reject({ code: 'busy', message: 'No.' }),
    })
    const list = new SessionList()
    await list.load()
    await expect(list.remove('a')).rejects.toMatchObject({ code: 'busy', message: 'No.' })
    expect(list.rows.map((r) => r.id)).toEqual(['a'])
  })

  it('shows the hits of the newest search only', async () => {
    const waiting: (() => void)[] = []
    answers({
      Sessions: (q: { search: string }) =>
        q.search === '' ? [] : new Promise((done) => waiting.push(() => done([session(q.search, 1)]))),
    })
    const list = new SessionList()
    await list.load()
    const first = list.find('first')
    const second = list.find('second')
    waiting.reverse().forEach((answer) => answer())
    await Promise.all([first, second])
    expect(list.rows.map((r) => r.id)).toEqual(['second'])
  })
})

describe('the settings', () => {
  it('spring back when a change is refused', async () => {
    answers({
      Settings: () => ({ theme: 'system', zoom: 100 }),
      SaveSettings: () => Promise.reject({ code: 'unavailable', message: 'The disk is full.' }),
    })
    const settings = new SettingsState()
    await settings.load()
    await expect(settings.set('theme', 'dark')).rejects.toMatchObject({ message: 'The disk is full.' })
    expect(settings.now?.theme).toBe('system')
    expect(settings.providers).toEqual([])
  })
})
