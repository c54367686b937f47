import axe from 'axe-core'
import { expect } from 'vitest'

/** Expects a screen without what axe can find. Colours have a check of their own. */
export async function expectAccessible(root: Element = document.body) {
  const { violations } = await axe.run(root, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } },
  })
  expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' | ')}`)).toEqual([])
}
