import { faultOf } from '../../lib/api'
import type { CallCard, RunView } from '../../lib/state/run.svelte'
import type { SessionView } from '../../lib/state/session.svelte'
import { t } from '../../lib/text'
import { done, failed } from '../../lib/ui/toast'

/** Whether a call has changed a file in a way that is kept for an undo. */
export const changesFiles = (card: CallCard): boolean =>
  card.state === 'succeeded' && /^fs_(write|edit|delete|mkdir)$/.test(card.call.name)

/**
 * Takes back what a run did to files, or one call of it. It is true when all of
 * it was; what could not be is told in the session by a notice.
 */
export async function undo(view: SessionView, run: RunView, call = ''): Promise<boolean> {
  try {
    const { files } = await view.undo(run.id, call)
    const back = files.filter((f) => !f.problem).length
    done(t.run.undone(back, files.length - back))
    return back === files.length
  } catch (thrown) {
    failed(faultOf(thrown))
    return false
  }
}
