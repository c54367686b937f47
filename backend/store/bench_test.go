package store_test

import (
	"testing"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/store"
	"gofer/backend/store/storetest"
)

// BenchmarkCommit is one fenced commit with what an iteration's steps carry.
func BenchmarkCommit(b *testing.B) {
	s := storetest.Open(b)
	row, err := s.CreateSession(b.Context(), store.Session{Title: "t", Workspace: "/tmp", Mode: "full", MaxIterations: 1})
	if err != nil {
		b.Fatal(err)
	}
	run, err := s.Enqueue(b.Context(), store.Run{SessionID: row.ID, MaxIterations: 1, Mode: "full"}, said("go"), "go")
	if err != nil {
		b.Fatal(err)
	}
	f, err := s.Start(b.Context(), run.ID, store.Route{}, event.Status{})
	if err != nil {
		b.Fatal(err)
	}
	commit := func(b *testing.B, do func(*store.Commit) error) {
		for b.Loop() {
			if err := f.Commit(b.Context(), do); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("nothing", func(b *testing.B) { commit(b, func(*store.Commit) error { return nil }) })
	b.Run("one event", func(b *testing.B) {
		commit(b, func(c *store.Commit) error { return c.Emit(event.Notice{Text: "x"}) })
	})
	b.Run("reply", func(b *testing.B) {
		commit(b, func(c *store.Commit) error {
			_, err := c.Reply(chat.Message{Parts: []chat.Part{{Type: chat.Text, Text: "I look"}}, Calls: []chat.ToolCall{call("fs_list")}}, chat.Usage{}, 1)
			return err
		})
	})
}
