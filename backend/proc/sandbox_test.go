//go:build linux

package proc

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// boxed runs a line in a sandbox around a workspace, with a home that is hidden.
func boxed(t *testing.T, line string) (out Outcome, ws, home string) {
	t.Helper()
	if err := SandboxWorks(); err != nil {
		t.Skip(err)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, ws = filepath.Join(top, "home"), filepath.Join(top, "home", "work")
	for path, text := range map[string]string{filepath.Join(home, ".ssh", "id"): "secret", filepath.Join(ws, "a.txt"): "hello"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line = strings.NewReplacer("$WS", ws, "$HOME", home).Replace(line)
	out, err = Run(context.Background(), Command{Line: line, Dir: ws, Timeout: 20 * time.Second, Sandbox: &Sandbox{Write: ws, Hidden: []string{home}}})
	if err != nil {
		t.Fatal(err)
	}
	return out, ws, home
}

func TestASandboxedCommandWritesInItsFolderOnly(t *testing.T) {
	out, ws, _ := boxed(t, "cat a.txt; echo new > b.txt; pwd; exit 7")
	if out.Exit != 7 || !strings.HasPrefix(out.Stdout, "hello") || !strings.Contains(out.Stdout, ws) {
		t.Errorf("got %+v", out)
	}
	if raw, _ := os.ReadFile(filepath.Join(ws, "b.txt")); string(raw) != "new\n" {
		t.Errorf("b.txt holds %q", raw)
	}
	for _, line := range []string{"touch /usr/x", "touch /etc/x", "cat $HOME/.ssh/id", "ls $HOME/.ssh", "rm -f /bin/sh"} {
		if out, _, _ := boxed(t, line); out.Exit == 0 {
			t.Errorf("%s: %+v", line, out)
		}
	}
	out, _, home := boxed(t, "echo x > $HOME/new; echo x > /tmp/gofer-sandbox-test")
	if _, err := os.Stat(filepath.Join(home, "new")); err == nil {
		t.Error("it wrote into the home folder")
	}
	if _, err := os.Stat("/tmp/gofer-sandbox-test"); err == nil {
		t.Errorf("it wrote into the shared folder for temporary files: %+v", out)
	}
}

func TestASandboxedCommandReachesNoNetworkAndNoDesktop(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reached := make(chan struct{}, 9)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reached <- struct{}{}
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	t.Setenv("DISPLAY", ":77")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	const dial = `exec 3<>/dev/tcp/127.0.0.1/`
	if out, err := Run(context.Background(), Command{Line: dial + port, Timeout: 10 * time.Second}); err != nil || out.Exit != 0 {
		t.Skipf("this shell cannot dial: %+v, %v", out, err)
	}
	<-reached
	out, _, _ := boxed(t, "bash -c '"+dial+port+"'; echo dialled $?; env")
	if strings.Contains(out.Stdout, "dialled 0") || strings.Contains(out.Stdout, "DISPLAY=") || strings.Contains(out.Stdout, "DBUS_SESSION") {
		t.Errorf("got %s", out.Stdout)
	}
	select {
	case <-reached:
		t.Error("it reached the network")
	case <-time.After(200 * time.Millisecond):
	}
}

func TestASandboxedCommandEndsWithAllItStarted(t *testing.T) {
	if err := SandboxWorks(); err != nil {
		t.Skip(err)
	}
	ws := t.TempDir()
	began := time.Now()
	out, err := Run(context.Background(), Command{Line: "(setsid sleep 301.77 &); sleep 301.77", Dir: ws, Timeout: time.Second, Sandbox: &Sandbox{Write: ws}})
	if err != nil || !out.TimedOut || time.Since(began) > 3*time.Second {
		t.Errorf("after %v: %+v, %v", time.Since(began), out, err)
	}
	for _, p := range processes() {
		raw, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "cmdline"))
		if strings.Contains(string(raw), "301.77") {
			t.Errorf("process %d of it lives", p.pid)
		}
	}
}
