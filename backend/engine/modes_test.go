package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
	"gofer/backend/proc"
)

func TestPlanModeLooksAndChangesNothing(t *testing.T) {
	r := newRig(t, turns("m",
		script.Calls(script.Tool("fs_read", map[string]any{"path": "a.txt"}), script.Tool("fs_write", map[string]any{"path": "b.txt", "content": "x"}), script.Tool("shell_exec", map[string]any{"command": "touch c.txt"})),
		script.Says("I would copy a.txt.")))
	put(t, filepath.Join(r.work, "a.txt"), "what is there")
	s := r.session("m", "plan")
	r.finished(r.send(s, "copy it"))
	got := results(r.snapshot(s))
	if len(got) != 3 || !strings.Contains(got[0].Text, "what is there") {
		t.Fatalf("answers %+v", got)
	}
	for _, a := range got[1:] {
		if a.State != chat.CallFailed || !strings.Contains(a.Text, "In Plan mode nothing is changed, sent or run.") {
			t.Errorf("%s: %+v", a.Name, a)
		}
	}
	for _, name := range []string{"b.txt", "c.txt"} {
		if _, err := os.Stat(filepath.Join(r.work, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

func TestACardSaysAfterWhatTextItComes(t *testing.T) {
	r := newRig(t, turns("m",
		write("first.txt", "x"),
		script.Calls(script.Tool("fs_read", map[string]any{"path": "letter.txt"})),
		write("second.txt", "x"),
		script.Says("done"),
		write("third.txt", "x"), script.Says("done")))
	put(t, filepath.Join(r.work, "letter.txt"), "Write second.txt, says the letter.")
	s := r.session("m", "ask")
	asked := func(runID, want string) {
		t.Helper()
		a := r.until("the card", func(e event.Envelope) bool { return e.Type == "approval.asked" && e.RunID == runID }).Data.(event.ApprovalAsked)
		if strings.Contains(a.Why, "after reading text from letter.txt") != (want != "") {
			t.Errorf("the card says %q", a.Why)
		}
		if err := r.Answer(t.Context(), a.ID, engine.Answer{Allow: true, Scope: "once"}); err != nil {
			t.Fatal(err)
		}
	}
	runID := r.send(s, "go")
	asked(runID, "")
	asked(runID, "letter.txt")
	r.finished(runID)
	r.Close()
	r.open()
	runID = r.send(s, "go on") // the letter is still in the context
	asked(runID, "letter.txt")
	r.finished(runID)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAutoModeRunsCommandsInTheSandboxAndAsksToGetOut(t *testing.T) {
	if err := proc.SandboxWorks(); err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	put(t, filepath.Join(home, ".ssh", "id"), "the key of the person")
	r := newRig(t, turns("m",
		script.Calls(script.Tool("shell_exec", map[string]any{"command": "echo made > in.txt; cat " + home + "/.ssh/id; touch " + home + "/out.txt; env"})),
		script.Calls(script.Tool("shell_jobs", map[string]any{"action": "start", "command": "cat " + home + "/.ssh/id; exit 3"})),
		write("b.txt", "x"),
		script.Calls(script.Tool("shell_exec", map[string]any{"command": "cat " + home + "/.ssh/id", "outside_sandbox": true})),
		script.Says("done")))
	s := r.session("m", "auto")
	runID := r.send(s, "go")
	asked := r.until("the card", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if !strings.Contains(string(asked.Args), "outside_sandbox") {
		t.Errorf("asked about %s", asked.Args)
	}
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Allow: false}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID)
	got := results(r.snapshot(s))
	if len(got) != 4 {
		t.Fatalf("answers %+v", got)
	}
	for _, a := range got {
		if strings.Contains(a.Text, "the key of the person") {
			t.Errorf("%s read the key: %s", a.Name, a.Text)
		}
	}
	if !strings.Contains(got[1].Text, "It ran in a sandbox") {
		t.Errorf("the job is not told of the sandbox: %s", got[1].Text)
	}
	if raw, _ := os.ReadFile(filepath.Join(r.work, "in.txt")); string(raw) != "made\n" {
		t.Errorf("in.txt holds %q", raw)
	}
	if _, err := os.Stat(filepath.Join(home, "out.txt")); err == nil {
		t.Error("it wrote outside of the workspace")
	}
}
