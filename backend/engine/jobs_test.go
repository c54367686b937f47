//go:build linux

package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/llm/script"
)

// A job goes on after its run, and ends with its session or with the engine.
func TestABackgroundJobEndsWithItsSession(t *testing.T) {
	for name, end := range map[string]func(r *rig, sessionID string) error{
		"deleted": func(r *rig, sessionID string) error { return r.DeleteSession(r.t.Context(), sessionID) },
		"closed":  func(r *rig, _ string) error { return r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			nap := fmt.Sprintf("300.%06d", rand.IntN(1e6))
			r := newRig(t, turns("m", script.Calls(script.Tool("shell_jobs", map[string]any{"action": "start", "command": "sleep " + nap})), script.Says("It runs.")))
			s := r.session("m", "full")
			r.finished(r.send(s, "start it"))
			if got := results(r.snapshot(s)); len(got) != 1 || !strings.HasPrefix(got[0].Text, "j1 runs since") || !asleep(nap) {
				t.Fatalf("answers %+v, alive %v", got, asleep(nap))
			}
			began := time.Now()
			if err := end(r, s.ID); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); asleep(nap) || took > 3*time.Second {
				t.Errorf("after %v it is alive: %v", took, asleep(nap))
			}
		})
	}
}

// asleep reports whether a process sleeps for so many seconds.
func asleep(seconds string) bool {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range list {
		raw, _ := os.ReadFile(f)
		if strings.Contains(string(raw), "sleep\x00"+seconds) {
			return true
		}
	}
	return false
}
