package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm/script"
)

func TestAPromptIsAnsweredStepByStepAndStored(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "hello"), script.Says("Wrote ", "a.txt.")))
	s := r.session("m", "full")
	runID := r.send(s, "; write a file, please, and say so at once")
	if got := r.finished(runID); got.State != event.RunIsCompleted || got.Iterations != 2 || got.Calls != 1 {
		t.Fatalf("finished %+v", got)
	}
	var seq []string
	for _, e := range r.seen {
		if e.RunID == runID && e.Type != "run.status" && e.Type != "message.delta" {
			seq = append(seq, e.Type)
		}
	}
	want := []string{
		"run.queued", "run.started", "iteration.started", "message.started", "message.finished", "tool.started", "tool.finished",
		"iteration.finished", "iteration.started", "message.started", "message.finished", "iteration.finished", "run.finished",
	}
	if !slices.Equal(seq, want) {
		t.Fatalf("events %v\nwant   %v", seq, want)
	}
	snap := r.snapshot(s)
	if snap.Session.Title != "write a file, please, and" || snap.Messages[0].Text() != "write a file, please, and say so at once" {
		t.Fatalf("title %q, prompt %q", snap.Session.Title, snap.Messages[0].Text())
	}
	if last := snap.Messages[len(snap.Messages)-1]; last.Text() != "Wrote a.txt." || snap.Status.State != event.Complete || snap.Partial != nil {
		t.Fatalf("last message %q, status %s", last.Text(), snap.Status.State)
	}
	if got, _ := os.ReadFile(filepath.Join(r.work, "a.txt")); string(got) != "hello" {
		t.Fatalf("the file holds %q", got)
	}
	for i, e := range bySession(r.seen, s.ID) {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i+1, e.Seq)
		}
	}
}

func bySession(events []event.Envelope, sessionID string) []event.Envelope {
	var out []event.Envelope
	for _, e := range events {
		if e.SessionID == sessionID && e.Seq != 0 {
			out = append(out, e)
		}
	}
	return out
}

func TestASnapshotInMidStreamAndTheDeltasAfterItMakeTheWholeText(t *testing.T) {
	turn := script.Says("one ", "zwei ", "drei😀 ", "vier")
	turn.Hold, turn.After = "gate", 3
	r := newRig(t, turns("m", turn))
	s := r.session("m", "full")
	runID := r.send(s, "count")
	<-r.model.Reached("gate")
	got := ""
	r.until("the second piece", func(e event.Envelope) bool {
		if d, ok := e.Data.(event.MessageDelta); ok {
			got += d.Text
		}
		return got == "one zwei "
	})
	snap := r.snapshot(s)
	if snap.Partial == nil || snap.Partial.Text != "one zwei " || snap.Status.State != event.Thinking || snap.Status.Iteration != 1 {
		t.Fatalf("partial %+v, status %+v", snap.Partial, snap.Status)
	}
	r.model.Release("gate")
	text := snap.Partial.Text
	r.finished(runID)
	for _, e := range r.seen {
		if d, ok := e.Data.(event.MessageDelta); ok && d.Offset >= utf16Len(text) {
			if d.Offset != utf16Len(text) {
				t.Fatalf("a delta starts at %d, the text so far has %d units", d.Offset, utf16Len(text))
			}
			text += d.Text
		}
	}
	if want := "one zwei drei😀 vier"; text != want {
		t.Fatalf("text %q, want %q", text, want)
	}
}

func utf16Len(s string) int {
	n := 0
	for _, c := range s {
		n++
		if c > 0xffff {
			n++
		}
	}
	return n
}

