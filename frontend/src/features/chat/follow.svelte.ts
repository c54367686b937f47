import { tick } from 'svelte'

/** Closer to the end than this counts as being there. */
const near = 32

/**
 * The one owner of the transcript's scroll position: it stays at the end until
 * the person scrolls up, and keeps the place when older turns come in above.
 */
export class Follow {
  following = $state(true)
  private scroller: HTMLElement | undefined
  private last = 0

  /** Attaches to the scrolling element; its first child is the content. */
  attach = (node: HTMLElement) => {
    this.scroller = node
    const onscroll = () => {
      const gap = node.scrollHeight - node.scrollTop - node.clientHeight
      if (gap <= near) this.following = true
      else if (node.scrollTop < this.last - 1) this.following = false
      this.last = node.scrollTop
    }
    node.addEventListener('scroll', onscroll, { passive: true })
    const grown = new ResizeObserver(() => {
      if (this.following) this.jump()
    })
    grown.observe(node)
    if (node.firstElementChild) grown.observe(node.firstElementChild)
    return () => {
      node.removeEventListener('scroll', onscroll)
      grown.disconnect()
    }
  }

  /** Goes to the end and stays there. */
  toEnd = () => {
    this.following = true
    this.jump()
  }

  /** Runs what puts content in above, and holds the place that is being read. */
  async hold(grow: () => Promise<void>) {
    const node = this.scroller
    const before = node ? node.scrollHeight - node.scrollTop : 0
    await grow()
    await tick()
    if (node) node.scrollTop = node.scrollHeight - before
  }

  private jump() {
    if (!this.scroller) return
    this.scroller.scrollTop = this.scroller.scrollHeight
    this.last = this.scroller.scrollTop
  }
}
