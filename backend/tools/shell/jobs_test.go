//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/tool"
)

// desk is a place with jobs in it.
type desk struct {
	t    *testing.T
	ws   string
	jobs *Jobs
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, ws: t.TempDir(), jobs: NewJobs()}
	t.Cleanup(d.jobs.Close)
	return d
}

func (d *desk) do(args map[string]any) tool.Result {
	d.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := Background(d.ws, d.jobs, nil).Run(context.Background(), raw)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// sleeping reports whether a process with that argument lives.
func sleeping(seconds string) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range dirs {
		raw, _ := os.ReadFile(f)
		if strings.Contains(string(raw), "sleep\x00"+seconds) {
			return true
		}
	}
	return false
}

func nap() string { return fmt.Sprintf("300.%06d", rand.IntN(1e6)) }

func TestAJobRunsOnIsReadAndStopped(t *testing.T) {
	d := newDesk(t)
	n := nap()
	r := d.do(map[string]any{"action": "start", "command": "echo begun; (setsid sleep " + n + " &) ; sleep " + n})
	if r.Failed || !strings.HasPrefix(r.Text, "j1 runs since") || !strings.Contains(r.Text, "begun\n</outside>") || r.Origin == "" {
		t.Fatalf("got %+v", r)
	}
	if r := d.do(map[string]any{"action": "list"}); !strings.HasPrefix(r.Text, "j1 runs since") {
		t.Errorf("got %q", r.Text)
	}
	began := time.Now()
	if r := d.do(map[string]any{"action": "stop", "job": "j1"}); r.Failed || !strings.HasPrefix(r.Text, "j1 was stopped") {
		t.Errorf("got %+v", r)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("stopping took %v", took)
	}
	if sleeping(n) {
		t.Error("something of it is still alive")
	}
	if r := d.do(map[string]any{"action": "output", "job": "j1"}); !strings.Contains(r.Text, "begun") {
		t.Errorf("what it printed is gone: %q", r.Text)
	}
	if r := d.do(map[string]any{"action": "output", "job": "j7"}); !r.Failed || !strings.Contains(r.Text, `no job "j7"`) {
		t.Errorf("got %+v", r)
	}
}

func TestAJobThatFailsAtOnceSaysSo(t *testing.T) {
	d := newDesk(t)
	r := d.do(map[string]any{"action": "start", "command": "echo no such thing >&2; exit 4"})
	if !r.Failed || !strings.HasPrefix(r.Text, "j1 ended with exit code 4") || !strings.Contains(r.Text, "no such thing") {
		t.Errorf("got %+v", r)
	}
	for args, want := range map[string]string{"": "empty", "x\x00y": "NUL"} {
		if r := d.do(map[string]any{"action": "start", "command": args}); !r.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%q: %+v", args, r)
		}
	}
	if r := d.do(map[string]any{"action": "start", "command": "true", "cwd": "nowhere"}); !r.Failed || !strings.Contains(r.Text, "no folder") {
		t.Errorf("got %+v", r)
	}
}

func TestJobsEndWithTheirOwnerAndAreNotTooMany(t *testing.T) {
	d := newDesk(t)
	n := nap()
	for range mostJobs {
		if r := d.do(map[string]any{"action": "start", "command": "sleep " + n}); r.Failed {
			t.Fatalf("got %+v", r)
		}
	}
	if r := d.do(map[string]any{"action": "start", "command": "sleep " + n}); !r.Failed || !strings.Contains(r.Text, "Stop one first") {
		t.Errorf("got %+v", r)
	}
	began := time.Now()
	d.jobs.Close()
	if took := time.Since(began); took > 3*time.Second || sleeping(n) {
		t.Errorf("closing took %v, alive: %v", took, sleeping(n))
	}
	if r := d.do(map[string]any{"action": "start", "command": "sleep " + n}); !r.Failed {
		t.Errorf("a job was started for an owner that is gone: %+v", r)
	}
}

func TestOldJobsAreForgottenAndTheirFloodIsBounded(t *testing.T) {
	d := newDesk(t)
	for i := range keptJobs + 5 {
		if _, err := d.jobs.start(fmt.Sprint("echo ", i), d.ws, nil); err != nil {
			t.Fatal(err)
		}
		for _, b := range d.jobs.all() {
			<-b.over
		}
	}
	if n := len(d.jobs.all()); n > keptJobs+1 {
		t.Errorf("%d jobs are kept", n)
	}
	r := d.do(map[string]any{"action": "start", "command": "yes | head -c 50000000"})
	for range 100 {
		if r = d.do(map[string]any{"action": "output", "job": strings.Fields(r.Text)[0]}); !strings.Contains(r.Text, " runs ") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(r.Text) > 64<<10 || !strings.Contains(r.Text, "truncated") {
		t.Errorf("got %d bytes", len(r.Text))
	}
}

func TestStartingAJobClaimsTheCommand(t *testing.T) {
	d := newDesk(t)
	for args, want := range map[string]int{`{"action":"start","command":"make"}`: 1, `{"action":"list"}`: 0, `{"action":"stop","job":"j1"}`: 0, `{"action":"output","job":"j1"}`: 0} {
		claims, err := Background(d.ws, d.jobs, nil).Claims(context.Background(), json.RawMessage(args))
		if err != nil || len(claims) != want || want == 1 && (claims[0].Class != tool.RunCommand || claims[0].Object != "make") {
			t.Errorf("%s claims %+v, %v", args, claims, err)
		}
	}
}
