//go:build linux

package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gofer/backend/errand"
	"gofer/backend/event"
	"gofer/backend/id"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// says is a scripted model that only talks.
func says(t *testing.T, pieces ...string) *script.Server {
	t.Helper()
	return llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{script.Says(pieces...)}})
}

// failing is one whose every answer goes wrong.
func failing(t *testing.T, f script.Failure) *script.Server {
	t.Helper()
	f.Times = 99
	return llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{{Text: []string{"Fine."}, Fail: []script.Failure{f}}}})
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/v1"
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unhappy is a command line that cannot do what it should.
type unhappy struct {
	name string
	make func(t *testing.T, s *spec) (args []string)
	code int
	says []string // on standard error: what is wrong and the way on
}

const notAKey = "sk-test-4821-not-a-key"

// on is a run on a model server.
func on(base string, args ...string) []string {
	return append([]string{"run", "--headless", "--base-url", base, "--model", "m"}, args...)
}

// opening is a run of a model that opens a page.
func opening(t *testing.T) []string {
	m := llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{
		script.Calls(script.Tool("browser_open", args{"url": "http://127.0.0.1:9/"})), script.Says("The browser did not start."),
	}})
	return on(m.URL, "--mode", "full", "open the page")
}

var unhappyOnes = []unhappy{
	{"no model is reachable", func(t *testing.T, _ *spec) []string { return on(closedPort(t), "hello") }, 1, []string{"127.0.0.1", "runs"}},
	{"the key is wrong", func(t *testing.T, s *spec) []string {
		s.env = []string{"A_KEY=" + notAKey}
		return on(failing(t, script.Failure{Status: 401, Message: "Incorrect API key provided: " + notAKey, Code: "invalid_api_key"}).URL, "--api-key-env", "A_KEY", "hello")
	}, 1, []string{"key"}},
	{"a web page instead of JSON", func(t *testing.T, _ *spec) []string {
		return on(failing(t, script.Failure{Kind: script.FailHTML}).URL, "hello")
	}, 1, []string{"web page", "Check the base URL"}},
	{"no browser in the path", func(t *testing.T, s *spec) []string {
		s.env = []string{"PATH="}
		return opening(t)
	}, 1, []string{"No Chrome, Chromium", "Install one"}},
	{"the browser of the settings is none", func(t *testing.T, s *spec) []string {
		put(t, s.home+"/settings.json", `{"browserPath": "/nowhere/chromium"}`)
		return opening(t)
	}, 1, []string{"/nowhere/chromium", "Name another one in the settings"}},
	{"the workspace is below a file", func(t *testing.T, s *spec) []string {
		put(t, s.cwd+"/file", "")
		return on(says(t, "Fine.").URL, "--workspace", "file/below", "hello")
	}, 1, []string{"workspace", "file/below", "another folder"}},
	{"the home is below a file", func(t *testing.T, s *spec) []string {
		put(t, s.cwd+"/file", "")
		s.home = s.cwd + "/file/home"
		return on(says(t, "Fine.").URL, "hello")
	}, 1, []string{"data folder", "GOFER_HOME"}},
	{"an unknown flag", func(*testing.T, *spec) []string { return []string{"run", "--nonsense", "hello"} }, 2, []string{"--nonsense", "--help"}},
	{"an unknown command", func(*testing.T, *spec) []string { return []string{"rum"} }, 2, []string{`"gofer rum"`, `"run"`}},
	{"no errand", func(*testing.T, *spec) []string { return []string{"run"} }, 2, []string{"Say what to do"}},
	{"no provider is set up", func(*testing.T, *spec) []string { return []string{"run", "hello"} }, 1, []string{"No model is set up", "gofer providers add"}},
	{"an unknown provider", func(*testing.T, *spec) []string { return []string{"run", "--provider", "nobody", "hello"} }, 1, []string{"nobody"}},
	{"an unknown session", func(*testing.T, *spec) []string { return []string{"run", "--session", "nothing", "hello"} }, 1, []string{"no such session"}},
	{"the limit is reached", func(t *testing.T, _ *spec) []string {
		m := llmtest.Serve(t, script.Script{
			Model: "m", Side: []script.Side{{Text: "That is all."}},
			Turns: []script.Turn{script.Calls(script.Tool("fs_list", args{"path": "."})), script.Says("That is all.")},
		})
		return on(m.URL, "--max-iterations", "2", "hello")
	}, 1, []string{"limit", "--session"}},
	{"a database that is none", func(t *testing.T, s *spec) []string {
		put(t, s.home+"/gofer.db", strings.Repeat("This is no database. ", 999))
		return on(says(t, "Fine.").URL, "hello")
	}, 1, []string{"gofer.db", "left as it is", "Move it away"}},
	{"an empty database file", func(t *testing.T, s *spec) []string {
		put(t, s.home+"/gofer.db", "")
		return []string{"sessions", "list"}
	}, 1, []string{"gofer.db", "left as it is"}},
}

