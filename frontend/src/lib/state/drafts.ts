const prefix = 'gofer.draft.'

/** The draft of a session, kept over restarts; "" is the session not yet made. */
export function readDraft(sessionID: string): string {
  try {
    return localStorage.getItem(prefix + sessionID) ?? ''
  } catch {
    return ''
  }
}

/** Keeps a draft; an empty one is forgotten. */
export function writeDraft(sessionID: string, text: string) {
  try {
    if (text === '') localStorage.removeItem(prefix + sessionID)
    else localStorage.setItem(prefix + sessionID, text)
  } catch {
    // Storage may be full or off: the draft then lives as long as the window.
  }
}
