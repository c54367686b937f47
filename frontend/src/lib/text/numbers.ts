import { en } from './en'

/** 950 → "950", 12400 → "12.4k", 3200000 → "3.2M". */
export function count(n: number): string {
  if (n < 1000) return String(n)
  if (n < 999_950) return `${short(n / 1000)}k`
  return `${short(n / 1e6)}M`
}

function short(n: number): string {
  return n >= 100 ? n.toFixed(0) : n.toFixed(1).replace(/\.0$/, '')
}

/** 118 → "118 B", 2048 → "2 KB". */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`
  const units = ['KB', 'MB', 'GB', 'TB']
  let unit = -1
  do {
    n /= 1024
    unit++
  } while (n >= 1024 && unit < units.length - 1)
  return `${short(n)} ${units[unit]}`
}

/** How long a step took: "31 ms", "0.4 s", "12 s", "2 min 04 s". */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`
  return longDuration(ms)
}

/** How long a run takes, for a figure that ticks: "9 s", "2 min 04 s", "1 h 02 min". */
export function longDuration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000))
  if (s < 60) return `${s} s`
  const min = Math.floor(s / 60)
  if (min < 60) return `${min} min ${String(s % 60).padStart(2, '0')} s`
  return `${Math.floor(min / 60)} h ${String(min % 60).padStart(2, '0')} min`
}

/** US dollars: 0.034 → "$0.03", 0.002 → "under $0.01", 12.5 → "$12.50". */
export function money(n: number): string {
  if (n > 0 && n < 0.005) return en.numbers.underACent
  return `$${n.toFixed(2)}`
}

/** A price of a million tokens: 3 → "$3.00", 0.125 → "$0.125". */
export function price(n: number): string {
  const s = n.toFixed(4).replace(/0+$/, '')
  const [whole, cents = ''] = s.split('.')
  return `$${whole}.${cents.padEnd(2, '0')}`
}

/** What a person typed as a number: "200k" → 200000, "1.5m" → 1500000; undefined when it is none. */
export function tokens(raw: string): number | undefined {
  const found = /^(\d+(?:\.\d+)?)\s*([km]?)$/i.exec(raw.trim().replaceAll(/[ ,_](?=\d{3})/g, ''))
  if (!found) return undefined
  const unit = { k: 1000, m: 1e6 }[found[2]!.toLowerCase()] ?? 1
  return Math.round(Number(found[1]) * unit)
}
