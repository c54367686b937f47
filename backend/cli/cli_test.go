package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host"
	"gofer/backend/tour"
	"gofer/backend/host/hosttest"
)

const (
	session = "s-1"
	run     = "r-1"
)

type on = map[string]func(context.Context, ...any) (any, error)

// engineWith is a fake engine whose one run publishes the given events.
func engineWith(events ...event.Data) *hosttest.Fake {
	f := &hosttest.Fake{}
	f.On = on{
		"CreateSession": func(context.Context, ...any) (any, error) { return engine.Session{ID: session}, nil },
		"SendPrompt": func(context.Context, ...any) (any, error) {
			publish(f, events...)
			return run, nil
		},
	}
	return f
}

func publish(f *hosttest.Fake, events ...event.Data) {
	for _, d := range events {
		f.Bus.Publish(event.Of(session, run, d))
	}
}

func done() event.RunFinished {
	return event.RunFinished{State: event.RunIsCompleted, Calls: 1, ElapsedMS: 4200, Usage: chat.Usage{Input: 12000, Output: 400}}
}

func says(text string, calls ...chat.ToolCall) event.MessageFinished {
	return event.MessageFinished{Message: chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Type: chat.Text, Text: text}}, Calls: calls}}
}

func call(id, name, title string) event.ToolStarted {
	return event.ToolStarted{Call: chat.ToolCall{ID: id, Name: name}, Title: title}
}

func result(id, name string, state chat.CallState, outcome string) event.ToolFinished {
	return event.ToolFinished{Message: chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: id, Name: name, State: state, Outcome: outcome, ElapsedMS: 800}}}
}

// terminal is one command line under test.
type terminal struct {
	t      *testing.T
	out    watched
	err    watched
	asked  HostOptions
	closed int
	env    Environment
}

func newTerminal(t *testing.T, s host.Service, args ...string) *terminal {
	x := &terminal{t: t}
	x.env = Environment{
		Args: args, Stdin: strings.NewReader(""), Stdout: &x.out, Stderr: &x.err, Version: "1.2.3", Dir: "/work",
		IsTerminal: func(any) bool { return false },
		Getenv: func(name string) string {
			return map[string]string{"DISPLAY": ":0", "LAB_KEY": "sk-lab-0123456789"}[name]
		},
		OpenHost: func(_ context.Context, _ string, o HostOptions) (host.Service, func(), error) {
			x.asked = o
			return s, func() { x.closed++ }, nil
		},
	}
	return x
}

func (x *terminal) run() int { return x.runIn(x.t.Context()) }

func (x *terminal) runIn(ctx context.Context) int {
	code := make(chan int, 1)
	go func() { code <- Execute(ctx, x.env) }()
	select {
	case c := <-code:
		return c
	case <-time.After(10 * time.Second):
		x.t.Fatalf("the command did not end; standard error:\n%s", x.err.String())
		return -1
	}
}

func (x *terminal) want(gotCode, wantCode int, out string, err ...string) {
	x.t.Helper()
	if gotCode != wantCode {
		x.t.Errorf("exit code: got %d, want %d", gotCode, wantCode)
	}
	if got := x.out.String(); got != out {
		x.t.Errorf("standard output: got %q, want %q", got, out)
	}
	for _, want := range err {
		if !strings.Contains(x.err.String(), want) {
			x.t.Errorf("standard error lacks %q:\n%s", want, x.err.String())
		}
	}
}

