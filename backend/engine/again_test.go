package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
)

// saved makes a session that finds its model again after a restart.
func (r *rig) saved(model, mode string) (engine.Session, engine.Provider) {
	r.t.Helper()
	p, err := r.SaveProvider(r.t.Context(), engine.ProviderSpec{Name: "Scripted", BaseURL: r.model.URL, Model: model, Default: true})
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := r.CreateSession(r.t.Context(), engine.SessionSpec{Workspace: r.work, Mode: mode})
	if err != nil {
		r.t.Fatal(err)
	}
	return s, p
}

func (r *rig) restart() { r.t.Helper(); r.Close(); r.open() }

func (r *rig) approval() event.ApprovalAsked {
	r.t.Helper()
	return r.until("the approval", ofType("approval.asked")).Data.(event.ApprovalAsked)
}

func (r *rig) question() event.ClarificationAsked {
	r.t.Helper()
	return r.until("the question", ofType("clarification.asked")).Data.(event.ClarificationAsked)
}

func TestLeaveForACardOfBeforeIsNoLeaveForWhatTheCallWouldDoNow(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "new"), script.Says("done")))
	s, _ := r.saved("m", "ask")
	runID := r.send(s, "go")
	first := r.approval()
	r.Close()
	if err := os.MkdirAll(r.work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.work, "a.txt"), []byte("of somebody else"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.open()
	again := r.approval()
	if again.Deeds[0].Detail != first.Deeds[0].Detail || again.CallID != first.CallID {
		t.Fatalf("shown again: %+v, want %+v", again, first)
	}
	if err := r.Answer(t.Context(), again.ID, engine.Answer{Allow: true}); err != nil {
		t.Fatal(err)
	}
	now := r.approval()
	if now.CallID != first.CallID || now.ID == again.ID {
		t.Fatalf("asked %+v after the file had changed", now)
	}
	if raw, err := os.ReadFile(filepath.Join(r.work, "a.txt")); err != nil || string(raw) != "of somebody else" {
		t.Fatalf("a.txt holds %q before the second answer, %v", raw, err)
	}
	if err := r.Answer(t.Context(), now.ID, engine.Answer{Note: "no"}); err != nil {
		t.Fatal(err)
	}
	if got := r.finished(runID); got.State != event.RunIsCompleted || got.Calls != 0 {
		t.Fatalf("finished %+v", got)
	}
}

func TestARunWhoseModelIsGoneIsOfferedAndNotFailed(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "new")))
	s, p := r.saved("m", "ask")
	runID := r.send(s, "go")
	r.approval()
	if err := r.RemoveProvider(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.open()
	eventually(t, func() bool { return r.snapshot(s).Runs[0].State == event.RunIsInterrupted })
	if _, err := r.Continue(t.Context(), runID); err != nil {
		t.Fatal(err)
	}
	if got := r.finished(runID); got.State != event.RunIsFailed || got.Error == nil || !strings.Contains(got.Error.Message, "model") {
		t.Fatalf("finished %+v, %+v; want a sentence about the model", got, got.Error)
	}
}

func TestALoopThatWasAskedAboutIsAskedAboutAgain(t *testing.T) {
	look := script.Calls(script.Tool("fs_list", map[string]any{"path": "."}))
	r := newRig(t, turns("m", look, look, look, look, look, script.Says("too early")))
	s, _ := r.saved("m", "full")
	runID := r.send(s, "go")
	first := r.question()
	r.restart()
	again := r.question()
	if again.Question.Title != first.Question.Title {
		t.Fatalf("asked %q, want %q", again.Question.Title, first.Question.Title)
	}
	if err := r.Answer(t.Context(), again.ID, engine.Answer{Text: "no"}); err != nil {
		t.Fatal(err)
	}
	if got := r.finished(runID); got.State != event.RunIsFailed || got.Reason != "repeated" || got.Calls != 5 {
		t.Fatalf("finished %+v", got)
	}
}

func TestAClosedWindowIsAskedAboutAgain(t *testing.T) {
	look := script.Calls(script.Tool("browser_snapshot", map[string]any{}))
	r := newRig(t, turns("m", look, script.Says("without it")))
	engine.CloseByHand(r.Engine)
	s, _ := r.saved("m", "full")
	runID := r.send(s, "look")
	first := r.question()
	r.restart() // the new engine knows of no closed window
	again := r.question()
	if again.CallID != first.CallID || again.Question.Title != first.Question.Title {
		t.Fatalf("asked %+v, want %+v", again, first)
	}
	if err := r.Answer(t.Context(), again.ID, engine.Answer{Text: "without"}); err != nil {
		t.Fatal(err)
	}
	if got := r.finished(runID); got.Calls != 0 || results(r.snapshot(s))[0].Outcome != "not allowed" {
		t.Fatalf("finished %+v, answers %+v", got, results(r.snapshot(s)))
	}
}

func TestARunThatWaitsAgainIsContinuedStoppedAndPutAsideAsAnyOther(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "new"), script.Says("fine")))
	s, _ := r.saved("m", "ask")
	runID := r.send(s, "go")
	r.approval()
	r.restart()
	r.approval()
	if next, err := r.Continue(t.Context(), runID); err != nil || next != runID {
		t.Fatalf("Continue = %s, %v; want the run that waits", next, err)
	}
	if err := r.Stop(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if got := r.finished(runID); got.State != event.RunIsCancelled {
		t.Fatalf("finished %+v", got)
	}
	r.restart()
	if snap := r.snapshot(s); snap.Runs[0].State != event.RunIsCancelled || len(snap.Waits) != 0 {
		t.Fatalf("after the next start run %s waits for %+v", snap.Runs[0].State, snap.Waits)
	}
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it did not come")
}
