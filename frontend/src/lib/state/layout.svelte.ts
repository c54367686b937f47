/** Below these widths, in units of the text size, a pane lies over the session. */
const panelOver = 1000
const sidebarOver = 820

/** Which panes are open, and whether they lie beside the session or over it. */
export class Layout {
  private width = $state(1200)
  private zoom = $state(100)
  private sidebarWanted = $state(true)
  private panelWanted = $state(true)
  private sidebarSheet = $state(false)
  private panelSheet = $state(false)

  sidebarOver = $derived((this.width * 100) / this.zoom < sidebarOver)
  panelOver = $derived((this.width * 100) / this.zoom < panelOver)
  sidebar = $derived(this.sidebarOver ? this.sidebarSheet : this.sidebarWanted)
  panel = $derived(this.panelOver ? this.panelSheet : this.panelWanted)

  resize(width: number, zoom: number) {
    this.width = width
    this.zoom = zoom
  }

  toggleSidebar = () => {
    if (this.sidebarOver) {
      this.sidebarSheet = !this.sidebarSheet
      this.panelSheet = false
    } else this.sidebarWanted = !this.sidebarWanted
  }

  togglePanel = () => {
    if (this.panelOver) {
      this.panelSheet = !this.panelSheet
      this.sidebarSheet = false
    } else this.panelWanted = !this.panelWanted
  }

  /** Closes what lies over the session. Returns whether anything did. */
  closeSheets = (): boolean => {
    const any = (this.sidebarOver && this.sidebarSheet) || (this.panelOver && this.panelSheet)
    this.sidebarSheet = this.panelSheet = false
    return any
  }
}
