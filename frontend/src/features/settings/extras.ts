import type { Provider, ProviderSpec } from '../../lib/api'

/** What a person may say about a server beside its address: limits in seconds, and traits. */
export type Extras = Required<Pick<ProviderSpec, 'limits' | 'profile'>>

const seconds = ['connect', 'firstByte', 'silence', 'ceiling'] as const

/** The fields of the form as typed; an empty one takes what is usual. */
export type ExtraFields = Record<(typeof seconds)[number] | 'traits', string>

/** Writes what is stored into the fields. */
export function writeExtras(p: Pick<Provider, 'limits' | 'profile'>): ExtraFields {
  const of = (n: number | undefined) => (n ? String(n) : '')
  const traits = p.profile && Object.keys(p.profile).length > 0 ? JSON.stringify(p.profile) : ''
  return {
    connect: of(p.limits?.connect),
    firstByte: of(p.limits?.firstByte),
    silence: of(p.limits?.silence),
    ceiling: of(p.limits?.ceiling),
    traits,
  }
}

/** Reads the fields; `wrong` names the first that cannot be read. */
export function readExtras(fields: ExtraFields): { extras: Extras; wrong?: keyof ExtraFields } {
  const extras: Extras = { limits: {}, profile: {} }
  for (const key of seconds) {
    const raw = fields[key].trim()
    if (raw === '') continue
    const n = Number(raw)
    if (!Number.isInteger(n) || n < 1) return { extras, wrong: key }
    extras.limits[key] = n
  }
  const raw = fields.traits.trim()
  if (raw === '') return { extras }
  try {
    const traits: unknown = JSON.parse(raw)
    if (typeof traits !== 'object' || traits === null || Array.isArray(traits))
      return { extras, wrong: 'traits' }
    extras.profile = traits as Extras['profile']
  } catch {
    return { extras, wrong: 'traits' }
  }
  return { extras }
}

/** Whether two say the same, in whatever order their names stand. */
export function sameExtras(a: Extras | undefined, b: Extras | undefined): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
