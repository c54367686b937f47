import type { Leg } from '../api'

/** What a leg weighs that names no weight. */
export const usualWeight = 100

const weight = (l: Leg) => l.weight || usualWeight

/** Legs as they are tried: heavier ones first, equal ones as listed. */
export function inOrder(legs: Leg[]): Leg[] {
  return [...legs].sort((a, b) => weight(b) - weight(a))
}

/**
 * Moves a leg to another place. It takes the weight of the one it passes where
 * its own would put it back.
 */
export function moved(legs: Leg[], from: number, to: number): Leg[] {
  const place = Math.max(0, Math.min(legs.length - 1, to))
  const passed = legs[place]
  if (place === from || !passed || !legs[from]) return legs
  const left = legs.filter((_, i) => i !== from)
  let leg = legs[from]
  const puts = place < from ? weight(leg) < weight(passed) : weight(leg) > weight(passed)
  if (puts) leg = { ...leg, weight: weight(passed) }
  return [...left.slice(0, place), leg, ...left.slice(place)]
}
