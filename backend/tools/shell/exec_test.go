//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gofer/backend/tool"
)

func call(t *testing.T, ctx context.Context, ws string, args map[string]any) (tool.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return Exec(ws, nil).Run(ctx, raw)
}

func TestACommandRunsInTheWorkspace(t *testing.T) {
	ws := filepath.Join(t.TempDir(), "made on first need")
	r, err := call(t, context.Background(), ws, map[string]any{"command": "pwd; echo oops >&2; exit 3"})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Exit code 3.", "made on first need\n</outside>", "oops", `<outside from="stderr of`} {
		if !strings.Contains(r.Text, part) {
			t.Errorf("%q is not in %q", part, r.Text)
		}
	}
	if !r.Failed || r.Outcome != "exit 3" || r.Origin == "" {
		t.Errorf("got %+v", r)
	}
	r, err = call(t, context.Background(), ws, map[string]any{"command": "true", "cwd": "nowhere"})
	if err != nil || !r.Failed || !strings.Contains(r.Text, "no folder") {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestWhatIsLeftRunningAndTooLongIsSaid(t *testing.T) {
	ws := t.TempDir()
	r, err := call(t, context.Background(), ws, map[string]any{"command": "sleep 60 & echo hi"})
	if err != nil || r.Failed || !strings.Contains(r.Text, "left a process running") || !strings.Contains(r.Text, "hi\n") {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = call(t, context.Background(), ws, map[string]any{"command": "sleep 60", "timeout_ms": 100})
	if err != nil || !r.Failed || r.Outcome != "timed out" {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = call(t, context.Background(), ws, map[string]any{"command": "yes | head -c 5000000"})
	if err != nil || len(r.Text) > 64<<10 || !strings.Contains(r.Text, "truncated") {
		t.Errorf("got %d bytes, %v", len(r.Text), err)
	}
}

func TestOutputIsProgressAndStopIsQuick(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var once sync.Once
	var stopped time.Time
	r, err := call(t, tool.WithProgress(ctx, func(s string) {
		if strings.Contains(s, "started") {
			once.Do(func() { stopped = time.Now(); stop() })
		}
	}), t.TempDir(), map[string]any{"command": "echo started; sleep 60"})
	if !errors.Is(err, context.Canceled) || time.Since(stopped) > time.Second || !strings.Contains(r.Text, "started") {
		t.Errorf("got %+v, %v after %v", r, err, time.Since(stopped))
	}
}

func TestTheWholeLineAndTheFolderAreClaimed(t *testing.T) {
	ws, _ := filepath.EvalSymlinks(t.TempDir())
	if err := os.Mkdir(filepath.Join(ws, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	line := "echo " + strings.Repeat("x", 10_000) + "\n; rm -rf /"
	raw, _ := json.Marshal(map[string]any{"command": line, "cwd": "sub", "timeout_ms": 5000})
	exec := Exec(ws, nil)
	claims, err := exec.Claims(context.Background(), raw)
	if err != nil || len(claims) != 1 || claims[0].Object != line || claims[0].Detail != filepath.Join(ws, "sub") {
		t.Errorf("got %+v, %v", claims, err)
	}
	if got := exec.Deadline(raw); got != 10*time.Second {
		t.Errorf("the deadline is %v", got)
	}
}
