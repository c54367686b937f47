package engine

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"gofer/backend/home"
)

// learned remembers what refusals have taught about a server and a model, so
// that each is met once and not once a start. It may be lost without harm.
type learned struct {
	path string

	mu sync.Mutex
	by map[string][]string
}

func openLearned(path string) *learned {
	l := &learned{path: path, by: map[string][]string{}}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &l.by)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("what was learned about model servers cannot be read", "err", err)
	}
	if l.by == nil {
		l.by = map[string][]string{}
	}
	return l
}

// learnedKey names a model of a server.
func learnedKey(base, model string) string { return base + " " + model }

func (l *learned) of(base, model string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.by[learnedKey(base, model)])
}

// keep writes down all that is known about one model; nothing forgets it.
func (l *learned) keep(base, model string, lessons []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := learnedKey(base, model)
	if slices.Equal(l.by[key], lessons) {
		return
	}
	if l.by[key] = slices.Clone(lessons); len(lessons) == 0 {
		delete(l.by, key)
	}
	raw, err := json.MarshalIndent(l.by, "", "  ")
	if err == nil {
		err = home.WriteFile(l.path, append(raw, '\n'), 0o600)
	}
	if err != nil {
		slog.Warn("what was learned about a model server was not kept", "err", err)
	}
}
