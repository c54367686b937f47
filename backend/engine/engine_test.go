package engine_test

import (
	"context"
	"errors"
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
	"gofer/backend/home"
	"gofer/backend/llm/script"
)

// rig is an engine on a home of its own and a scripted model.
type rig struct {
	*engine.Engine
	t      *testing.T
	home   *home.Home
	work   string
	model  *script.Server
	events <-chan event.Envelope
	seen   []event.Envelope
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
	e, err := engine.Build(r.home, engine.Options{Version: "test", Headless: true})
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
	want := []string{"run.queued", "run.started", "iteration.started", "message.started", "message.finished", "tool.started", "tool.finished",
		"iteration.finished", "iteration.started", "message.started", "message.finished", "iteration.finished", "run.finished"}
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
	r.Close()
	r.open()
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
	if _, err := r.ChangeSession(t.Context(), s.ID, engine.SessionChange{}); err != nil {
		t.Fatal(err)
	}
	provider, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "custom", Name: "scripted", BaseURL: r.model.URL, Model: "m", Default: true})
	if err != nil {
		t.Fatal(err)
	}
	r.model.Release("gate")
	if next, err := r.Continue(t.Context(), runID); err != nil || next != runID {
		t.Fatalf("Continue = %s, %v; want the same run", next, err)
	}
	if got := r.finished(runID); got.State != event.RunIsCompleted || got.Calls != 1 || got.Iterations != 3 {
		t.Fatalf("finished %+v", got)
	}
	if run := r.snapshot(s).Runs[0]; run.Provider != provider.ID {
		t.Fatalf("the run is told to have used provider %q", run.Provider)
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

func TestOutsideCallersHaveTheToolsButNotTheRuns(t *testing.T) {
	r := newRig(t)
	caller, err := r.OpenCaller(t.Context(), engine.CallerSpec{Name: "lab", Workspace: r.work})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := r.Tools(t.Context(), caller)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, tool := range tools {
		size += len(tool.Name) + len(tool.About) + len(tool.Schema)
		if tool.Name == "ask_clarification" {
			t.Error("a caller without a run may ask questions")
		}
	}
	if size > 24<<10 {
		t.Errorf("the catalogue has %d bytes, want under 24 KB", size)
	}
	out, err := r.CallTool(t.Context(), caller, "fs_write", []byte(`{"path":"a.txt","content":"x"}`))
	if err != nil || !out.Failed || !strings.Contains(out.Text, "write:") {
		t.Fatalf("a write in ask mode: %+v, %v", out, err)
	}
	if out, err := r.CallTool(t.Context(), caller, "fs_list", []byte(`{"path":"."}`)); err != nil || out.Failed {
		t.Fatalf("a read: %+v, %v", out, err)
	}
	if err := r.CloseCaller(t.Context(), caller); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Tools(t.Context(), caller); fault.From(err).Code != fault.NotFound {
		t.Fatalf("a closed caller: %v", err)
	}
}

func TestAKeyIsNowhereButInItsPlace(t *testing.T) {
	const key = "sk-test-0123456789abcdefghij"
	refused := script.Says("x")
	refused.Fail = []script.Failure{{Status: 401, Message: "Incorrect API key provided: " + key, Times: 9}}
	r := newRig(t, turns("m", refused))
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "custom", BaseURL: r.model.URL, Model: "m", Key: ptr(key), Default: true})
	if err != nil || p.KeyHint != "ghij" || p.KeyPlace != "file" {
		t.Fatalf("SaveProvider = %+v, %v", p, err)
	}
	test, err := r.TestProvider(t.Context(), engine.ProviderSpec{ID: p.ID})
	if err != nil || test.OK || test.Problem == nil || strings.Contains(fmt.Sprintf("%+v", *test.Problem), key) {
		t.Fatalf("TestProvider = %+v, %v", test, err)
	}
	s, err := r.CreateSession(t.Context(), engine.SessionSpec{Workspace: r.work})
	if err != nil {
		t.Fatal(err)
	}
	r.finished(r.send(s, "go"))
	r.Close()
	err = filepath.WalkDir(r.home.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), key) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.seen {
		if strings.Contains(fmt.Sprintf("%+v", e), key) {
			t.Errorf("the key is in event %s", e.Type)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestSessionsAreFoundChangedAndExported(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "1"), script.Says("The lamps are lit until midnight.")))
	s := r.session("m", "full")
	r.finished(r.send(s, "how long are the lamps lit"))
	if got, err := r.Sessions(t.Context(), engine.SessionQuery{Search: "midnight"}); err != nil || len(got) != 1 || !strings.Contains(got[0].Match, "midnight") {
		t.Fatalf("Sessions = %+v, %v", got, err)
	}
	if _, err := r.ChangeSession(t.Context(), s.ID, engine.SessionChange{Title: ptr("  "), Mode: ptr("plan")}); fault.From(err).Code != fault.Invalid {
		t.Fatalf("an empty title: %v", err)
	}
	if got, err := r.ChangeSession(t.Context(), s.ID, engine.SessionChange{Title: ptr("Lamps / hours?"), Seen: ptr(true)}); err != nil || got.Title != "Lamps / hours?" || !got.Seen || got.AutoTitle {
		t.Fatalf("ChangeSession = %+v, %v", got, err)
	}
	md, err := r.ExportSession(t.Context(), s.ID, "markdown")
	if err != nil || md.Name != "Lamps - hours-.md" || !strings.Contains(string(md.Data), "lit until midnight") {
		t.Fatalf("export %s, %v:\n%s", md.Name, err, md.Data)
	}
	if _, err := r.ExportSession(t.Context(), s.ID, "pdf"); fault.From(err).Code != fault.Invalid {
		t.Fatalf("export as pdf: %v", err)
	}
}

func TestEventsEndWithTheirContextAndWithTheEngine(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	events, err := r.Events(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range events {
	}
	r.Close()
	for range r.events {
	}
	if _, err := r.CreateSession(t.Context(), engine.SessionSpec{Workspace: r.work}); err == nil || errors.Is(err, context.Canceled) {
		t.Fatalf("a closed engine made a session: %v", err)
	}
}
