package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm/script"
)

func TestARunOrOneCallOfItIsUndone(t *testing.T) {
	r := newRig(t, turns("m",
		write("a.txt", "one"), write("b.txt", "two"), script.Calls(script.Tool("shell_exec", map[string]any{"command": "echo three > c.txt"})), script.Says("done"),
		write("a.txt", "later"), script.Says("done")))
	put(t, filepath.Join(r.work, "b.txt"), "before")
	s := r.session("m", "full")
	first := r.send(s, "go")
	r.finished(first)
	changes, err := r.Changes(t.Context(), s.ID)
	if err != nil || len(changes) != 2 || changes[0].Did != "changed" || changes[1].Did != "made" || changes[0].Run != first {
		t.Fatalf("got %+v, %v", changes, err)
	}
	done, err := r.Undo(t.Context(), first, changes[0].Call)
	if err != nil || len(done.Files) != 1 || done.Files[0].Problem != "" || len(done.Commands) != 0 {
		t.Fatalf("one call: %+v, %v", done, err)
	}
	if raw, _ := os.ReadFile(filepath.Join(r.work, "b.txt")); string(raw) != "before" {
		t.Errorf("b.txt is %q", raw)
	}
	second := r.send(s, "go on")
	r.finished(second)
	done, err = r.Undo(t.Context(), first, "")
	if err != nil || len(done.Files) != 1 || !strings.Contains(done.Files[0].Problem, "changed since") || len(done.Commands) != 1 || !strings.Contains(done.Commands[0], "echo three") {
		t.Errorf("the run under a later one: %+v, %v", done, err)
	}
	note := r.until("the notice", ofType("run.notice")).Data.(event.Notice)
	for !strings.Contains(note.Text, "What commands did stays") {
		note = r.until("the notice of the run", ofType("run.notice")).Data.(event.Notice)
	}
	if _, err = r.Undo(t.Context(), second, ""); err != nil {
		t.Fatal(err)
	}
	if _, err = r.Undo(t.Context(), first, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.work, "a.txt")); err == nil {
		t.Error("a.txt is still there")
	}
	if _, err := r.Undo(t.Context(), first, ""); fault.From(err).Code != fault.NotFound {
		t.Errorf("a second time: %v", err)
	}
}

func TestARunAtWorkIsNotUndone(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "one"), script.Calls(script.Tool("ask_clarification", map[string]any{"kind": "input", "title": "Which colour?"}))))
	s := r.session("m", "full")
	runID := r.send(s, "go")
	r.until("the question", ofType("clarification.asked"))
	if _, err := r.Undo(t.Context(), runID, ""); fault.From(err).Code != fault.Invalid {
		t.Errorf("got %v", err)
	}
}
