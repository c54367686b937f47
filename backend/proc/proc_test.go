//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

func run(t *testing.T, c Command) Outcome {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	out, err := Run(context.Background(), c)
	if err != nil {
		t.Fatalf("Run(%q): %v", c.Line, err)
	}
	return out
}

// pidIn waits until a command has written a process number to the file.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	var pid int
	waitFor(t, func() bool {
		raw, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(string(raw), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		return err == nil
	})
	return pid
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("waited for 10 s in vain")
		}
	}
}

func alive(pid int) bool { _, ok := lookup(pid); return ok }

func TestACommandGivesBothStreamsAndItsExitCode(t *testing.T) {
	dir := t.TempDir()
	out := run(t, Command{Line: "pwd; echo bad >&2; exit 7", Dir: dir})
	real, _ := filepath.EvalSymlinks(dir)
	if out.Exit != 7 || strings.TrimSpace(out.Stdout) != real || out.Stderr != "bad\n" || out.Truncated || out.TimedOut {
		t.Fatalf("got %+v", out)
	}
}

func TestNothingCanPrompt(t *testing.T) {
	out := run(t, Command{Line: `cat; read line; echo "[$line]"; (echo x >/dev/tty) 2>/dev/null || echo no terminal`, Timeout: 10 * time.Second})
	if out.Stdout != "[]\nno terminal\n" || out.TimedOut {
		t.Fatalf("got %+v", out)
	}
}

func TestEveryWayToHangEndsInTimeAndLeavesNobody(t *testing.T) {
	for name, line := range map[string]string{
		"plain":             "echo $$ >pid; sleep 60",
		"a grandchild":      "sleep 60 & echo $! >pid; wait",
		"a pipe":            "sleep 60 | (sh -c 'echo $PPID' >pid; cat)",
		"own session":       "setsid sh -c 'echo $$ >pid; exec sleep 60' & wait",
		"nohup and session": "nohup setsid sh -c 'echo $$ >pid; exec sleep 60' & sleep 60",
		"no environment":    "setsid env -i /bin/sh -c 'echo $$ >pid; exec /bin/sleep 60' & wait",
		"forked twice":      "(setsid sh -c 'echo $$ >pid; exec sleep 60' &) ; sleep 60",
		"deaf":              "trap '' TERM INT HUP; echo $$ >pid; sleep 60; sleep 60",
		"stopped":           "echo $$ >pid; kill -STOP $$",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			ended := make(chan time.Time, 1)
			var out Outcome
			var err error
			go func() {
				out, err = Run(ctx, Command{Line: line, Dir: dir})
				ended <- time.Now()
			}()
			pid := pidIn(t, filepath.Join(dir, "pid"))
			began := time.Now()
			stop()
			took := (<-ended).Sub(began)
			if took > time.Second {
				t.Errorf("control came back after %v", took)
			}
			if !errors.Is(err, context.Canceled) || len(out.Left) > 0 {
				t.Errorf("got %+v, %v", out, err)
			}
			if alive(pid) {
				t.Errorf("process %d lives on", pid)
			}
		})
	}
}

func TestTheTimeoutIsKeptAndSaid(t *testing.T) {
	out := run(t, Command{Line: "echo early; sleep 60 & sleep 60", Timeout: 300 * time.Millisecond})
	if !out.TimedOut || out.Stdout != "early\n" || out.Elapsed > 1800*time.Millisecond {
		t.Fatalf("got %+v", out)
	}
}

func TestWhatIsLeftRunningIsEndedAndSaid(t *testing.T) {
	for name, line := range map[string]string{
		"holds the output": "sleep 60 & echo $! >pid; echo hi",
		"holds nothing":    "sleep 60 >/dev/null 2>&1 & echo $! >pid; echo hi",
		"own session":      "setsid sh -c 'echo $$ >pid; exec sleep 60' >/dev/null 2>&1 & while [ ! -s pid ]; do :; done; echo hi",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out := run(t, Command{Line: line, Dir: dir, Timeout: 20 * time.Second})
			pid := pidIn(t, filepath.Join(dir, "pid"))
			if out.Exit != 0 || out.Stdout != "hi\n" || out.TimedOut || out.Unknown || out.Elapsed > 2500*time.Millisecond {
				t.Errorf("got %+v", out)
			}
			if !slices.Contains(out.Ended, pid) || alive(pid) {
				t.Errorf("process %d: ended %v, alive %v", pid, out.Ended, alive(pid))
			}
		})
	}
}

