package cli

import (
	"context"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host/hosttest"
)

func TestRunPrintsStepsAndTheAnswer(t *testing.T) {
	f := engineWith(
		says("Let me look.", chat.ToolCall{ID: "c1"}),
		call("c1", "browser_open", "example.org"), result("c1", "browser_open", chat.CallSucceeded, ""),
		call("c2", "fs_read", "notes.txt"), result("c2", "fs_read", chat.CallFailed, "no such file"),
		says("It is **42**."), done())
	x := newTerminal(t, f, "run", ";", "what", "is it?", "--mode", "full", "--max-iterations", "7", "--model", "m", "--provider", "p", "--headless")
	x.want(x.run(), ExitDone, "It is **42**.\n",
		"Let me look.\n", "✓ browser_open example.org  0.8 s\n", "✗ fs_read notes.txt  no such file  0.8 s\n", "4.2 s · 1 call · 12.4k tokens · session s-1")
	if got, want := f.Calls("SendPrompt")[0].Args[1], (chat.Prompt{Text: "what is it?", Mode: "full", MaxIterations: 7}); got != want {
		t.Errorf("prompt: got %+v, want %+v", got, want)
	}
	want := engine.SessionSpec{Workspace: "/desk", Mode: "full", Provider: "p", Model: "m", MaxIterations: 7, Headless: true}
	if got := f.Calls("CreateSession")[0].Args[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("session: got %+v, want %+v", got, want)
	}
	if x.closed != 1 {
		t.Errorf("the engine was closed %d times, want 1", x.closed)
	}
}

func TestExitCodesOfRuns(t *testing.T) {
	finished := func(state event.RunState, reason string, p *event.Problem) event.RunFinished {
		return event.RunFinished{State: state, Reason: reason, Error: p, Iterations: 100}
	}
	asked := event.ApprovalAsked{ID: "w1", Deeds: []event.Deed{{Class: "run_command", Object: "rm -rf ./x", Detail: "/desk"}}}
	refused := event.ApprovalAnswered{ID: "w1", By: "nobody"}
	for name, c := range map[string]struct {
		events []event.Data
		code   int
		out    string
		err    string
	}{
		"done":      {[]event.Data{says("yes"), done()}, 0, "yes\n", ""},
		"failed":    {[]event.Data{finished(event.RunIsFailed, "auth", &event.Problem{Message: "The key was refused.", Hint: "Enter it anew."})}, 1, "", "✗ The key was refused. Enter it anew."},
		"limit":     {[]event.Data{says("so far"), finished(event.RunIsCompleted, "limit", nil)}, 1, "so far\n", "limit of 100 iterations"},
		"cancelled": {[]event.Data{finished(event.RunIsCancelled, "stopped", nil)}, 130, "", "Stopped"},
		"refused":   {[]event.Data{asked, refused, says("I could not."), done()}, 3, "I could not.\n", "Refused for want of permission: run_command rm -rf ./x (/desk)\n"},
		"allowed":   {[]event.Data{asked, event.ApprovalAnswered{ID: "w1", Allowed: true, By: "person"}, says("did"), done()}, 0, "did\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTerminal(t, engineWith(c.events...), "run", "do it")
			x.want(x.run(), c.code, c.out, c.err)
		})
	}
}

func TestWhereNobodyIsAskedApprovalsAndQuestionsAreSettled(t *testing.T) {
	f := engineWith(event.ApprovalAsked{ID: "w1"}, event.ClarificationAsked{ID: "w2"})
	f.On["Answer"] = func(_ context.Context, args ...any) (any, error) {
		if args[0] == "w1" {
			publish(f, event.ApprovalAnswered{ID: "w1", By: "nobody"})
			return nil, fault.New(fault.NotFound, "It was answered already.", "")
		}
		publish(f, says("ok"), done())
		return nil, nil
	}
	x := newTerminal(t, f, "run", "do it")
	x.want(x.run(), ExitRefused, "ok\n")
	for _, c := range f.Calls("Answer") {
		if !reflect.DeepEqual(c.Args[1], engine.Answer{By: "nobody"}) {
			t.Errorf("%v: got %+v, want nobody", c.Args[0], c.Args[1])
		}
	}
}

