import { render, screen } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import { CallCard } from '../../lib/state/run.svelte'
import type { ToolResult } from '../../lib/api'
import ToolRow from './ToolRow.svelte'

function row(name: string, args: Record<string, string>, result: Partial<ToolResult>): string {
  const card = new CallCard({ id: 'c-1', name, arguments: args })
  card.finish({ callId: 'c-1', name, state: 'succeeded', text: '', elapsedMs: 12, ...result } as ToolResult)
  render(ToolRow, { card })
  return screen.getByRole('button').textContent!.replace(/\s+/g, ' ').trim()
}

describe('the row of a call', () => {
  it('does not tell as done what was not done, and says why', () => {
    expect(row('fs_write', { path: 'a.txt' }, { state: 'failed', outcome: 'not allowed' })).toMatch(
      /^Writing a\.txt · not allowed/,
    )
  })
  it('has a word for a failure without one', () => {
    expect(row('browser_open', { url: 'https://a.example' }, { state: 'failed' })).toMatch(
      /^Opening a\.example · Failed/,
    )
  })
  it('tells a command that failed as run', () => {
    expect(row('shell_exec', { command: 'false' }, { state: 'failed', outcome: 'exit 1' })).toMatch(
      /^Ran false · exit 1/,
    )
  })
  it('says what a write changed once', () => {
    const text = row('fs_write', { path: 'a.txt', content: 'x\n' }, { outcome: '+1 −0' })
    expect(text).toMatch(/^Wrote a\.txt \+1 −0/)
    expect(text.match(/\+1/g)).toHaveLength(1)
  })
  it('shows what cannot be seen in a command', () => {
    expect(row('shell_exec', { command: 'echo \u202egpj.exe' }, {})).toContain('echo U+202E')
  })
})
