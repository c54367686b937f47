import type { AgreementChanged, AgreementLine } from '../../lib/api'
import { money, t } from '../../lib/text'

/** What lines of an agreement are about. */
export type LineKind = 'sites' | 'folders' | 'commands'

/** The kind of a line by its class. */
export function lineKind(line: AgreementLine): LineKind {
  if (/_file$/.test(line.class)) return 'folders'
  return line.class === 'run_command' ? 'commands' : 'sites'
}

/** The lines by kind, in a fixed order, without kinds that have none. */
export function groupLines(lines: AgreementLine[]): { kind: LineKind; lines: AgreementLine[] }[] {
  return (['sites', 'folders', 'commands'] as const)
    .map((kind) => ({ kind, lines: lines.filter((l) => lineKind(l) === kind) }))
    .filter((g) => g.lines.length > 0)
}

/** What is agreed in a few words: "2 sites, 1 folder, up to $1.00". */
export function inShort(a: AgreementChanged): string {
  const holds = a.lines.filter((l) => !l.revoked)
  const first = holds.filter((l) => !l.added)
  const count = (kind: LineKind) =>
    new Set(first.filter((l) => lineKind(l) === kind).map((l) => l.object)).size
  const added = holds.length - first.length
  const parts = [
    ...(['sites', 'folders', 'commands'] as const).map(
      (k) => count(k) > 0 && t.agreement.counts[k](count(k)),
    ),
    added > 0 && t.agreement.counts.added(added),
    a.spend && t.agreement.short(money(a.spend)),
    a.iterations && t.agreement.shortIterations(a.iterations),
  ].filter((p) => typeof p === 'string')
  return holds.length === 0 ? t.agreement.nothing : parts.join(', ')
}
