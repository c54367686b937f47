import { en } from './en'

const locale = 'en'
const hour = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hour12: false })
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short' })
const date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const full = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })

/** Days between the calendar days of two moments. */
function daysAgo(at: number, now: number): number {
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0)
  return Math.round((midnight(now) - midnight(at)) / 86_400_000)
}

/** The group a moment belongs to in the list of sessions. */
export function dayGroup(at: number, now: number): string {
  const days = daysAgo(at, now)
  if (days <= 0) return en.sidebar.today
  if (days === 1) return en.sidebar.yesterday
  if (days < 8) return en.sidebar.lastWeek
  if (days < 31) return en.sidebar.lastMonth
  return en.sidebar.earlier
}

/** A moment as the list shows it under its group: "14:02", "Wed", "3 Nov". */
export function when(at: number, now: number): string {
  const days = daysAgo(at, now)
  if (days <= 1) return hour.format(at)
  if (days < 8) return weekday.format(at)
  return date.format(at)
}

/** A moment that stands alone: "14:02", "Yesterday 18:42", "3 Nov 2026 18:42". */
export function clock(at: number, now: number): string {
  const days = daysAgo(at, now)
  if (days <= 0) return hour.format(at)
  if (days === 1) return `${en.sidebar.yesterday} ${hour.format(at)}`
  return `${days < 300 ? date.format(at) : full.format(at)} ${hour.format(at)}`
}

/** A day that stands alone: "3 Nov 2026". */
export function day(at: number): string {
  return full.format(at)
}
