/** An error a person will read: what failed in a sentence, and the way on. */
export class Fault extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint = '',
  ) {
    super(message)
    this.name = 'Fault'
  }
}

/** Turns whatever a call was refused with into a fault. */
export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  if (thrown instanceof Error) return new Fault('internal', thrown.message)
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
    const { code, message, hint } = thrown as { code?: unknown; message: unknown; hint?: unknown }
    return new Fault(
      typeof code === 'string' ? code : 'internal',
      String(message),
      typeof hint === 'string' ? hint : '',
    )
  }
  return new Fault('internal', String(thrown))
}
