//go:build linux

package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/home"
	"gofer/backend/host"
	"gofer/backend/store"
)

// here is an engine in this process, with everything it told.
type here struct {
	host.Service
	t   *testing.T
	dir string
	end func()

	mu     sync.Mutex
	events []event.Envelope
}

// open makes this process the host of a home, without the command line.
func open(t *testing.T, dir string) *here {
	t.Helper()
	return openWith(t, dir, engine.Options{})
}

func openWith(t *testing.T, dir string, o engine.Options) *here {
	t.Helper()
	o.Version, o.Headless = version, true
	build := func(h *home.Home) (host.Service, func(), error) {
		e, err := engine.Build(h, o)
		if err != nil {
			return nil, nil, err
		}
		return e, func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}, nil
	}
	s, end, err := host.OpenDir(t.Context(), dir, false, build, host.Options{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	p := &here{Service: s, t: t, dir: dir, end: sync.OnceFunc(end)}
	t.Cleanup(p.end)
	events, err := s.Events(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for e := range events {
			p.mu.Lock()
			p.events = append(p.events, e)
			p.mu.Unlock()
		}
	}()
	return p
}

// unnamed leaves the naming of sessions to their first words, so that a model is
// asked for nothing but the runs.
func (p *here) unnamed() {
	p.t.Helper()
	settings, err := p.Settings(p.t.Context())
	if err == nil {
		settings.Titles = "prompt"
		_, err = p.SaveSettings(p.t.Context(), settings)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// told returns what was published of a session so far.
func (p *here) told(sessionID string) []event.Envelope {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.events), func(e event.Envelope) bool { return e.SessionID != sessionID })
}

// session makes a session; send starts a run in it.
func (p *here) session(s engine.SessionSpec) engine.Session {
	p.t.Helper()
	if s.Workspace == "" {
		s.Workspace = p.t.TempDir()
	}
	made, err := p.CreateSession(p.t.Context(), s)
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

func (p *here) send(sessionID, text string) (runID string) {
	p.t.Helper()
	runID, err := p.SendPrompt(p.t.Context(), sessionID, chat.Prompt{Text: text})
	if err != nil {
		p.t.Fatal(err)
	}
	return runID
}

// finished waits for the end of a run.
func (p *here) finished(sessionID, runID string, within time.Duration) event.RunFinished {
	p.t.Helper()
	var end event.RunFinished
	until(p.t, within, "the run has finished", func() bool {
		for _, e := range p.told(sessionID) {
			if d, ok := e.Data.(event.RunFinished); ok && e.RunID == runID {
				end = d
				return true
			}
		}
		return false
	})
	return end
}

// record is what the database of a home that nobody uses now holds of a session.
type record struct {
	events   []event.Envelope
	messages []chat.Message
	runs     []store.Run
}

func read(t *testing.T, dir, sessionID string) record {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "gofer.db"), Blobs: filepath.Join(dir, "blobs"), Backups: filepath.Join(dir, "backups")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events, err1 := s.Events(t.Context(), sessionID, 0)
	messages, _, err2 := s.Messages(t.Context(), sessionID, 0, -1)
	runs, err3 := s.Runs(t.Context(), sessionID)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return record{events, messages, runs}
}

// check finds what must never be: gaps in the event log, a run that finished
// twice or not at all, a call with no answer or two.
func (r record) check(t *testing.T) {
	t.Helper()
	finished := map[string]int{}
	for i, e := range r.events {
		if e.Seq != int64(i+1) {
			t.Fatalf("the event log has seq %d at place %d", e.Seq, i+1)
		}
		if _, ok := e.Data.(event.RunFinished); ok {
			finished[e.RunID]++
		}
	}
	for _, run := range r.runs {
		if finished[run.ID] != 1 {
			t.Errorf("run %s in state %s told run.finished %d times, want once", run.ID, run.State, finished[run.ID])
		}
	}
	made, answers := map[string]bool{}, map[string]int{}
	for i, m := range r.messages {
		if m.Seq != int64(i+1) {
			t.Errorf("the transcript has seq %d at place %d", m.Seq, i+1)
		}
		for _, c := range m.Calls {
			made[c.ID] = true
		}
		if m.Result != nil {
			answers[m.Result.CallID]++
		}
	}
	for id := range made {
		if answers[id] != 1 {
			t.Errorf("call %s has %d answers, want one", id, answers[id])
		}
	}
	if len(answers) != len(made) {
		t.Errorf("%d calls are answered, %d were made", len(answers), len(made))
	}
}

// sameEvents compares the stored events with those that somebody was told, who
// may have come late and left early but has missed nothing in between.
func sameEvents(t *testing.T, who string, stored, told []event.Envelope) {
	t.Helper()
	told = slices.DeleteFunc(slices.Clone(told), event.Envelope.Passing)
	if len(told) == 0 {
		t.Errorf("%s: nothing was told", who)
		return
	}
	for i, e := range told {
		at := int(told[0].Seq) - 1 + i
		if e.Seq != int64(at+1) || at >= len(stored) {
			t.Errorf("%s: got seq %d (%s) at place %d after %d", who, e.Seq, e.Type, i, told[0].Seq)
			return
		}
		got, _ := json.Marshal(e)
		want, _ := json.Marshal(stored[at])
		if string(got) != string(want) {
			t.Errorf("%s: seq %d: told\n%s\nstored\n%s", who, e.Seq, got, want)
		}
	}
}

// lively measures how long bound calls take while work goes on.
func lively(t *testing.T, s host.Service, sessionID func() string) (stop func() []time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	out := make(chan []time.Duration, 1)
	go func() {
		var took []time.Duration
		for n := 0; ctx.Err() == nil; n++ {
			began := time.Now()
			var err error
			switch id := sessionID(); {
			case n%3 == 0 || id == "":
				_, err = s.Sessions(ctx, engine.SessionQuery{})
			case n%3 == 1:
				_, err = s.Snapshot(ctx, id, engine.SnapshotQuery{})
			default:
				_, err = s.Status(ctx, id)
			}
			if err == nil {
				took = append(took, time.Since(began))
			} else if ctx.Err() == nil {
				t.Errorf("a bound call failed during the run: %v", err)
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		out <- took
	}()
	return func() []time.Duration { cancel(); return <-out }
}