// watched is a buffer a test can wait on.
type watched struct {
	mu  sync.Mutex
	buf bytes.Buffer
	new chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.new != nil {
		close(w.new)
		w.new = nil
	}
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func (w *watched) waitFor(t *testing.T, text string) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		w.mu.Lock()
		if strings.Contains(w.buf.String(), text) {
			w.mu.Unlock()
			return
		}
		if w.new == nil {
			w.new = make(chan struct{})
		}
		more := w.new
		w.mu.Unlock()
		select {
		case <-more:
		case <-limit:
			t.Errorf("%q never came; there is:\n%s", text, w.String())
			return
		}
	}
}

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
	want := engine.SessionSpec{Workspace: "/work", Mode: "full", Provider: "p", Model: "m", MaxIterations: 7, Headless: true}
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
	asked := event.ApprovalAsked{ID: "w1", Deeds: []event.Deed{{Class: "run_command", Object: "rm -rf ./x", Detail: "/work"}}}
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
		"refused":   {[]event.Data{asked, refused, says("I could not."), done()}, 3, "I could not.\n", "Refused for want of permission: run_command rm -rf ./x (/work)\n"},
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
		if c.Args[1] != (engine.Answer{By: "nobody"}) {
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

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"nonsense", `There is no command "gofer nonsense"`},
		{"sessions lst", `Did you mean "list"?`},
		{"run --nonsense x", "unknown flag: --nonsense"},
		{"run", "Say what to do"},
		{"run ;", "Say what to do"},
		{"run --mode plan x", `The mode "plan"`},
		{"run --max-iterations 0 x", "--max-iterations"},
		{"run --max-iterations many x", "max-iterations"},
		{"run --base-url http://127.0.0.1:1 x", "--model"},
		{"run --base-url http://127.0.0.1:1 --model m --provider p x", "--provider"},
		{"run --api-key-env LAB_KEY x", "--base-url"},
		{"run --base-url http://127.0.0.1:1 --model m --api-key-env NO_SUCH x", "NO_SUCH is not set"},
		{"run --tour x", "--tour"},
		{"run --tour --model m", "--tour"},
		{"run --session last --ephemeral x", "--session"},
		{"run --session last --headless x", "--headless"},
		{"sessions show", "wants an id"},
		{"sessions list extra", "takes no arguments"},
		{"sessions export x --format pdf", `"pdf"`},
		{"sessions delete", "wants the ids"},
		{"providers add", "Name a preset"},
		{"providers add nonsense", `no preset "nonsense"`},
		{"providers remove", "wants an id"},
		{"mcp --mode plan", `"plan"`},
		{"doctor now", "takes no arguments"},
	} {
		x := newTerminal(t, &hosttest.Fake{}, strings.Fields(c.args)...)
		if code := x.run(); code != ExitUsage || !strings.Contains(x.err.String(), c.want) || x.out.String() != "" {
			t.Errorf("%s: got %d with %q and output %q, want 2 with %q", c.args, code, x.err.String(), x.out.String(), c.want)
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	x := newTerminal(t, nil, "--version")
	x.want(x.run(), ExitDone, "gofer 1.2.3\n")
	x = newTerminal(t, nil, "run", "--help")
	if code := x.run(); code != ExitDone || !strings.Contains(x.out.String(), "--max-iterations NUMBER") {
		t.Errorf("got %d and\n%s", code, x.out.String())
	}
}

func TestPromptComesFromStandardInput(t *testing.T) {
	f := engineWith(says("ok"), done())
	x := newTerminal(t, f, "run", "-")
	x.env.Stdin = strings.NewReader("; tidy up\nplease\n")
	x.want(x.run(), ExitDone, "ok\n")
	if got, want := f.Calls("SendPrompt")[0].Args[1].(chat.Prompt).Text, "tidy up\nplease"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTourAndEphemeral(t *testing.T) {
	f := engineWith(says("ok"), done())
	x := newTerminal(t, f, "run", "--tour", "--ephemeral", "--workspace", "sub")
	x.want(x.run(), ExitDone, "ok\n")
	spec := f.Calls("CreateSession")[0].Args[0].(engine.SessionSpec)
	if !spec.Tour || spec.Workspace != filepath.Join("/work", "sub") || !x.asked.Ephemeral {
		t.Errorf("got %+v, ephemeral %v", spec, x.asked.Ephemeral)
	}
	if got := f.Calls("SendPrompt")[0].Args[1].(chat.Prompt).Text; !strings.HasPrefix(got, tour.PromptStart) {
		t.Errorf("prompt: got %q, want that of the tour", got)
	}
	if spec.Endpoint == nil || spec.Endpoint.Model != tour.Model || len(spec.Allow) != 3 {
		t.Errorf("the tour's session has endpoint %+v and grants %q", spec.Endpoint, spec.Allow)
	}
}

func TestTheKeyOfAnEndpointComesFromTheEnvironmentAndIsNotPrinted(t *testing.T) {
	f := engineWith(event.RunFinished{State: event.RunIsFailed, Error: &event.Problem{Message: "Refused: Bearer sk-lab-0123456789."}})
	x := newTerminal(t, f, "run", "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--api-key-env", "LAB_KEY", "x")
	x.want(x.run(), ExitFailed, "")
	want := engine.Endpoint{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Key: "sk-lab-0123456789"}
	if got := *f.Calls("CreateSession")[0].Args[0].(engine.SessionSpec).Endpoint; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if strings.Contains(x.err.String(), "0123456789") {
		t.Errorf("the key was printed:\n%s", x.err.String())
	}
}

func TestSessionLastGoesOn(t *testing.T) {
	f := engineWith(says("ok"), done())
	f.On["Sessions"] = func(context.Context, ...any) (any, error) { return []engine.Session{{ID: session}}, nil }
	f.On["ChangeSession"] = func(context.Context, ...any) (any, error) { return engine.Session{ID: session}, nil }
	x := newTerminal(t, f, "run", "--session", "last", "--model", "m2", "more")
	x.want(x.run(), ExitDone, "ok\n")
	if c := f.Calls("ChangeSession"); len(c) != 1 || *c[0].Args[1].(engine.SessionChange).Model != "m2" {
		t.Errorf("changes: got %+v", c)
	}
	if n := len(f.Calls("CreateSession")); n != 0 {
		t.Errorf("new sessions: got %d, want 0", n)
	}
}

func TestFaultsAreSentencesWithExitOne(t *testing.T) {
	f := engineWith()
	f.On["SendPrompt"] = func(context.Context, ...any) (any, error) {
		return nil, fmt.Errorf("engine: %w", fault.New(fault.NoProvider, "No model is set up.", "Add one."))
	}
	x := newTerminal(t, f, "run", "x")
	x.want(x.run(), ExitFailed, "", "gofer: No model is set up. Add one.\n")
	x = newTerminal(t, nil, "sessions", "list")
	x.env.OpenHost = func(context.Context, string, HostOptions) (host.Service, func(), error) {
		return nil, nil, errors.New("boom")
	}
	x.want(x.run(), ExitFailed, "", "gofer: boom\n")
}

func TestModelTextCannotDriveTheTerminal(t *testing.T) {
	f := engineWith(call("c1", "fs_read", "a\x1b[2J\nb\u202ec"), result("c1", "fs_read", chat.CallSucceeded, ""), says("x\x1b]0;t\x07y"), done())
	x := newTerminal(t, f, "run", "x")
	x.env.IsTerminal = func(s any) bool { return s == any(&x.out) }
	x.want(x.run(), ExitDone, "x\\u{1B}]0;t\\u{7}y\n", "✓ fs_read a\\u{1B}[2J b\\u{202E}c  0.8 s")
}

func TestExportWritesAFile(t *testing.T) {
	f := &hosttest.Fake{On: on{
		"Snapshot": func(_ context.Context, a ...any) (any, error) {
			return engine.Snapshot{Session: engine.Session{ID: a[0].(string)}}, nil
		},
		"ExportSession": func(_ context.Context, a ...any) (any, error) {
			return engine.Bytes{Data: []byte("# " + a[0].(string))}, nil
		},
	}}
	x := newTerminal(t, f, "sessions", "export", session, "-o", "x.md")
	x.env.Dir = t.TempDir()
	x.want(x.run(), ExitDone, "", "Wrote ")
	if raw, err := os.ReadFile(filepath.Join(x.env.Dir, "x.md")); err != nil || string(raw) != "# s-1" {
		t.Errorf("got %q, %v", raw, err)
	}
	x = newTerminal(t, f, "sessions", "export", session, "--format", "json")
	x.want(x.run(), ExitDone, "# s-1")
}
