/** A card takes no input for this long after it appears. */
export const deaf = 500

/**
 * Keeps a card from being answered by what was meant for something else: a
 * click or a key already on its way when it appears, or a key held down.
 */
export class Arming {
  armed = $state(false)

  attach = (node: HTMLElement) => {
    const timer = setTimeout(() => (this.armed = true), deaf)
    const refuse = (e: Event) => {
      if (e instanceof KeyboardEvent) {
        if (e.key === 'Tab' || e.key === 'F6' || e.key === 'Escape') return
        const presses = e.key === 'Enter' || e.key === ' '
        if (this.armed && !(e.repeat && presses && e.target instanceof HTMLButtonElement)) return
      } else if (this.armed) return
      e.preventDefault()
      e.stopPropagation()
    }
    const kinds = ['click', 'pointerdown', 'keydown', 'submit'] as const
    for (const kind of kinds) node.addEventListener(kind, refuse, true)
    return () => {
      clearTimeout(timer)
      for (const kind of kinds) node.removeEventListener(kind, refuse, true)
    }
  }

  /** Enter never means allow. Space still presses a button that has the focus. */
  noEnter = (e: KeyboardEvent) => {
    if (e.key === 'Enter') e.preventDefault()
  }
}