func TestWhatCannotBeDoneIsSaidWithAWayOn(t *testing.T) {
	for _, c := range unhappyOnes {
		t.Run(c.name, func(t *testing.T) {
			s := spec{home: newHome(t), cwd: t.TempDir()}
			line := c.make(t, &s)
			before, _ := os.ReadFile(s.home + "/gofer.db")
			code, _, stderr := gofer(t, s, line...)
			t.Logf("exit code %d\n%s", code, stderr)
			if code != c.code {
				t.Errorf("got exit code %d, want %d", code, c.code)
			}
			plain(t, stderr, c.says...)
			if after, err := os.ReadFile(s.home + "/gofer.db"); before != nil && (err != nil || !bytes.Equal(before, after)) {
				t.Errorf("the broken database was changed (%v)", err)
			}
		})
	}
}

// plain checks that a text is for people and holds the words.
func plain(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, want := range words {
		if !strings.Contains(text, want) {
			t.Errorf("standard error lacks %q:\n%s", want, text)
		}
	}
	for _, never := range []string{"goroutine ", "panic", ".go:", "DATA RACE", "%!", notAKey, "<nil>", "&{"} {
		if strings.Contains(text, never) {
			t.Errorf("standard error holds %q:\n%s", never, text)
		}
	}
}

func TestBrokenSettingsAreKeptAsideAndSaid(t *testing.T) {
	dir, broken := newHome(t), `{"mode": "full", `
	put(t, dir+"/settings.json", broken)
	code, _, stderr := gofer(t, spec{home: dir}, "sessions", "list")
	t.Logf("exit code %d\n%s", code, stderr)
	aside, _ := filepath.Glob(dir + "/settings.json.broken-*")
	if code != 0 || len(aside) != 1 {
		t.Fatalf("got exit code %d and %v, want 0 and one file aside", code, aside)
	}
	if kept, err := os.ReadFile(aside[0]); string(kept) != broken {
		t.Errorf("aside lies %q (%v), want the file as it was", kept, err)
	}
	plain(t, stderr, "settings", "defaults", aside[0])
	if _, _, stderr := gofer(t, spec{home: dir}, "sessions", "list"); strings.Contains(stderr, "broken") {
		t.Errorf("it is said again afterwards: %s", stderr)
	}
}

func TestASecondCommandIsServedByTheFirst(t *testing.T) {
	dir := newHome(t)
	slow := llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{{Text: []string{"First."}, Hold: "gate"}}})
	first := start(t, spec{home: dir}, on(slow.URL, "wait")...)
	select {
	case <-slow.Reached("gate"):
	case <-time.After(20 * time.Second):
		t.Fatalf("the first command asked nothing:\n%s", first.stderr())
	}
	code, stdout, stderr := gofer(t, spec{home: dir}, on(says(t, "Second.").URL, "answer")...)
	if code != 0 || stdout != "Second.\n" {
		t.Errorf("the second command: got %d, %q and %q, want its answer", code, stdout, stderr)
	}
	plain(t, stderr)
	code, stdout, stderr = gofer(t, spec{home: dir}, "sessions", "list")
	if code != 0 || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, "running") || !strings.Contains(stdout, "done") {
		t.Errorf("the list: got %d, %q and %q, want both sessions", code, stdout, stderr)
	}
	slow.Release("gate")
	if code := first.code(t, 20*time.Second); code != 0 || first.stdout() != "First.\n" {
		t.Errorf("the first command: got %d, %q and %q, want its answer", code, first.stdout(), first.stderr())
	}
	plain(t, first.stderr())
}

