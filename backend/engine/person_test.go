package engine_test

import (
	"strings"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
)

func TestAnInterruptedRunSaysWhatWasUnderWayAndCanBeLeft(t *testing.T) {
	wait := script.Calls(script.Tool("shell_exec", map[string]any{"command": "echo up; sleep 20"}), script.Tool("fs_list", map[string]any{"path": "."}))
	r := newRig(t, turns("m", wait))
	s := r.session("m", "full")
	runID := r.send(s, "go")
	r.until("the command", ofType("tool.progress"))
	r.Close()
	r.open()
	snap := r.snapshot(s)
	if snap.Runs[0].State != event.RunIsInterrupted || len(snap.Open) != 1 || snap.Open[0].Call.Name != "shell_exec" {
		t.Fatalf("run %s, under way %+v; want the command, and not the call that never began", snap.Runs[0].State, snap.Open)
	}
	if err := r.Leave(t.Context(), runID); err != nil {
		t.Fatal(err)
	}
	snap = r.snapshot(s)
	if snap.Runs[0].State != event.RunIsCancelled || len(snap.Open) != 0 || len(results(snap)) != 2 {
		t.Fatalf("run %s, under way %+v, answers %+v", snap.Runs[0].State, snap.Open, results(snap))
	}
	if err := r.Leave(t.Context(), runID); err == nil {
		t.Fatal("a run that is over was left again")
	}
}

func TestAWindowClosedByHandIsReopenedOnlyWithLeave(t *testing.T) {
	look := script.Calls(script.Tool("browser_snapshot", map[string]any{}))
	r := newRig(t, turns("m", look, look, script.Says("without it"), look, script.Says("with it")))
	engine.CloseByHand(r.Engine)
	s := r.session("m", "full")
	runID := r.send(s, "look")
	ask := r.until("the question", ofType("clarification.asked")).Data.(event.ClarificationAsked)
	if ask.CallID == "" || len(ask.Question.Options) != 2 {
		t.Fatalf("asked %+v", ask)
	}
	if err := r.Answer(t.Context(), ask.ID, engine.Answer{Text: "without"}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID) // the second call of the run asks nobody
	for _, got := range results(r.snapshot(s)) {
		if got.State != chat.CallFailed || got.Outcome != "not allowed" || !strings.Contains(got.Text, "closed the browser window") {
			t.Errorf("answer %+v", got)
		}
	}
	runID = r.send(s, "look again")
	ask = r.until("the question of the next run", ofType("clarification.asked")).Data.(event.ClarificationAsked)
	if err := r.Answer(t.Context(), ask.ID, engine.Answer{Text: "reopen"}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID)
	if got := results(r.snapshot(s)); len(got) != 3 || got[2].Outcome == "not allowed" {
		t.Fatalf("answers %+v; want the last call made", got)
	}
}
