import { createSubscriber } from 'svelte/reactivity'

const tick = createSubscriber((update) => {
  const timer = setInterval(update, 1000)
  return () => clearInterval(timer)
})

/** The time now. Read in an effect or a template it is read anew each second, while anyone looks. */
export function now(): number {
  tick()
  return Date.now()
}
