import type { CallCard, Entry } from '../../lib/state/run.svelte'
import { toolKind } from '../../lib/text/tools'

/** A row of the timeline: an entry, or quiet reads folded into one. */
export type Step = Entry | { kind: 'reads'; id: string; cards: CallCard[] }

/** How many quiet reads in a row fold into one. */
const few = 3

/** Folds runs of quiet reads: finished well, and only looked. */
export function foldReads(entries: Entry[]): Step[] {
  const steps: Step[] = []
  let reads: (Entry & { kind: 'call' })[] = []
  const flush = () => {
    if (reads.length >= few)
      steps.push({ kind: 'reads', id: `reads-${reads[0]!.id}`, cards: reads.map((r) => r.card) })
    else steps.push(...reads)
    reads = []
  }
  for (const e of entries) {
    if (e.kind === 'call' && quiet(e.card)) reads.push(e)
    else {
      flush()
      steps.push(e)
    }
  }
  flush()
  return steps
}

function quiet(card: CallCard): boolean {
  return (
    card.state === 'succeeded' && !card.acts && ['read', 'file', 'web'].includes(toolKind(card.call.name))
  )
}
