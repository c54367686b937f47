//go:build linux

package acceptance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
	"gofer/backend/store/storetest"
)

// faulty is an engine whose disk can be made to fail, and the run that it plays:
// a look, a write that needs leave, a question and an answer.
type faulty struct {
	*here
	model *script.Server
}

func newFaulty(t *testing.T, p *here) *faulty {
	turns := []script.Turn{
		script.Calls(script.Tool("fs_list", args{"path": "."}), script.Tool("fs_list", args{"path": "./"})),
		script.Calls(script.Tool("fs_write", args{"path": "a.txt", "content": "a"})),
		script.Calls(script.Tool("ask_clarification", args{"title": "Which?", "kind": "input"})),
		script.Says("Done."), script.Says("Done again."),
	}
	f := &faulty{here: p, model: llmtest.Serve(t, script.Script{Model: "run", By: script.ByHistory, Doubt: "nothing is doubted", Turns: turns})}
	if _, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Scripted", BaseURL: f.model.URL, Model: "run", Default: true}); err != nil {
		t.Fatal(err)
	}
	p.unnamed()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	events, err := p.Events(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	go func() { // the person
		for e := range events {
			switch d := e.Data.(type) {
			case event.ApprovalAsked:
				_ = p.Answer(ctx, d.ID, engine.Answer{Allow: true})
			case event.ClarificationAsked:
				_ = p.Answer(ctx, d.ID, engine.Answer{Text: "this"})
			}
		}
	}()
	return f
}

// TestAWriteThatFailsAnywhereInARunLosesNothing fails each write of a run in
// turn, once and for good, as SQLite tests itself. The short form takes a sample.
func TestAWriteThatFailsAnywhereInARunLosesNothing(t *testing.T) {
	faults := storetest.NewFaults(t)
	p := openWith(t, newHome(t), engine.Options{Driver: faults.Driver})
	f := newFaulty(t, p)
	ends := map[string]int{}
	writes, refused := 0, 0
	step := 11
	if long() {
		step = 1
	}
	for n, reached := 1, true; reached; n += step {
		reached = false
		for _, kind := range []struct {
			err   error
			stays bool
		}{{storetest.ErrIO, false}, {storetest.ErrFull, true}} {
			session := f.session(engine.SessionSpec{Mode: "ask", Workspace: t.TempDir()})
			faults.At(n, kind.stays, kind.err)
			runID, err := f.SendPrompt(t.Context(), session.ID, chat.Prompt{Text: "Go."})
			if err == nil && kind.stays {
				until(t, 10*time.Second, "the fault is met twice, by the run and by its end, or the run is over", func() bool {
					_, failed := faults.Seen()
					return failed > 1 || over(f.told(session.ID))
				})
			}
			_, failed := faults.Seen()
			if err != nil || kind.stays {
				faults.Off()
			}
			if err != nil {
				refused++
				if failed == 0 || !strings.Contains(err.Error(), "disk") {
					t.Fatalf("write %d: the prompt was refused with: %v", n, err)
				}
			} else {
				end := f.finished(session.ID, runID, 10*time.Second)
				ends[fmt.Sprintf("%s %s", end.State, end.Reason)]++
				if end.State == event.RunIsFailed && (end.Error == nil || !strings.Contains(end.Error.Message, "disk") || end.Error.Hint == "") {
					t.Errorf("write %d: the run failed without a word of the disk: %+v", n, end.Error)
				}
			}
			made, failed := faults.Seen()
			faults.Off()
			if failed > 0 {
				reached = true
			} else {
				writes = made
			}
			f.sound(session.ID, n)
			if t.Failed() {
				t.Fatalf("at write %d (%v)", n, kind)
			}
		}
	}
	t.Logf("%d writes in a run, every %d. failed once and for good; %d prompts were refused, the others ended %v", writes, step, refused, ends)
	if writes < 60 || refused == 0 || len(ends) < 2 {
		t.Errorf("got %d writes, %d refused, the ends %v; want more of each", writes, refused, ends)
	}
}

func over(events []event.Envelope) bool {
	for _, e := range events {
		if _, ok := e.Data.(event.RunFinished); ok {
			return true
		}
	}
	return false
}

// sound sees that what was told is stored, that the database is whole, and that
// the session goes on.
func (f *faulty) sound(sessionID string, n int) {
	t := f.t
	next := f.send(sessionID, "And now?")
	if end := f.finished(sessionID, next, 10*time.Second); end.State != event.RunIsCompleted {
		t.Errorf("after the fault the next run ended %s (%+v), want completed", end.State, end.Error)
	}
	kept := read(t, f.dir, sessionID)
	kept.check(t)
	if kept.messages[0].Role != chat.User {
		t.Errorf("the transcript begins with %+v", kept.messages[0])
	}
	sameEvents(t, fmt.Sprintf("write %d", n), kept.events, f.told(sessionID))
	whole(t, f.dir)
}

// whole asks SQLite whether the database of a home is.
func whole(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+dir+"/gofer.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var answer string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&answer); err != nil || answer != "ok" {
		t.Errorf("the database is not whole: %s, %v", answer, err)
	}
}

// TestAFullDiskEndsARunAndFreeSpaceLetsTheNextOneRun fills a real disk.
func TestAFullDiskEndsARunAndFreeSpaceLetsTheNextOneRun(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		if !errors.Is(err, syscall.EPERM) {
			t.Fatal(err)
		}
		t.Logf("no disk may be mounted here (%v); that every write may fail is shown by the test before", err)
		return
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	p := open(t, filepath.Join(disk, "home"))
	f := newFaulty(t, p)
	ends := map[string]int{}
	refused := 0
	for _, free := range []int64{0, 1, 2, 4, 6, 8, 12, 16, 24, 32} { // pages of 4 KiB
		session := f.session(engine.SessionSpec{Mode: "ask", Workspace: t.TempDir()})
		ballast := fill(t, disk, free<<12)
		runID, err := f.SendPrompt(t.Context(), session.ID, chat.Prompt{Text: "Go."})
		if err == nil {
			for began := time.Now(); time.Since(began) < 300*time.Millisecond && !over(f.told(session.ID)); {
				time.Sleep(5 * time.Millisecond) // while the disk is full the run may not be able to end
			}
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			if refused++; !strings.Contains(err.Error(), "disk is full") {
				t.Errorf("with %d pages free the prompt was refused with: %v", free, err)
			}
		} else {
			end := f.finished(session.ID, runID, 20*time.Second)
			if end.Error != nil && !strings.Contains(end.Error.Message, "disk is full") {
				t.Errorf("with %d pages free the run failed with %+v", free, end.Error)
			}
			ends[fmt.Sprintf("%s %s", end.State, end.Reason)]++
		}
		f.sound(session.ID, int(free))
	}
	t.Logf("a full disk: %d prompts refused, the others ended %v", refused, ends)
	if refused == 0 || len(ends) == 0 {
		t.Errorf("%d prompts refused, ends %v; want some of each", refused, ends)
	}
}

// fill leaves so many bytes of a disk and returns the file that takes the rest.
func fill(t *testing.T, disk string, free int64) string {
	t.Helper()
	var space syscall.Statfs_t
	if err := syscall.Statfs(disk, &space); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(disk, "ballast")
	take := int64(space.Bavail)*space.Bsize - free
	if err := os.WriteFile(name, make([]byte, max(take, 0)), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