func TestJSONPrintsEventsAndNothingElse(t *testing.T) {
	f := engineWith(event.MessageDelta{MessageID: "m", Kind: "text", Text: "he"}, call("c1", "fs_read", "a"), result("c1", "fs_read", chat.CallSucceeded, ""), says("hello"), done())
	x := newTerminal(t, f, "run", "--json", "do it")
	f.On["SendPrompt"] = func(context.Context, ...any) (any, error) {
		f.Bus.Publish(event.Of(session, "other-run", event.Notice{Text: "not ours"}), event.Of(session, "", event.SessionChanged{ID: session}))
		publish(f, event.MessageDelta{MessageID: "m", Kind: "text", Text: "he"}, says("hello"), done())
		return run, nil
	}
	if code := x.run(); code != ExitDone {
		t.Errorf("exit code: got %d, want 0", code)
	}
	var types []string
	for text := range strings.Lines(x.out.String()) {
		var e event.Envelope
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		types = append(types, e.Type)
	}
	if got, want := strings.Join(types, " "), "session.changed message.delta message.finished run.finished"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := x.err.String(); got != "" {
		t.Errorf("standard error: got %q, want none", got)
	}
}

func TestCtrlCStopsTheRun(t *testing.T) {
	f := engineWith(event.RunStarted{}, call("c1", "shell_exec", "sleep 100"))
	ctx, cancel := context.WithCancel(t.Context())
	f.On["Stop"] = func(context.Context, ...any) (any, error) {
		publish(f, result("c1", "shell_exec", chat.CallCancelled, ""), event.RunFinished{State: event.RunIsCancelled, Reason: "stopped", Calls: 1})
		return nil, nil
	}
	x := newTerminal(t, f, "run", "do it")
	x.env.IsTerminal = func(s any) bool { return s == any(&x.err) } // shows the running call
	go func() {
		x.err.waitFor(t, "sleep 100")
		cancel()
	}()
	x.want(x.runIn(ctx), ExitStopped, "", "– shell_exec", "Stopped after 1 call")
}

func TestCtrlCReturnsWithinASecondFromAnEngineThatHangs(t *testing.T) {
	f := engineWith(event.RunStarted{}, event.Notice{Text: "going"})
	ctx, cancel := context.WithCancel(t.Context())
	f.On["Stop"] = func(ctx context.Context, _ ...any) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	x := newTerminal(t, f, "run", "do it")
	var began time.Time
	go func() {
		x.err.waitFor(t, "going")
		began = time.Now()
		cancel()
	}()
	x.want(x.runIn(ctx), ExitStopped, "", "Told to stop")
	if took := time.Since(began); took > 1500*time.Millisecond {
		t.Errorf("it took %v", took)
	}
}

func TestCtrlCTakesAWaitingRunBackInsteadOfStoppingAnother(t *testing.T) {
	f := engineWith(event.RunQueued{Ahead: 1})
	ctx, cancel := context.WithCancel(t.Context())
	f.On["RemoveQueued"] = func(context.Context, ...any) (any, error) {
		publish(f, event.RunFinished{State: event.RunIsCancelled})
		return nil, nil
	}
	x := newTerminal(t, f, "run", "do it")
	go func() {
		x.err.waitFor(t, "behind 1 run")
		cancel()
	}()
	x.want(x.runIn(ctx), ExitStopped, "")
	if n := len(f.Calls("Stop")); n != 0 {
		t.Errorf("stops: got %d, want 0", n)
	}
}

func TestCtrlCWhileThePromptIsSentStopsTheRunItStarted(t *testing.T) {
	f := engineWith()
	ctx, cancel := context.WithCancel(t.Context())
	f.On["SendPrompt"] = func(ctx context.Context, _ ...any) (any, error) {
		cancel()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		publish(f, event.RunStarted{})
		return run, nil
	}
	f.On["RemoveQueued"] = func(context.Context, ...any) (any, error) { return nil, fault.New(fault.Invalid, "It runs.", "") }
	f.On["Stop"] = func(context.Context, ...any) (any, error) {
		publish(f, event.RunFinished{State: event.RunIsCancelled})
		return nil, nil
	}
	x := newTerminal(t, f, "run", "do it")
	x.want(x.runIn(ctx), ExitStopped, "", "Stopped after")
	if n := len(f.Calls("Stop")); n != 1 {
		t.Errorf("stops: got %d, want 1", n)
	}
}

