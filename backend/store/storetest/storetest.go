// Package storetest lends tests a real SQLite store in a folder of their own.
package storetest

import (
	"path/filepath"
	"sync"
	"testing"

	"gofer/backend/event"
	"gofer/backend/store"
)

// Store is an open store that remembers what it published.
type Store struct {
	*store.Store
	Dir string

	mu        sync.Mutex
	published []event.Envelope
}

// Published returns the events told so far.
func (s *Store) Published() []event.Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]event.Envelope(nil), s.published...)
}

// Open makes a store in a fresh folder and closes it with the test.
func Open(t testing.TB) *Store {
	t.Helper()
	return OpenIn(t, t.TempDir())
}

// OpenIn opens the store of a folder, made if needed.
func OpenIn(t testing.TB, dir string) *Store {
	t.Helper()
	s := &Store{Dir: dir}
	opened, err := store.Open(t.Context(), store.Options{
		Path: filepath.Join(dir, "gofer.db"), Blobs: filepath.Join(dir, "blobs"), Backups: filepath.Join(dir, "backups"),
		Publish: func(events ...event.Envelope) {
			s.mu.Lock()
			s.published = append(s.published, events...)
			s.mu.Unlock()
		},
	})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	s.Store = opened
	t.Cleanup(func() { opened.Close() })
	return s
}
