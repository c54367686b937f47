//go:build !windows

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/cli"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/home"
	"gofer/backend/host"
	"gofer/backend/host/hosttest"
)

// The tests start this program as others do, around an engine that needs no
// browser: its runs wait until they are stopped, unless told "answer".
func TestMain(m *testing.M) {
	if os.Getenv("GOFER_TEST_CHILD") == "" {
		os.Exit(withRuntimeDir(m.Run))
	}
	build = func(h *home.Home) (host.Service, func(), error) {
		f := &hosttest.Fake{}
		publish := func(events ...event.Data) {
			for _, d := range events {
				f.Bus.Publish(event.Of("s", "r", d))
			}
		}
		f.On = map[string]func(context.Context, ...any) (any, error){
			"Sessions": func(context.Context, ...any) (any, error) {
				return []engine.Session{{ID: fmt.Sprintf("served-by-%d", os.Getpid())}}, nil
			},
			"CreateSession": func(context.Context, ...any) (any, error) { return engine.Session{ID: "s"}, nil },
			"SendPrompt": func(_ context.Context, args ...any) (any, error) {
				publish(event.RunStarted{}, event.Notice{Text: "running in " + h.Dir()})
				if args[1].(chat.Prompt).Text == "answer" {
					publish(event.MessageFinished{Message: chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Type: chat.Text, Text: "42"}}}},
						event.RunFinished{State: event.RunIsCompleted})
				}
				return "r", nil
			},
			"Stop": func(context.Context, ...any) (any, error) {
				publish(event.RunFinished{State: event.RunIsCancelled, Reason: "stopped"})
				return nil, nil
			},
			"OpenCaller": func(context.Context, ...any) (any, error) { return "c", nil },
			"Tools": func(context.Context, ...any) (any, error) {
				return []engine.ToolInfo{{Name: "fs_read", Schema: []byte(`{"type":"object"}`)}}, nil
			},
			"CallTool": func(ctx context.Context, _ ...any) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}
		return f, func() {}, nil
	}
	os.Exit(cli.Main(os.Args[1:], version, build))
}

// withRuntimeDir keeps the sockets of processes that are killed out of the
// user's folders. The name is short, as addresses of sockets must be.
func withRuntimeDir(run func() int) int {
	dir, err := os.MkdirTemp("", "g")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("XDG_RUNTIME_DIR", dir); err != nil {
		panic(err)
	}
	return run()
}

// child is one running gofer.
type child struct {
	*exec.Cmd
	t   *testing.T
	in  io.WriteCloser
	out bytes.Buffer
	err *bufio.Reader
}

func start(t *testing.T, dir string, args ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], args...), t: t}
	c.Env = append(os.Environ(), "GOFER_TEST_CHILD=1", "GOFER_HOME="+dir, "DISPLAY=:0")
	c.Stdout = &c.out
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in = in
	errPipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.err = bufio.NewReader(errPipe)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}

// until reads standard error up to a line that holds text.
func (c *child) until(text string) {
	c.t.Helper()
	for {
		line, err := c.err.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			c.t.Fatalf("%q never came: %v", text, err)
		}
	}
}

// code waits for the end and returns the exit code and what is left of
// standard error.
func (c *child) code() (int, string) {
	c.t.Helper()
	timer := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	rest, _ := io.ReadAll(c.err)
	_ = c.Wait()
	return c.ProcessState.ExitCode(), string(rest)
}

func newDir(t *testing.T) string { return filepath.Join(t.TempDir(), "home") }

func TestACommandIsServedByTheOneThatRuns(t *testing.T) {
	dir := newDir(t)
	first := start(t, dir, "run", "wait")
	first.until("running in")
	second := start(t, dir, "sessions", "list")
	if code, err := second.code(); code != 0 || !strings.Contains(second.out.String(), fmt.Sprintf("served-by-%d", first.Process.Pid)) {
		t.Errorf("got %d, %q and %q, want the session of process %d", code, second.out.String(), err, first.Process.Pid)
	}
	began := time.Now()
	if err := first.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code, err := first.code(); code != 130 || !strings.Contains(err, "Stopped") {
		t.Errorf("got %d and %q, want 130", code, err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("Ctrl-C took %v, want under a second", took)
	}
	third := start(t, dir, "run", "answer")
	if code, err := third.code(); code != 0 || third.out.String() != "42\n" {
		t.Errorf("afterwards: got %d, %q and %q, want 42", code, third.out.String(), err)
	}
}

func TestWhenTheHostIsKilledItsClientSaysSo(t *testing.T) {
	dir := newDir(t)
	first := start(t, dir, "run", "wait")
	first.until("running in")
	second := start(t, dir, "run", "wait too")
	second.until("running in")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if code, err := second.code(); code != 1 || !strings.Contains(err, "has ended") {
		t.Errorf("got %d and %q, want 1 and why", code, err)
	}
	third := start(t, dir, "run", "answer")
	if code, err := third.code(); code != 0 || third.out.String() != "42\n" {
		t.Errorf("afterwards: got %d, %q and %q, want 42", code, third.out.String(), err)
	}
}

func TestAnEphemeralRunStandsAloneAndLeavesNothing(t *testing.T) {
	dir := newDir(t)
	first := start(t, dir, "run", "wait")
	first.until("running in")
	second := start(t, dir, "run", "--ephemeral", "answer")
	second.until(filepath.Join(dir, "ephemeral"))
	if code, err := second.code(); code != 0 || second.out.String() != "42\n" {
		t.Errorf("got %d, %q and %q, want 42", code, second.out.String(), err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "ephemeral")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAnMCPServerEndsWithItsInput(t *testing.T) {
	c := start(t, newDir(t), "mcp")
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`not a message`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs_read","arguments":{}}}`,
	} {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	_ = c.in.Close()
	if code, err := c.code(); code != 0 || !strings.Contains(c.out.String(), `"id":2`) || !strings.Contains(c.out.String(), "-32700") {
		t.Errorf("got %d, %q and %q, want the call answered and the bad line refused", code, c.out.String(), err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v to end", took)
	}
}

func TestAReaderThatLeavesStopsTheRunInGoodOrder(t *testing.T) {
	dir := newDir(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(os.Args[0], "run", "--json", "wait"), t: t}
	c.Env = append(os.Environ(), "GOFER_TEST_CHILD=1", "GOFER_HOME="+dir, "DISPLAY=:0")
	c.Stdout = w
	errPipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.err = bufio.NewReader(errPipe)
	_ = r.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if code, text := c.code(); code != 1 || !strings.Contains(text, "broken pipe") {
		t.Errorf("got %d and %q, want 1 and why", code, text)
	}
}