func TestOneWhoHidesButHoldsTheOutputIsSaid(t *testing.T) {
	// Own session, no marker, its parent gone before the scan: it cannot be
	// told from anybody else's process, but it holds our pipe.
	dir := t.TempDir()
	out := run(t, Command{Line: "(setsid env -i /bin/sh -c 'echo $$ >pid; exec /bin/sleep 5' &); while [ ! -s pid ]; do :; done", Dir: dir})
	pid := pidIn(t, filepath.Join(dir, "pid"))
	t.Cleanup(func() { end(mustLookup(t, pid)) })
	if !out.Unknown || out.Exit != 0 {
		t.Fatalf("got %+v", out)
	}
}

func mustLookup(t *testing.T, pid int) process {
	p, ok := lookup(pid)
	if !ok {
		t.Errorf("process %d is gone already", pid)
	}
	return p
}

func TestAFloodCostsNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	out := run(t, Command{Line: "yes | head -c 200000000; echo the end", Timeout: 60 * time.Second, OnOutput: func(string) {}})
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if len(out.Stdout) > DefaultCap+100 || !out.Truncated || !strings.HasPrefix(out.Stdout, "y\ny\n") ||
		!strings.HasSuffix(out.Stdout, "the end\n") || !strings.Contains(out.Stdout, "truncated: 1999") {
		t.Errorf("got %d bytes, truncated %v", len(out.Stdout), out.Truncated)
	}
}

func TestOutputIsAlwaysText(t *testing.T) {
	out := run(t, Command{Line: "head -c 5000 /dev/urandom; echo; printf 'caf\\303\\251'"})
	if !utf8.ValidString(out.Stdout) || !strings.HasSuffix(out.Stdout, "café") {
		t.Fatal("the output is not valid UTF-8")
	}
	for cap := 10; cap < 20; cap++ {
		out := run(t, Command{Line: "for i in 1 2 3 4 5 6 7 8 9; do printf 'é€'; done", Cap: cap})
		if !utf8.ValidString(out.Stdout) || strings.Contains(out.Stdout, "\uFFFD") {
			t.Errorf("cap %d cut a letter: %q", cap, out.Stdout)
		}
	}
}

func TestOutputIsSeenWhileItRuns(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var seen string
	got := func() string { mu.Lock(); defer mu.Unlock(); return seen }
	ended := make(chan Outcome, 1)
	go func() {
		out, _ := Run(context.Background(), Command{
			Line: "echo first; while [ ! -e go ]; do :; done; echo last", Dir: dir,
			OnOutput: func(s string) { mu.Lock(); seen += s; mu.Unlock() },
		})
		ended <- out
	}()
	waitFor(t, func() bool { return got() == "first\n" })
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got() != "first\nlast\n" {
		t.Fatalf("saw %q", got())
	}
}

func TestNoKeyReachesAChild(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "GOFER_API_KEY", "MY_SECRET", "ANYTHING_ELSE"} {
		t.Setenv(name, "canary-4711")
	}
	out := run(t, Command{Line: "env; tr '\\0' '\\n' </proc/self/environ 2>/dev/null", Env: []string{"EXTRA=yes"}})
	if strings.Contains(out.Stdout, "canary-4711") || !strings.Contains(out.Stdout, "EXTRA=yes") || !strings.Contains(out.Stdout, "PATH=") {
		t.Fatalf("the environment is %q", out.Stdout)
	}
}

func TestAMissingFolderIsNamed(t *testing.T) {
	_, err := Run(context.Background(), Command{Line: "true", Dir: "/no/such/folder"})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/no/such/folder") {
		t.Fatalf("got %v", err)
	}
}

func TestACancelledContextStartsNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Run(ctx, Command{Line: "touch made", Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Fatal("the command ran")
	}
}

func TestProcessLinesOfPSAreRead(t *testing.T) {
	all := parsePS("  12     1    12 S    Mon Nov 30 16:14:00 2026 /bin/sleep 30 GOFER_JOB=abc\n 13 12 12 Z+ Mon Nov 30 16:14:00 2026 (sleep)\nnonsense\n")
	p, ok := all[12]
	if len(all) != 1 || !ok || p.parent != 1 || p.group != 12 || !strings.Contains(p.start, "GOFER_JOB=abc") {
		t.Fatalf("got %+v", all)
	}
}
