import { SvelteMap } from 'svelte/reactivity'
import { api, faultOf, type AppEvent, type Fault, type Session } from '../api'
import { lookOf, type Look } from './run.svelte'

/** A session as the list shows it. */
export interface Row {
  id: string
  title: string
  look: Look | undefined
  seen: boolean
  updatedAt: number
  startedAt: number
  match: string
}

/** Sessions loaded at a time. */
const pageSize = 200

/** The list of sessions, newest first, and what it is narrowed to. */
export class SessionList {
  private all = new SvelteMap<string, Row>()
  private hits = $state.raw<Row[]>()
  search = $state('')
  loaded = $state(false)
  /** Older sessions exist that are not loaded yet. */
  more = $state(false)
  failure = $state.raw<Fault>()
  private asked = 0

  rows = $derived(
    this.search.trim() === ''
      ? [...this.all.values()].sort((a, b) => b.updatedAt - a.updatedAt)
      : (this.hits ?? []).map((hit) => ({ ...hit, ...this.all.get(hit.id), match: hit.match })),
  )
  empty = $derived(this.loaded && this.all.size === 0)

  async load() {
    try {
      const sessions = await api.sessions({ search: '', limit: pageSize, offset: 0 })
      this.more = sessions.length === pageSize
      this.all.clear()
      for (const s of sessions) this.all.set(s.id, rowOf(s))
      this.loaded = true
      this.failure = undefined
    } catch (thrown) {
      this.failure = faultOf(thrown)
    }
  }

  /** Loads the sessions before those that are shown. */
  async loadMore() {
    const sessions = await api.sessions({ search: '', limit: pageSize, offset: this.all.size })
    this.more = sessions.length === pageSize
    for (const s of sessions) this.add(s)
  }

  /** Narrows the list to sessions that hold a text. */
  async find(text: string) {
    this.search = text
    const asked = ++this.asked
    if (text.trim() === '') {
      this.hits = undefined
      return
    }
    try {
      const sessions = await api.sessions({ search: text.trim(), limit: 100, offset: 0 })
      if (asked === this.asked) this.hits = sessions.map(rowOf)
    } catch (thrown) {
      if (asked === this.asked) this.failure = faultOf(thrown)
    }
  }

  apply(e: AppEvent) {
    switch (e.type) {
      case 'session.changed': {
        const d = e.data
        this.all.set(d.id, {
          id: d.id,
          title: d.title,
          look: lookOf(d.state, d.reason),
          seen: d.seen,
          updatedAt: d.updatedAt,
          startedAt: d.startedAt ?? 0,
          match: '',
        })
        return
      }
      case 'session.deleted':
        this.all.delete(e.data.id)
        this.hits = this.hits?.filter((h) => h.id !== e.data.id)
    }
  }

  /** Puts in a session that was just made here. */
  add(s: Session) {
    if (!this.all.has(s.id)) this.all.set(s.id, rowOf(s))
  }

  has(id: string): boolean {
    return this.all.has(id)
  }

  /** The session that comes into the place of one that goes. */
  neighbour(id: string): string | undefined {
    const i = this.rows.findIndex((r) => r.id === id)
    return (this.rows[i + 1] ?? this.rows[i - 1])?.id
  }

  async rename(id: string, title: string) {
    const row = this.all.get(id)
    if (!row || title === '' || title === row.title) return
    this.all.set(id, { ...row, title })
    try {
      await api.changeSession(id, { title })
    } catch (thrown) {
      this.all.set(id, row)
      throw thrown
    }
  }

  /** Takes a session out at once; undo brings it back. */
  async remove(id: string) {
    const row = this.all.get(id)
    this.all.delete(id)
    try {
      await api.deleteSession(id)
    } catch (thrown) {
      if (row) this.all.set(id, row)
      throw thrown
    }
  }

  async restore(id: string) {
    await api.restoreSession(id)
    await this.load()
  }
}

function rowOf(s: Session): Row {
  return {
    id: s.id,
    title: s.title,
    look: lookOf(s.state, s.reason),
    seen: s.seen,
    updatedAt: s.updatedAt,
    startedAt: s.startedAt ?? 0,
    match: s.match ?? '',
  }
}
