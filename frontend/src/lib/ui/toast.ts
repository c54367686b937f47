import { toast } from 'svelte-sonner'
import { t } from '../text'

/** Says that something was done that can be undone. */
export function undoable(message: string, undo: () => void) {
  toast(message, { action: { label: t.sidebar.undo, onClick: undo } })
}

/** Says that something finished elsewhere. */
export function done(message: string) {
  toast(message)
}

/** Says that something failed whose place is not in view. */
export function failed(fault: { message: string; hint: string }) {
  toast(fault.message, { description: fault.hint })
}