func TestAHostThatEndsIsAFault(t *testing.T) {
	f := engineWith()
	f.On["Events"] = func(context.Context, ...any) (any, error) { return nil, nil }
	ended := fault.New(fault.Unavailable, "The Gofer command that ran the engine (process 9) has ended.", "Start this command again.")
	f.On["Status"] = func(context.Context, ...any) (any, error) { return nil, ended }
	x := newTerminal(t, closing{f}, "run", "do it")
	x.want(x.run(), ExitFailed, "", "gofer: "+ended.Error())
}

// closing is an engine whose events break off.
type closing struct{ *hosttest.Fake }

func (closing) Events(context.Context, string) (<-chan event.Envelope, error) {
	c := make(chan event.Envelope)
	close(c)
	return c, nil
}

func TestAnOutputNobodyReadsStopsTheRun(t *testing.T) {
	f := engineWith(event.RunStarted{}, event.Notice{Text: "going"})
	f.On["Stop"] = func(context.Context, ...any) (any, error) {
		publish(f, event.RunFinished{State: event.RunIsCancelled})
		return nil, nil
	}
	x := newTerminal(t, f, "run", "--json", "do it")
	x.env.Stdout = broken{}
	if code := x.run(); code != ExitFailed {
		t.Errorf("exit code: got %d, want 1", code)
	}
	if n := len(f.Calls("Stop")); n != 1 {
		t.Errorf("stops: got %d, want 1", n)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestContinueGoesOnWithTheLatestRun(t *testing.T) {
	for _, c := range []struct {
		state event.RunState
		code  int
		say   string
	}{{event.RunIsInterrupted, ExitDone, ""}, {event.RunIsFailed, ExitDone, ""}, {event.RunIsCompleted, ExitFailed, "nothing to continue"}} {
		f := engineWith(says("ok"), done())
		f.On["Sessions"] = func(context.Context, ...any) (any, error) { return []engine.Session{{ID: session}}, nil }
		f.On["Snapshot"] = func(context.Context, ...any) (any, error) {
			return engine.Snapshot{Session: engine.Session{ID: session}, Runs: []engine.Run{{ID: "old", State: event.RunIsCompleted}, {ID: "broken", State: c.state}}}, nil
		}
		f.On["Continue"] = f.On["SendPrompt"]
		x := newTerminal(t, f, "sessions", "continue", "last")
		if code := x.run(); code != c.code || !strings.Contains(x.err.String(), c.say) {
			t.Errorf("%s: exit %d, %s", c.state, code, x.err.String())
		}
		if calls := f.Calls("Continue"); c.code == ExitDone && (len(calls) != 1 || calls[0].Args[0] != "broken") {
			t.Errorf("%s: continued %+v", c.state, calls)
		}
	}
}

func TestGrantsOfTheCommandLineReachTheSessionAndMissingOnesAreNamedTheSameWay(t *testing.T) {
	asked := event.ApprovalAsked{ID: "w1", Missing: "write: /desk/a.txt", Deeds: []event.Deed{{Class: "write_file", Object: "/desk/a.txt"}}}
	f := engineWith(asked, event.ApprovalAnswered{ID: "w1", By: "nobody"}, says("ok"), done())
	x := newTerminal(t, f, "run", "--allow", "visit: https://example.org", "--allow", "shell: go test", "x")
	x.want(x.run(), ExitRefused, "ok\n", "write: /desk/a.txt")
	if got := f.Calls("CreateSession")[0].Args[0].(engine.SessionSpec).Allow; len(got) != 2 || got[1] != "shell: go test" {
		t.Errorf("grants %q", got)
	}
}

func TestAnAgreementWithoutATerminalIsRefusedAndNamesWhatWasMissing(t *testing.T) {
	asked := event.AgreementAsked{ID: "w1", Missing: "visit: https://a.example, write: /desk"}
	f := engineWith(asked, event.AgreementAnswered{ID: "w1", By: "nobody"}, says("ok"), done())
	x := newTerminal(t, f, "run", "x")
	x.want(x.run(), ExitRefused, "ok\n", "Refused for want of permission: visit: https://a.example, write: /desk\n")
	if calls := f.Calls("Answer"); len(calls) != 1 || !reflect.DeepEqual(calls[0].Args[1], engine.Answer{By: "nobody"}) {
		t.Errorf("answered %+v", calls)
	}
	f = engineWith(asked, event.AgreementAnswered{ID: "w1", By: "person"}, says("ok"), done())
	x = newTerminal(t, f, "run", "x")
	x.want(x.run(), ExitDone, "ok\n") // a no of a person elsewhere: the run went on without
}
