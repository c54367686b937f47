import { describe, expect, it } from 'vitest'
import { commandOf, keysOf } from '.'

const press = (key: string, init: KeyboardEventInit = {}) =>
  new KeyboardEvent('keydown', { key, ctrlKey: true, ...init })

describe('keys', () => {
  it('find their command', () => {
    expect(commandOf(press('n'))).toBe('new-session')
    expect(commandOf(press('F', { shiftKey: true }))).toBe('search')
    expect(commandOf(press(','))).toBe('settings')
    expect(commandOf(press('F6', { ctrlKey: false }))).toBe('next-region')
    expect(commandOf(press('+', { shiftKey: true }))).toBe('zoom-in')
    expect(commandOf(press('='))).toBe('zoom-in')
  })
  it('need their modifiers, and no others', () => {
    expect(commandOf(press('n', { ctrlKey: false }))).toBeUndefined()
    expect(commandOf(press('n', { altKey: true }))).toBeUndefined()
    expect(commandOf(press('n', { shiftKey: true }))).toBeUndefined()
  })
  it('do nothing while an input method composes', () => {
    expect(commandOf(press('n', { isComposing: true }))).toBeUndefined()
  })
  it('are written as on this machine', () => expect(keysOf('search')).toBe('Ctrl Shift F'))
  it('may be the plus key itself', () => expect(keysOf('zoom-in')).toBe('Ctrl +'))
})
