import { EventsOn } from '../wailsjs/runtime/runtime'
import type { AppEvent } from './events.gen'

/** The one channel on which events arrive. */
export const channel = 'agent:event'

/**
 * Hears every event, in order. Events arrive alone or in lists; an empty list
 * says that some were missed, and calls missed instead. Returns what ends it.
 */
export function subscribe(heard: (e: AppEvent) => void, missed: () => void): () => void {
  return EventsOn(channel, (payload: AppEvent | AppEvent[]) => {
    if (!Array.isArray(payload)) heard(payload)
    else if (payload.length === 0) missed()
    else payload.forEach(heard)
  })
}