func TestPromptsOfASessionQueueAndSessionsRunSideBySide(t *testing.T) {
	held := script.Says("first")
	held.Hold = "gate"
	r := newRig(t, turns("m", held, script.Says("second"), script.Says("third")), turns("other", script.Says("aside")))
	s, o := r.session("m", "full"), r.session("other", "full")
	one, two, gone := r.send(s, "one"), r.send(s, "two"), r.send(s, "withdrawn")
	<-r.model.Reached("gate")
	if err := r.RemoveQueued(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveQueued(t.Context(), one); fault.From(err).Code != fault.Busy {
		t.Fatalf("a started prompt was removed: %v", err)
	}
	if got := r.finished(r.send(o, "x")); got.State != event.RunIsCompleted {
		t.Fatalf("the other session's run ended %s", got.State)
	}
	r.model.Release("gate")
	r.finished(two)
	snap := r.snapshot(s)
	var states []string
	for _, run := range snap.Runs {
		states = append(states, string(run.State))
	}
	if want := []string{"completed", "completed", "cancelled"}; !slices.Equal(states, want) {
		t.Fatalf("runs %v, want %v", states, want)
	}
	// the second request must not know of the prompt that was removed, nor see its own before the first answer
	body := string(r.model.Requests()[2].Body)
	if strings.Index(body, `"first"`) > strings.Index(body, `"two"`) || strings.Contains(body, "withdrawn") {
		t.Fatalf("the second request is out of order: %.3000s", body)
	}
}

func TestOnlySoManyRunsAreAtWorkAtOnce(t *testing.T) {
	var scripts []script.Script
	for i := range 4 {
		turn := script.Says("x")
		turn.Hold = "gate"
		scripts = append(scripts, turns(fmt.Sprintf("m%d", i), turn))
	}
	r := newRig(t, scripts...)
	settings, _ := r.Settings(t.Context())
	settings.ConcurrentRuns = 2
	if _, err := r.SaveSettings(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	started, ended := 0, 0
	for i := range 4 {
		r.send(r.session(fmt.Sprintf("m%d", i), "full"), "go")
	}
	most := 0
	r.until("the ends of all runs", func(e event.Envelope) bool {
		switch e.Type {
		case "run.started":
			started++
			if most = max(most, started-ended); started == 2 {
				r.model.Release("gate")
			}
		case "run.finished":
			ended++
		}
		return ended == 4
	})
	if most != 2 {
		t.Fatalf("%d runs were at work at once, want 2", most)
	}
}

func TestStopEndsARunInMidStreamAndTheNextPromptWorks(t *testing.T) {
	held := script.Says("never", "ending")
	held.Hold, held.After = "gate", 1
	r := newRig(t, turns("m", held, script.Says("after")))
	s := r.session("m", "full")
	runID := r.send(s, "go")
	<-r.model.Reached("gate")
	start := time.Now()
	if err := r.Stop(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if got := r.finished(runID); got.State != event.RunIsCancelled || got.Reason != "stopped" || time.Since(start) > time.Second {
		t.Fatalf("%+v after %s", got, time.Since(start))
	}
	if err := r.Stop(t.Context(), s.ID); err != nil {
		t.Fatalf("a second stop: %v", err)
	}
	if got := r.finished(r.send(s, "again")); got.State != event.RunIsCompleted {
		t.Fatalf("the run after it: %+v", got)
	}
}

func TestAnApprovalIsAskedGrantedForTheSessionAndNotAskedAgain(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "1"), write("b.txt", "2"), script.Says("done")))
	s := r.session("m", "ask")
	runID := r.send(s, "write")
	asked := r.until("the approval", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if asked.Tool != "fs_write" || len(asked.Deeds) == 0 || asked.Session == "" {
		t.Fatalf("asked %+v", asked)
	}
	snap := r.snapshot(s)
	if len(snap.Waits) != 1 || snap.Waits[0].Approval.ID != asked.ID || snap.Status.State != event.AwaitingUser || snap.Session.State != "awaiting_user" {
		t.Fatalf("waits %+v, status %s, session %s", snap.Waits, snap.Status.State, snap.Session.State)
	}
	if _, err := os.Stat(filepath.Join(r.work, "a.txt")); err == nil {
		t.Fatal("the file was written before anybody agreed")
	}
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Allow: true, Scope: "session"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Allow: false}); fault.From(err).Code != fault.NotFound {
		t.Fatalf("it was answered twice: %v", err)
	}
	if got := r.finished(runID); got.State != event.RunIsCompleted || got.Calls != 2 {
		t.Fatalf("finished %+v", got)
	}
	n := 0
	for _, e := range r.seen {
		if e.Type == "approval.asked" {
			n++
		}
	}
	if n != 1 {
		t.Fatalf("asked %d times, want once", n)
	}
}

func TestADeniedCallIsAnsweredWithTheNoteAndNothingHappens(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "1"), script.Says("I see.")))
	s := r.session("m", "ask")
	runID := r.send(s, "write")
	asked := r.until("the approval", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Note: "use another name"}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID)
	got := results(r.snapshot(s))
	if len(got) != 1 || got[0].State != chat.CallFailed || !strings.Contains(got[0].Text, "use another name") || got[0].Outcome != "not allowed" {
		t.Fatalf("answers %+v", got)
	}
	if _, err := os.Stat(filepath.Join(r.work, "a.txt")); err == nil {
		t.Fatal("a denied write was done")
	}
}

