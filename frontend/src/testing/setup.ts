import { cleanup } from '@testing-library/svelte'
import { afterEach, vi } from 'vitest'

// What jsdom lacks and the window has.
class Watcher {
  observe() {}
  unobserve() {}
  disconnect() {}
}
Object.assign(globalThis, { ResizeObserver: Watcher, IntersectionObserver: Watcher })
window.matchMedia ??= ((query: string) => ({
  matches: false,
  media: query,
  addEventListener() {},
  removeEventListener() {},
})) as unknown as typeof window.matchMedia
Element.prototype.scrollIntoView ??= () => {}
Element.prototype.hasPointerCapture ??= () => false
Element.prototype.animate ??= (() => ({ cancel() {}, finished: Promise.resolve(), onfinish: null })) as never
Element.prototype.getAnimations ??= () => []

afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.restoreAllMocks()
  localStorage.clear()
})
