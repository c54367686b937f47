import { describe, expect, it } from 'vitest'
import type { Leg } from '../api'
import { installFake } from '../api/fake'
import { inOrder, moved } from './routes'
import { SettingsState, valueOf } from './settings.svelte'

const names = (legs: Leg[]) => legs.map((l) => l.provider).join('')
const leg = (provider: string, weight?: number): Leg => ({ provider, weight })

describe('the models of a route', () => {
  it('are tried by weight, equal ones as listed', () => {
    expect(names(inOrder([leg('a'), leg('b', 200), leg('c', 100), leg('d', 1)]))).toBe('bacd')
  })

  it('keep the order they are moved to, whatever they weigh', () => {
    const legs = inOrder([leg('a', 200), leg('b'), leg('c', 50)])
    for (let from = 0; from < 3; from++)
      for (let to = 0; to < 3; to++) {
        const want = legs.map((l) => l.provider).filter((_, i) => i !== from)
        want.splice(to, 0, legs[from]!.provider)
        expect(names(inOrder(moved(legs, from, to)))).toBe(want.join(''))
      }
  })

  it('stay where they are when there is no such place', () => {
    const legs = [leg('a'), leg('b')]
    expect(moved(legs, 0, -1)).toBe(legs)
    expect(moved(legs, 1, 5)).toBe(legs)
  })
})

describe('the settings', () => {
  it('hold a setting of a group beside its neighbours', async () => {
    const fake = installFake('shelves')
    const settings = new SettingsState()
    await settings.load()
    await settings.set('budget.run', 2)
    await settings.set('budget.day', 5)
    expect(fake.settings.budget).toEqual({ run: 2, day: 5 })
    expect(valueOf(settings.now, 'budget.day')).toBe(5)
    expect(valueOf(settings.now, 'network.proxy')).toBe('')
  })

  it('spring back when a change is refused', async () => {
    const fake = installFake('shelves')
    const settings = new SettingsState()
    await settings.load()
    fake.calls.SaveSettings = () => Promise.reject({ code: 'invalid', message: 'No.', hint: '' })
    await expect(settings.set('network.proxy', 'nonsense')).rejects.toThrow('No.')
    expect(valueOf(settings.now, 'network.proxy')).toBe('')
  })

  it('have new sessions use a route, or a provider instead of it', async () => {
    installFake('shelves')
    const settings = new SettingsState()
    await settings.load()
    expect(settings.route).toBeUndefined()
    await settings.useForNew('everyday')
    expect(settings.route?.name).toBe('Everyday')
    await settings.useForNew('alder-1')
    expect(settings.route).toBeUndefined()
    expect(settings.provider?.id).toBe('alder-1')
  })

  it('keep several keys of a provider, one in use', async () => {
    installFake('shelves')
    const settings = new SettingsState()
    await settings.load()
    await settings.saveKey({ provider: 'tern-1', key: 'sk-work-2222', alias: 'work' })
    const keys = () => settings.providers.find((p) => p.id === 'tern-1')!.keys!
    expect(keys().map((k) => [k.hint, k.active])).toEqual([
      ['7f3c', true],
      ['2222', false],
    ])
    await settings.removeKey('tern-1', keys()[0]!.id)
    expect(keys().map((k) => [k.hint, k.active])).toEqual([['2222', true]])
  })
})
