package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/tool"
)

// as makes a call of a run.
func (p *place) as(run, id, name string, args map[string]any) {
	p.t.Helper()
	r := p.callIn(tool.WithCall(context.Background(), run, id), name, args)
	if r.Failed {
		p.t.Fatalf("%s: %s", name, r.Text)
	}
}

func ofRun(run string) func(Change) bool { return func(c Change) bool { return c.Run == run } }

func TestARunIsUndoneAsAWholeAndOthersAreLeftAlone(t *testing.T) {
	p := newPlace(t)
	p.file("kept.txt", "as it was")
	p.file("gone.txt", "was here")
	p.as("r1", "c1", "fs_write", map[string]any{"path": "kept.txt", "content": "once"})
	p.as("r1", "c2", "fs_write", map[string]any{"path": "kept.txt", "content": "twice"})
	p.as("r1", "c3", "fs_delete", map[string]any{"path": "gone.txt"})
	p.as("r1", "c4", "fs_mkdir", map[string]any{"path": "new"})
	p.as("r1", "c5", "fs_write", map[string]any{"path": "new/made.txt", "content": "made"})
	p.as("r2", "c6", "fs_write", map[string]any{"path": "other.txt", "content": "of another run"})
	got, err := Undo(p.f.Trash, ofRun("r1"))
	if err != nil || len(got) != 5 {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, u := range got {
		if u.Problem != "" {
			t.Errorf("%s %s: %s", u.Tool, u.Path, u.Problem)
		}
	}
	if p.content("kept.txt") != "as it was" || p.content("gone.txt") != "was here" || exists(filepath.Join(p.ws, "new")) || p.content("other.txt") != "of another run" {
		t.Errorf("the workspace is not as it was: %q %q", p.content("kept.txt"), p.content("other.txt"))
	}
	if list, _ := Changes(p.f.Trash); len(list) != 1 || list[0].Run != "r2" {
		t.Errorf("left to undo: %+v", list)
	}
}

func TestOneCallIsUndone(t *testing.T) {
	p := newPlace(t)
	p.as("r1", "c1", "fs_write", map[string]any{"path": "a.txt", "content": "a"})
	p.as("r1", "c2", "fs_write", map[string]any{"path": "b.txt", "content": "b"})
	got, err := Undo(p.f.Trash, func(c Change) bool { return c.Call == "c1" })
	if err != nil || len(got) != 1 || exists(filepath.Join(p.ws, "a.txt")) || !exists(filepath.Join(p.ws, "b.txt")) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWhatWasChangedSinceIsNotUndone(t *testing.T) {
	for name, c := range map[string]struct {
		do, since func(p *place)
		want      string
		left      string
	}{
		"written by hand": {
			func(p *place) { p.as("r", "c", "fs_write", map[string]any{"path": "a.txt", "content": "of the run"}) },
			func(p *place) { p.file("a.txt", "by hand") }, "changed since", "by hand",
		},
		"made again": {
			func(p *place) { p.as("r", "c", "fs_delete", map[string]any{"path": "a.txt"}) },
			func(p *place) { p.file("a.txt", "by hand") }, "of that name again", "by hand",
		},
		"moved away": {
			func(p *place) { p.as("r", "c", "fs_write", map[string]any{"path": "a.txt", "content": "of the run"}) },
			func(p *place) { _ = os.Rename(filepath.Join(p.ws, "a.txt"), filepath.Join(p.ws, "b.txt")) }, "moved or deleted", "",
		},
		"made a pipe's place": {
			func(p *place) { p.as("r", "c", "fs_write", map[string]any{"path": "a.txt", "content": "of the run"}) },
			func(p *place) {
				_ = os.Remove(filepath.Join(p.ws, "a.txt"))
				_ = os.Mkdir(filepath.Join(p.ws, "a.txt"), 0o755)
			}, "changed since", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.file("a.txt", "before")
			c.do(p)
			c.since(p)
			got, err := Undo(p.f.Trash, ofRun("r"))
			if err != nil || len(got) != 1 || !strings.Contains(got[0].Problem, c.want) {
				t.Fatalf("got %+v, %v", got, err)
			}
			if c.left != "" && p.content("a.txt") != c.left {
				t.Errorf("a.txt is %q", p.content("a.txt"))
			}
			if list, _ := Changes(p.f.Trash); len(list) != 1 {
				t.Error("what was kept of it is gone")
			}
		})
	}
}

func TestALargeFileThatWasOverwrittenIsSaidToBeLost(t *testing.T) {
	p := newPlace(t)
	big := filepath.Join(p.ws, "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, copyUpTo+1); err != nil {
		t.Fatal(err)
	}
	p.as("r", "c", "fs_write", map[string]any{"path": "big", "content": "small"})
	got, err := Undo(p.f.Trash, ofRun("r"))
	if err != nil || len(got) != 1 || !strings.Contains(got[0].Problem, "too large") {
		t.Errorf("got %+v, %v", got, err)
	}
}
