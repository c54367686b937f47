//go:build linux

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// TestProcessesAndRunsSideBySideLoseNothingAndDoNotMix starts several commands
// on one home at the same moment, each with a run of its own.
func TestProcessesAndRunsSideBySideLoseNothingAndDoNotMix(t *testing.T) {
	together, steps := 4, 10
	if long() {
		together, steps = 12, 40
	}
	dir := newHome(t)
	p := open(t, dir)
	p.unnamed()
	settings, err := p.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	settings.ConcurrentRuns = min(together, 8)
	if _, err := p.SaveSettings(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	p.end()
	var children []*child
	var folders []string
	for n := range together {
		var turns []script.Turn
		for i := range steps {
			turns = append(turns, script.Calls(script.Tool("fs_write", args{"path": fmt.Sprintf("f%d", i), "content": fmt.Sprintf("of run %d", n)}), script.Tool("fs_list", args{"path": "."})))
		}
		model := llmtest.Serve(t, script.Script{Model: "m", Turns: append(turns, script.Says(fmt.Sprintf("Answer %d.", n)))})
		folders = append(folders, t.TempDir())
		children = append(children, start(t, spec{home: dir, cwd: folders[n]}, "run", "--mode", "full", "--base-url", model.URL, "--model", "m", fmt.Sprintf("Prompt %d", n)))
	}
	for n, c := range children {
		code, out, stderr := c.code(t, 90*time.Second), c.stdout(), c.stderr()
		if want := fmt.Sprintf("Answer %d.\n", n); code != 0 || out != want {
			t.Errorf("command %d: exit %d, %q, want %q; standard error:\n%s", n, code, out, want, stderr)
		}
		if strings.Contains(stderr, "locked") || strings.Contains(stderr, "busy") {
			t.Errorf("command %d says %s", n, stderr)
		}
		for i := range steps {
			raw, err := os.ReadFile(filepath.Join(folders[n], fmt.Sprintf("f%d", i)))
			if want := fmt.Sprintf("of run %d", n); err != nil || string(raw) != want {
				t.Errorf("command %d: file %d holds %q, %v", n, i, raw, err)
			}
		}
	}
	p = open(t, dir)
	sessions, err := p.Sessions(t.Context(), engine.SessionQuery{})
	if err != nil || len(sessions) != together {
		t.Fatalf("%d sessions are stored, %v; want %d", len(sessions), err, together)
	}
	p.end()
	for _, s := range sessions {
		kept := read(t, dir, s.ID)
		kept.check(t)
		own := strings.TrimPrefix(kept.messages[0].Text(), "Prompt ")
		if want := 2 + 3*steps; len(kept.messages) != want || kept.messages[want-1].Text() != "Answer "+own+"." {
			t.Errorf("the session of prompt %s has %d messages, want %d, and ends with %q", own, len(kept.messages), want, kept.messages[len(kept.messages)-1].Text())
		}
		for _, m := range kept.messages {
			if m.Result != nil && m.Result.State != chat.CallSucceeded {
				t.Errorf("a call of prompt %s gave %+v", own, m.Result)
			}
			for _, c := range m.Calls {
				if c.Name == "fs_write" && !strings.Contains(string(c.Arguments), "of run "+own) {
					t.Errorf("the session of prompt %s holds the call %s", own, c.Arguments)
				}
			}
		}
	}
	whole(t, dir)
	t.Logf("%d commands at once, %d calls each: nothing lost, nothing locked, nothing mixed", together, 2*steps)
}
