package cli

import (
	"context"
	"strings"
	"testing"

	"gofer/backend/engine"
	"gofer/backend/host/hosttest"
)

func TestUndoSaysWhatCameBackAndWhatDidNot(t *testing.T) {
	fake := func(changes []engine.FileChange, u engine.Undone) *hosttest.Fake {
		f := &hosttest.Fake{On: map[string]func(context.Context, ...any) (any, error){}}
		f.On["Sessions"] = func(context.Context, ...any) (any, error) { return []engine.Session{{ID: session}}, nil }
		f.On["Changes"] = func(context.Context, ...any) (any, error) { return changes, nil }
		f.On["Undo"] = func(context.Context, ...any) (any, error) { return u, nil }
		return f
	}
	changes := []engine.FileChange{{Run: "r2", Call: "c2", Path: "/w/b.txt", Did: "changed"}, {Run: "r1", Call: "c1", Path: "/w/a.txt", Did: "made"}}
	u := engine.Undone{Files: []engine.UndoneFile{{Path: "/w/a.txt", Did: "made"}, {Path: "/w/b.txt", Did: "changed"}, {Path: "/w/c.txt", Did: "deleted"}}}

	f := fake(changes, u)
	x := newTerminal(t, f, "undo")
	x.want(x.run(), ExitDone, "removed /w/a.txt\nrestored /w/b.txt\nbrought back /w/c.txt\n", "")
	if got := f.Calls("Undo")[0].Args; got[0] != "r2" || got[1] != "" {
		t.Errorf("undone was %v", got)
	}

	u.Files[1].Problem, u.Commands = "it was changed since", []string{"make"}
	f = fake(changes, u)
	x = newTerminal(t, f, "undo", "last", "--run", "r1", "--call", "c1")
	x.want(x.run(), ExitFailed, "removed /w/a.txt\nnot undone: /w/b.txt, because it was changed since\nbrought back /w/c.txt\ncannot be undone: the command make\n", "")
	if got := f.Calls("Undo")[0].Args; got[0] != "r1" || got[1] != "c1" {
		t.Errorf("undone was %v", got)
	}

	f = fake(changes, u)
	x = newTerminal(t, f, "undo", "--list")
	if code := x.run(); code != ExitDone || !strings.Contains(x.out.String(), "made    /w/a.txt  run r1  call c1") || len(f.Calls("Undo")) != 0 {
		t.Errorf("exit %d, %s", code, x.out.String())
	}

	x = newTerminal(t, fake(nil, u), "undo")
	x.want(x.run(), ExitFailed, "", "nothing to undo")
}
