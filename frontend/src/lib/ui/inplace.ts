/**
 * For a form that opens in its place: its first field takes the focus, Escape
 * closes it and nothing else. Where it stands inside another form, Enter sends
 * this one.
 */
export function inPlace(close: () => void, send?: () => void) {
  return (node: HTMLElement) => {
    node.querySelector<HTMLElement>('input, select')?.focus()
    const onkeydown = (e: KeyboardEvent) => {
      if (e.defaultPrevented || e.isComposing) return
      if (e.key === 'Escape') close()
      else if (e.key === 'Enter' && send && e.target instanceof HTMLInputElement) send()
      else return
      e.preventDefault()
    }
    node.addEventListener('keydown', onkeydown)
    return () => node.removeEventListener('keydown', onkeydown)
  }
}