func TestCtrlCEndsTheCommandAndAllItStarted(t *testing.T) {
	dir, mark := newHome(t), strings.ReplaceAll(id.New(), "-", "")
	digits := strings.Map(func(r rune) rune { return '0' + r%10 }, mark[len(mark)-12:])
	m := llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{
		script.Calls(script.Tool("shell_exec", args{"command": fmt.Sprintf("setsid sleep 60.%[1]s & sleep 61.%[1]s", digits), "timeout_ms": 90_000})),
	}})
	c := start(t, spec{home: dir}, on(m.URL, "--mode", "full", "sleep")...)
	left := func() int {
		return len(processes(func(args string) bool { return strings.Contains(args, digits) }))
	}
	until(t, 20*time.Second, "the command sleeps", func() bool { return left() >= 3 })
	began := time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	code := c.code(t, 5*time.Second)
	took := time.Since(began)
	t.Logf("exit code %d after %.0f ms\n%s", code, ms(took), c.stderr())
	if code != 130 || took > 2*time.Second {
		t.Errorf("got exit code %d after %v, want 130 within a second or so", code, took)
	}
	until(t, 500*time.Millisecond, "nothing sleeps any more", func() bool { return left() == 0 })
	plain(t, c.stderr(), "Stopped")
}

func TestWithoutAPersonTheGuardRefusesNamesTheGrantAndTheRunEnds(t *testing.T) {
	site := seeded(t, errand.Options{Seed: 5, Pages: 2})
	turns := []script.Turn{
		script.Calls(script.Tool("fs_write", args{"path": "a.txt", "content": "written"}), script.Tool("shell_exec", args{"command": "touch b.txt"})),
		script.Calls(script.Tool("fs_list", args{"path": "."})),
		script.Calls(script.Tool("browser_open", args{"url": site.Origin + "/"})),
		script.Says("I could not do it."),
	}
	for _, json := range []bool{false, true} {
		t.Run(fmt.Sprintf("json %v", json), func(t *testing.T) {
			m := llmtest.Serve(t, script.Script{Model: "m", Turns: turns})
			dir, cwd := newHome(t), t.TempDir()
			line := on(m.URL, "--mode", "ask", "write and touch")
			if json {
				line = append(line, "--json")
			}
			c := start(t, spec{home: dir, cwd: cwd}, line...)
			code := c.code(t, 30*time.Second)
			t.Logf("exit code %d\n%s", code, c.stderr())
			if code != 3 {
				t.Errorf("got exit code %d, want 3", code)
			}
			plain(t, c.stderr(), "write: "+cwd, "shell: touch b.txt", "visit: "+site.Origin)
			if left, err := os.ReadDir(cwd); err != nil || len(left) > 0 {
				t.Errorf("the workspace holds %v (%v), want nothing", left, err)
			}
			if hits := site.Hits(); len(hits) > 0 {
				t.Errorf("the site was asked for %v", hits)
			}
			if !json && !strings.Contains(c.stdout(), "I could not do it.") {
				t.Errorf("got the answer %q", c.stdout())
			}
			if json {
				refused := 0
				var end event.RunFinished
				for e := range c.events {
					switch d := e.Data.(type) {
					case event.ApprovalAnswered:
						if !d.Allowed && d.By == "nobody" {
							refused++
						}
					case event.RunFinished:
						end = d
					}
				}
				if refused != 3 || end.State != event.RunIsCompleted {
					t.Errorf("%d approvals were refused and the run ended %s, want 3 and completed", refused, end.State)
				}
			}
		})
	}
}
