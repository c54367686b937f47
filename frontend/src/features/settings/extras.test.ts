import { expect, test } from 'vitest'
import { readExtras, sameExtras, writeExtras } from './extras'

const none = { connect: '', firstByte: '', silence: '', ceiling: '', traits: '' }

test('what is stored comes back from the fields', () => {
  const stored = { limits: { firstByte: 600, ceiling: 3600 }, profile: { strictRoles: true } }
  expect(readExtras(writeExtras(stored))).toEqual({ extras: stored })
})

test('empty fields take what is usual', () => {
  expect(writeExtras({})).toEqual(none)
  expect(readExtras(none)).toEqual({ extras: { limits: {}, profile: {} } })
})

test.each([
  ['connect', '0'],
  ['firstByte', 'soon'],
  ['silence', '1.5'],
  ['ceiling', '-3'],
  ['traits', '{'],
  ['traits', '[1]'],
  ['traits', 'null'],
] as const)('%s cannot be %s', (key, value) => {
  expect(readExtras({ ...none, [key]: value }).wrong).toBe(key)
})

test('the order of names is no difference', () => {
  const a = { limits: {}, profile: { body: { x: 1, y: [2, 3] }, strictRoles: true } }
  const b = { limits: {}, profile: { strictRoles: true, body: { y: [2, 3], x: 1 } } }
  expect(sameExtras(a, b)).toBe(true)
  expect(sameExtras(a, { ...b, limits: { silence: 1 } })).toBe(false)
  expect(sameExtras(a, { ...b, profile: { ...b.profile, body: { x: 1, y: [3, 2] } } })).toBe(false)
})
