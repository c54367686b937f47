import type { CallCard } from '../../lib/state/run.svelte'
import { parseDiff, replaced, tally, type DiffLine } from '../../lib/text/diff'

export { tally }

/** What a call that writes changes in a file, or undefined for all others. */
export function changeOf(card: CallCard): DiffLine[] | undefined {
  const a = card.call.arguments
  if (typeof a !== 'object' || a === null || Array.isArray(a)) return undefined
  const text = (key: string) => (typeof a[key] === 'string' ? a[key] : '')
  switch (card.call.name) {
    case 'fs_edit':
      return parseDiff(card.result?.text ?? '') ?? replaced(text('old_text'), text('new_text'))
    case 'fs_write':
      return parseDiff(card.result?.text ?? '') ?? replaced('', text('content'))
  }
  return undefined
}
