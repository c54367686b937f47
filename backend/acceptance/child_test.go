//go:build linux

package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gofer/backend/event"
)

// child is one running process of the product.
type child struct {
	cmd    *exec.Cmd
	dir    string              // its home
	events chan event.Envelope // what it prints with --json; closed at its end
	exited chan struct{}
	took   time.Duration

	mu  sync.Mutex
	out bytes.Buffer
	err bytes.Buffer
}

// spec says how a child is started.
type spec struct {
	home, cwd string
	as        string // cli when empty
	env       []string
	stdin     string
	binary    string // this program when empty
}

// start runs this program again with the arguments. Whatever the test does, it
// is ended with the test.
func start(t *testing.T, s spec, args ...string) *child {
	t.Helper()
	if s.as == "" {
		s.as = "cli"
	}
	if s.cwd == "" {
		s.cwd = t.TempDir()
	}
	if s.binary == "" {
		s.binary = os.Args[0]
	}
	c := &child{cmd: exec.CommandContext(context.Background(), s.binary, args...), dir: s.home, events: make(chan event.Envelope, 1<<16), exited: make(chan struct{})}
	c.cmd.Dir = s.cwd
	c.cmd.Env = append(os.Environ(), envChild+"="+s.as, "GOFER_HOME="+s.home, "NO_COLOR=1", "DISPLAY=", "WAYLAND_DISPLAY=")
	c.cmd.Env = append(c.cmd.Env, s.env...)
	c.cmd.Stdin = strings.NewReader(s.stdin)
	c.cmd.Stderr = writer(func(p []byte) { c.mu.Lock(); c.err.Write(p); c.mu.Unlock() })
	pipe, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.exited)
		defer close(c.events)
		lines := bufio.NewReader(pipe)
		for {
			line, err := lines.ReadBytes('\n')
			c.mu.Lock()
			c.out.Write(line)
			c.mu.Unlock()
			var e event.Envelope
			if err == nil && line[0] == '{' && json.Unmarshal(line, &e) == nil {
				c.events <- e
			}
			if err != nil {
				break
			}
		}
		_, _ = io.Copy(io.Discard, pipe)
		_ = c.cmd.Wait()
		c.took = time.Since(began)
	}()
	t.Cleanup(func() {
		c.kill()
		until(t, 10*time.Second, "the browser of "+s.home+" is gone", func() bool { return len(browsers(s.home)) == 0 })
	})
	return c
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// kill ends the child at once and waits for it.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
}

// code waits for the child's own end.
func (c *child) code(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-c.exited:
	case <-time.After(within):
		t.Errorf("%v did not end within %v; standard error:\n%s", c.cmd.Args[1:], within, c.stderr())
		c.kill()
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *child) stdout() string { c.mu.Lock(); defer c.mu.Unlock(); return c.out.String() }
func (c *child) stderr() string { c.mu.Lock(); defer c.mu.Unlock(); return c.err.String() }

// gofer runs one command line to its end.
func gofer(t *testing.T, s spec, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := start(t, s, args...)
	code = c.code(t, 60*time.Second)
	return code, c.stdout(), c.stderr()
}

// newHome is a data folder that does not exist yet.
func newHome(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "home")
}

// until waits for a condition and fails the test when it does not come.
func until(t *testing.T, within time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > within {
			t.Errorf("not within %v: %s", within, what)
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(began)
}

// browsers are the ids of living processes whose command line names a profile
// of the home.
func browsers(home string) []int {
	return processes(func(args string) bool { return strings.Contains(args, "--user-data-dir="+home+"/") })
}

// processes lists the living processes that match, without this one.
func processes(match func(args string) bool) []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []int
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
		if _, after, _ := bytes.Cut(stat, []byte(") ")); pid == os.Getpid() || len(after) == 0 || after[0] == 'Z' || after[0] == 'X' {
			continue
		}
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if match(string(args)) {
			found = append(found, pid)
		}
	}
	return found
}

// p95 is the 95th percentile, and the largest.
func p95(d []time.Duration) (time.Duration, time.Duration) {
	if len(d) == 0 {
		return 0, 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return d[(len(d)*95+99)/100-1], d[len(d)-1]
}
