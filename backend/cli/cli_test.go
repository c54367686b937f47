package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host"
	"gofer/backend/host/hosttest"
	"gofer/backend/tour"
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
		Args: args, Stdin: strings.NewReader(""), Stdout: &x.out, Stderr: &x.err, Version: "1.2.3", Dir: "/desk",
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

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"nonsense", `There is no command "gofer nonsense"`},
		{"sessions lst", `Did you mean "list"?`},
		{"run --nonsense x", "unknown flag: --nonsense"},
		{"run", "Say what to do"},
		{"run ;", "Say what to do"},
		{"run --mode swift x", `The mode "swift"`},
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
		{"mcp --mode swift", `"swift"`},
		{"mcp --tools browser,mail", `"mail"`},
		{"mcp --allow nonsense", `"nonsense"`},
		{"mcp --http=0.0.0.0:0", "this computer only"},
		{"mcp --http=127.0.0.1:99999", `"99999"`},
		{"mcp --http 8000", "takes no arguments"},
		{"mcp token one two", "wants one name"},
		{"mcp token --revoke", "Name the client"},
		{"mcp token one --revoke --renew", "stands alone"},
		{"mcp token one --mode swift", `"swift"`},
		{"mcp token one --allow nonsense", `"nonsense"`},
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
	if !spec.Tour || spec.Workspace != filepath.Join("/desk", "sub") || !x.asked.Ephemeral {
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
