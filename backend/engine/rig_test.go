package engine_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/home"
	"gofer/backend/llm/script"
	"gofer/backend/logbook"
)

// rig is an engine on a home of its own and a scripted model.
type rig struct {
	*engine.Engine
	t      *testing.T
	home   *home.Home
	work   string
	model  *script.Server
	now    func() time.Time // nil takes the clock
	events <-chan event.Envelope
	seen   []event.Envelope

	redactor *logbook.Redactor // nil lets the engine make one
}

func newRig(t *testing.T, scripts ...script.Script) *rig {
	t.Helper()
	t.Setenv("GOFER_KEYRING", "off")
	r := &rig{t: t, work: filepath.Join(t.TempDir(), "work")}
	var err error
	if r.model, err = script.Serve(scripts...); err != nil {
		t.Fatal(err)
	}
	r.home, err = home.Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	r.open()
	t.Cleanup(func() {
		r.Close()
		r.model.Close()
		if p := r.model.Problems(); len(p) > 0 {
			t.Errorf("the model says: %s", strings.Join(p, "; "))
		}
	})
	return r
}

func (r *rig) open() {
	r.t.Helper()
	e, err := engine.Build(r.home, engine.Options{Version: "test", Headless: true, Redactor: r.redactor, Now: r.now})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Engine = e
	r.events, err = e.Events(r.t.Context(), "")
	if err != nil {
		r.t.Fatal(err)
	}
}

// session makes a session that speaks to the scripted model.
func (r *rig) session(model, mode string) engine.Session {
	r.t.Helper()
	s, err := r.CreateSession(r.t.Context(), engine.SessionSpec{Workspace: r.work, Mode: mode, Endpoint: &engine.Endpoint{BaseURL: r.model.URL, Model: model}})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) send(s engine.Session, text string) string {
	r.t.Helper()
	runID, err := r.SendPrompt(r.t.Context(), s.ID, chat.Prompt{Text: text})
	if err != nil {
		r.t.Fatal(err)
	}
	return runID
}

// until reads events up to the first that fits.
func (r *rig) until(what string, fits func(event.Envelope) bool) event.Envelope {
	r.t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case e, ok := <-r.events:
			if !ok {
				r.t.Fatalf("the events ended before %s", what)
			}
			r.seen = append(r.seen, e)
			if fits(e) {
				return e
			}
		case <-late:
			r.t.Fatalf("%s did not come; the last events were %v", what, types(r.seen[max(0, len(r.seen)-12):]))
		}
	}
}

func (r *rig) finished(runID string) event.RunFinished {
	r.t.Helper()
	e := r.until("the end of the run", func(e event.Envelope) bool { return e.Type == "run.finished" && e.RunID == runID })
	return e.Data.(event.RunFinished)
}

func ofType(name string) func(event.Envelope) bool {
	return func(e event.Envelope) bool { return e.Type == name }
}

func types(events []event.Envelope) []string {
	var out []string
	for _, e := range events {
		if len(out) == 0 || out[len(out)-1] != e.Type {
			out = append(out, e.Type)
		}
	}
	return out
}

func (r *rig) snapshot(s engine.Session) engine.Snapshot {
	r.t.Helper()
	snap, err := r.Snapshot(r.t.Context(), s.ID, engine.SnapshotQuery{})
	if err != nil {
		r.t.Fatal(err)
	}
	return snap
}

// results returns the answers of all calls of a session.
func results(s engine.Snapshot) []chat.ToolResult {
	var out []chat.ToolResult
	for _, m := range s.Messages {
		if m.Result != nil {
			out = append(out, *m.Result)
		}
	}
	return out
}

func turns(model string, turns ...script.Turn) script.Script {
	return script.Script{Model: model, Turns: turns}
}

func write(path, content string) script.Turn {
	return script.Calls(script.Tool("fs_write", map[string]any{"path": path, "content": content}))
}
