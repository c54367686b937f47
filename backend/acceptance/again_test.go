//go:build linux

package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/cli"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// card is a run that waits for the person when its process ends.
type card struct {
	name   string
	call   script.Call
	answer engine.Answer
	kept   string // what a.txt holds in the end; empty when there must be none
	result string // outcome of the call, when it is no success
	calls  int    // made in all, the first look among them
}

var cards = []card{
	{name: "approval, then yes", call: script.Tool("fs_write", args{"path": "a.txt", "content": "<a> & b"}), answer: engine.Answer{Allow: true, Scope: "once"}, kept: "<a> & b", calls: 2},
	{name: "approval, then no", call: script.Tool("fs_write", args{"path": "a.txt", "content": "a"}), answer: engine.Answer{Note: "not now"}, result: "not allowed", calls: 1},
	{name: "question", call: script.Tool("ask_clarification", args{"title": "Which colour?", "options": []args{{"label": "Red"}, {"label": "Blue"}}}), answer: engine.Answer{Text: "Blue"}, result: "Blue", calls: 2},
}

func TestACardIsShownAgainAfterTheEndOfTheProcess(t *testing.T) {
	for _, c := range cards {
		for how, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "closed": syscall.SIGTERM} {
			t.Run(c.name+", "+how, func(t *testing.T) { c.play(t, signal) })
		}
	}
}

// play ends a process while the card is open, twice, and answers it in a third.
// The model has another call ready, should anybody ask it for one too early.
func (c card) play(t *testing.T, signal syscall.Signal) {
	dir, cwd := newHome(t), t.TempDir()
	first := script.Calls(script.Tool("fs_list", args{"path": "."}))
	model := llmtest.Serve(t, script.Script{Model: "card", Turns: []script.Turn{first, script.Calls(c.call), script.Says("Done.")}})
	p := open(t, dir)
	if _, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Scripted", BaseURL: model.URL, Model: "card", Default: true}); err != nil {
		t.Fatal(err)
	}
	p.unnamed()
	session := p.session(engine.SessionSpec{Mode: "ask", Workspace: cwd})
	p.end()

	child := start(t, spec{home: dir, cwd: cwd, as: "prompt"}, session.ID, "Go.")
	var shown event.Envelope
	for e := range child.events {
		if shown = e; cardOf(e.Data) != "" {
			break
		}
	}
	if err := child.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	child.code(t, 10*time.Second)

	for ends := range 2 { // the second end is that of a run that waits again
		p = open(t, dir)
		again := p.waits(session.ID)
		if got, want := cardOf(again.Question)+cardOf(again.Approval), cardOf(shown.Data); got != want || again.RunID != shown.RunID {
			t.Fatalf("run %s shows\n%s\nwant run %s and\n%s", again.RunID, got, shown.RunID, want)
		}
		if n := len(model.Requests()); n != 2 {
			t.Fatalf("the model was asked %d times before the answer, want 2", n)
		}
		if _, err := os.Stat(filepath.Join(cwd, "a.txt")); err == nil {
			t.Fatal("the call was made before the answer")
		}
		if ends == 0 {
			p.end()
		} else if err := p.Answer(t.Context(), waitID(again), c.answer); err != nil {
			t.Fatal(err)
		}
	}
	if end := p.finished(session.ID, shown.RunID, 20*time.Second); end.State != event.RunIsCompleted || end.Calls != c.calls {
		t.Errorf("the run ended %s after %d calls (%+v), want completed after %d", end.State, end.Calls, end.Error, c.calls)
	}
	p.end()
	kept := read(t, dir, session.ID)
	kept.check(t)
	got, _ := os.ReadFile(filepath.Join(cwd, "a.txt"))
	if string(got) != c.kept {
		t.Errorf("a.txt holds %q, want %q", got, c.kept)
	}
	r := kept.messages[4].Result
	if r == nil || c.result != "" && r.Outcome != c.result || r.State == chat.CallUnknown {
		t.Errorf("the call was answered %+v, want the outcome %q", r, c.result)
	}
}

func TestACommandWithoutAPersonRefusesWhatWaitsSinceTheLastEnd(t *testing.T) {
	dir, cwd := newHome(t), t.TempDir()
	model := llmtest.Serve(t, script.Script{Model: "card", Turns: []script.Turn{script.Calls(script.Tool("fs_write", args{"path": "a.txt", "content": "a"})), script.Says("Done without it.")}})
	p := open(t, dir)
	if _, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Scripted", BaseURL: model.URL, Model: "card", Default: true}); err != nil {
		t.Fatal(err)
	}
	p.unnamed()
	session := p.session(engine.SessionSpec{Mode: "ask", Workspace: cwd})
	p.end()
	child := start(t, spec{home: dir, cwd: cwd, as: "prompt"}, session.ID, "Go.")
	for e := range child.events {
		if cardOf(e.Data) != "" {
			break
		}
	}
	child.kill()
	code, out, stderr := gofer(t, spec{home: dir, cwd: cwd}, "sessions", "continue", "last")
	if code != cli.ExitRefused || !strings.Contains(out, "Done without it.") || !strings.Contains(stderr, "want of permission: write: "+cwd) {
		t.Errorf("exit %d, standard output %q, standard error %q; want the answer and the grant that was missing", code, out, stderr)
	}
	if _, err := os.Stat(filepath.Join(cwd, "a.txt")); err == nil {
		t.Error("the file was written without anybody's leave")
	}
}

// waits returns what a session waits for, as soon as it does.
func (p *here) waits(sessionID string) engine.Wait {
	p.t.Helper()
	var found []engine.Wait
	until(p.t, 5*time.Second, "the card is shown", func() bool {
		snapshot, err := p.Snapshot(p.t.Context(), sessionID, engine.SnapshotQuery{})
		if err != nil {
			p.t.Fatal(err)
		}
		found = snapshot.Waits
		return len(found) == 1 && snapshot.Status.State == event.AwaitingUser
	})
	if len(found) != 1 {
		p.t.FailNow()
	}
	return found[0]
}

func waitID(w engine.Wait) string {
	if w.Question != nil {
		return w.Question.ID
	}
	return w.Approval.ID
}

// cardOf is what a person reads of a question or an approval, and the call it
// is about; empty for anything else.
func cardOf(data any) string {
	switch d := data.(type) {
	case event.ApprovalAsked:
		d.ID = ""
		data = d
	case *event.ApprovalAsked:
		if d == nil {
			return ""
		}
		return cardOf(*d)
	case event.ClarificationAsked:
		d.ID = ""
		data = d
	case *event.ClarificationAsked:
		if d == nil {
			return ""
		}
		return cardOf(*d)
	default:
		return ""
	}
	raw, _ := json.Marshal(data)
	return string(raw)
}
