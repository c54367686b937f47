import { en, type Messages } from './en'

const languages: Record<string, Messages> = { en }

/** The texts of the language in use. */
export const t: Messages =
  languages[typeof navigator === 'undefined' ? 'en' : navigator.language.slice(0, 2)] ?? en

export { clause } from './clause'
export { bytes, count, duration, longDuration, money, price, tokens } from './numbers'
export { clock, day, dayGroup, when } from './time'
export { unfenced, visible } from './visible'
