import { render, screen } from '@testing-library/svelte'
import { expect } from 'vitest'
import App from '../App.svelte'
import { installFake, type Fake } from '../lib/api/fake'

/** The whole window on a fake, once its scene is shown. */
export async function openApp(scene: string, title: string): Promise<Fake> {
  const fake = installFake(scene)
  render(App)
  await expect.poll(() => screen.queryByRole('heading', { level: 1, name: title })).not.toBeNull()
  return fake
}

/** Presses a key on what has the focus, as a person would. */
export function press(key: string, init: KeyboardEventInit = {}): boolean {
  const target = document.activeElement ?? document.body
  return target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init }))
}
