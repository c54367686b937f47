/** One line of a difference. */
export interface DiffLine {
  sign: '+' | '-' | ' ' | '@'
  text: string
}

/** Reads a unified diff, or returns undefined when text is none. */
export function parseDiff(text: string): DiffLine[] | undefined {
  // Only what comes before the first @@ is a head: after it every line is content,
  // also one that looks like a head, such as a removed SQL comment.
  const first = /^@@ .*@@/m.exec(text)?.index
  if (first === undefined) return undefined
  return text
    .slice(first)
    .replace(/\n$/, '')
    .split('\n')
    .filter((line) => !/^(\\ No newline|@@ -0,0 )/.test(line))
    .map((line): DiffLine => {
      if (line.startsWith('@@')) return { sign: '@', text: line }
      const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' '
      return { sign, text: line.slice(1) }
    })
}

/** What a replacement changes: the same lines at both ends stay, the rest goes and comes. */
export function replaced(before: string, after: string): DiffLine[] {
  const a = before === '' ? [] : before.replace(/\n$/, '').split('\n')
  const b = after === '' ? [] : after.replace(/\n$/, '').split('\n')
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++
  const lines = (from: string[], start: number, end: number, sign: DiffLine['sign']) =>
    from.slice(start, end).map((text) => ({ sign, text }))
  return [
    ...lines(a, Math.max(0, head - 2), head, ' '),
    ...lines(a, head, a.length - tail, '-'),
    ...lines(b, head, b.length - tail, '+'),
    ...lines(b, b.length - tail, Math.min(b.length, b.length - tail + 2), ' '),
  ]
}

/** How many lines came and went. */
export function tally(lines: DiffLine[]): { added: number; removed: number } {
  return {
    added: lines.filter((l) => l.sign === '+').length,
    removed: lines.filter((l) => l.sign === '-').length,
  }
}