func TestAQuestionWaitsForItsAnswerAndANewPromptPutsItAside(t *testing.T) {
	ask := script.Calls(script.Tool("ask_clarification", map[string]any{"kind": "input", "title": "Which colour?"}))
	r := newRig(t, turns("m", ask, script.Says("blue it is"), ask, script.Says("put aside"), script.Says("the new one")))
	s := r.session("m", "ask")
	runID := r.send(s, "paint")
	q := r.until("the question", ofType("clarification.asked")).Data.(event.ClarificationAsked)
	if err := r.Answer(t.Context(), q.ID, engine.Answer{Text: "blue"}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID)
	if got := results(r.snapshot(s)); !strings.Contains(got[0].Text, "blue") {
		t.Fatalf("the model read %q", got[0].Text)
	}
	first := r.send(s, "paint again")
	r.until("the second question", ofType("clarification.asked"))
	second := r.send(s, "no, do this")
	r.until("that it is put aside", ofType("clarification.dismissed"))
	if got := r.finished(first); got.State != event.RunIsCompleted {
		t.Fatalf("the run that asked ended %+v", got)
	}
	if got := r.finished(second); got.State != event.RunIsCompleted {
		t.Fatalf("the new prompt ended %+v", got)
	}
}

func TestABrokenModelCallIsTriedOnceMoreAndItsTextIsNotDoubled(t *testing.T) {
	turn := script.Says("whole ", "answer")
	turn.Fail = []script.Failure{{Kind: script.FailReset, After: 1}}
	r := newRig(t, turns("m", turn))
	s := r.session("m", "full")
	if got := r.finished(r.send(s, "go")); got.State != event.RunIsCompleted {
		t.Fatalf("finished %+v", got)
	}
	snap := r.snapshot(s)
	if got := snap.Messages[len(snap.Messages)-1].Text(); got != "whole answer" {
		t.Fatalf("text %q", got)
	}
	if got := types(r.seen); !slices.Contains(got, "route.retrying") {
		t.Fatalf("events %v", got)
	}
}

func TestAFailedRunSaysWhyAndCanGoOnAsANewRun(t *testing.T) {
	broken := script.Says("never")
	broken.Fail = []script.Failure{{Status: 401, Message: "no such key", Times: 1}}
	r := newRig(t, turns("m", broken))
	s := r.session("m", "full")
	runID := r.send(s, "go")
	got := r.finished(runID)
	if got.State != event.RunIsFailed || got.Reason != "auth" || got.Error == nil || got.Error.Hint == "" {
		t.Fatalf("finished %+v, error %+v", got, got.Error)
	}
	next, err := r.Continue(t.Context(), runID)
	if err != nil || next == runID {
		t.Fatalf("Continue = %s, %v", next, err)
	}
	if got := r.finished(next); got.State != event.RunIsCompleted {
		t.Fatalf("the run that goes on ended %+v", got)
	}
}

func TestARunOfAClosedEngineIsInterruptedAndContinueFinishesIt(t *testing.T) {
	held := script.Says("done")
	held.Hold = "gate"
	history := turns("m", write("a.txt", "1"), held)
	history.By = script.ByHistory
	r := newRig(t, history)
	s := r.session("m", "full")
	runID := r.send(s, "go")
	<-r.model.Reached("gate")
	r.Close()
	r.open()
	snap := r.snapshot(s)
	if snap.Session.State != "interrupted" || snap.Runs[0].State != event.RunIsInterrupted {
		t.Fatalf("session %s, run %s", snap.Session.State, snap.Runs[0].State)
	}
	r.model.Release("gate")
	if next, err := r.Continue(t.Context(), runID); err != nil || next != runID {
		t.Fatalf("Continue = %s, %v; want the same run", next, err)
	}
	if got := r.finished(runID); got.State != event.RunIsCompleted || got.Calls != 1 || got.Iterations != 3 {
		t.Fatalf("finished %+v", got)
	}
}

func TestWithoutAProviderTheRunFailsWithAWayOn(t *testing.T) {
	r := newRig(t)
	s, err := r.CreateSession(t.Context(), engine.SessionSpec{Workspace: r.work})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.finished(r.send(s, "go")); got.State != event.RunIsFailed || got.Error.Code != string(fault.NoProvider) || got.Error.Hint == "" {
		t.Fatalf("finished %+v, %+v", got, got.Error)
	}
}

func TestADeletedSessionStopsAndCanBeRestored(t *testing.T) {
	held := script.Says("x")
	held.Hold = "gate"
	r := newRig(t, turns("m", held))
	s := r.session("m", "full")
	r.send(s, "go")
	r.send(s, "and then")
	<-r.model.Reached("gate")
	if err := r.DeleteSession(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Snapshot(t.Context(), s.ID, engine.SnapshotQuery{}); fault.From(err).Code != fault.NotFound {
		t.Fatalf("a deleted session can be opened: %v", err)
	}
	if err := r.RestoreSession(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	for _, run := range r.snapshot(s).Runs {
		if run.State != event.RunIsCancelled {
			t.Fatalf("a run of the deleted session is %s", run.State)
		}
	}
}
