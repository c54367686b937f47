package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/id"
	"gofer/backend/store"
	"gofer/backend/store/storetest"
)

func session(t *testing.T, s *storetest.Store) store.Session {
	t.Helper()
	row, err := s.CreateSession(t.Context(), store.Session{Title: "New session", AutoTitle: true, Workspace: "/tmp/ws", Mode: "ask", MaxIterations: 100})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func running(t *testing.T, s *storetest.Store, sessionID, prompt string) (store.Run, *store.Fence) {
	t.Helper()
	run, err := s.Enqueue(t.Context(), store.Run{SessionID: sessionID, MaxIterations: 100, Mode: "ask"}, said(prompt), prompt)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Start(t.Context(), run.ID, store.Route{Model: "m"}, event.Status{State: event.Thinking, RunID: run.ID})
	if err != nil {
		t.Fatal(err)
	}
	return run, f
}

func said(text string) chat.Message {
	return chat.Message{Parts: []chat.Part{{Type: chat.Text, Text: text}}}
}

func reply(t *testing.T, f *store.Fence, calls ...chat.ToolCall) chat.Message {
	t.Helper()
	var m chat.Message
	err := f.Commit(t.Context(), func(c *store.Commit) (err error) {
		m, err = c.Reply(chat.Message{
			Parts: []chat.Part{{Type: chat.Reasoning, Text: "hm"}, {Type: chat.Text, Text: "I look"}}, Calls: calls, Model: "m",
			Usage: &chat.Usage{Input: 3, Output: 2}, Replay: json.RawMessage(`{"x":1}`),
		}, chat.Usage{Input: 3, Output: 2}, 1)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func call(name string) chat.ToolCall {
	return chat.ToolCall{ID: id.New(), Name: name, Arguments: json.RawMessage(`{"path":"a"}`)}
}

func TestSQLiteIsNewEnoughForSafeWAL(t *testing.T) {
	s := storetest.Open(t)
	version, err := s.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var a, b, c int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &a, &b, &c); err != nil || a*1_000_000+b*1_000+c < 3_051_003 {
		t.Fatalf("sqlite_version() = %s, want at least 3.51.3", version)
	}
}

func TestPragmasHoldOnEveryConnection(t *testing.T) {
	s := storetest.Open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := s.Pragmas(context.Background(), "journal_mode", "foreign_keys", "busy_timeout", "synchronous")
			if want := []string{"wal", "1", "5000", "2"}; err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("pragmas = %v, %v; want %v", got, err, want)
			}
		})
	}
	wg.Wait()
}

func TestARunIsStoredStepByStepAndReadBackTheSame(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	run, f := running(t, s, ses.ID, "Read a")
	m := reply(t, f, call("fs_read"))
	err := f.Commit(t.Context(), func(c *store.Commit) error {
		return c.StartCall(m.ID, m.Calls[0], "a", "reads")
	})
	if err != nil {
		t.Fatal(err)
	}
	result := chat.ToolResult{
		CallID: m.Calls[0].ID, Name: "fs_read", State: chat.CallSucceeded, Text: "hello", Outcome: "5 B",
		Artifacts: []chat.Artifact{{Blob: "ab", Name: "a.png"}},
	}
	if err := f.Commit(t.Context(), func(c *store.Commit) error { _, err := c.FinishCall(result); return err }); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(t.Context(), func(c *store.Commit) error { return c.RecordCall(result.CallID, []byte(`{"before":{}}`)) }); err != nil {
		t.Fatal(err)
	}
	if steps, err := s.Steps(t.Context(), run.ID); err != nil || len(steps) != 2 || steps[1].Record != `{"before":{}}` {
		t.Fatalf("steps = %+v, %v; want a reply and a call with its record", steps, err)
	}
	if ended, err := s.Finish(t.Context(), run.ID, store.End{State: event.RunIsCompleted}); err != nil || !ended {
		t.Fatalf("Finish = %v, %v", ended, err)
	}
	got, more, err := s.Messages(t.Context(), ses.ID, 0, 200)
	if err != nil || more || len(got) != 3 {
		t.Fatalf("Messages = %d, more %v, %v; want 3", len(got), more, err)
	}
	if got[0].Text() != "Read a" || !reflect.DeepEqual(got[1], m) || !reflect.DeepEqual(*got[2].Result, result) {
		t.Fatalf("the transcript differs:\n%+v\nwant\n%+v\n%+v", got, m, result)
	}
	after, _ := s.Run(t.Context(), run.ID)
	if after.State != event.RunIsCompleted || after.Calls != 1 || after.TotalUsage().Input != 3 {
		t.Fatalf("run = %+v", after)
	}
}

func TestEventsAreGapFreeAndToldAsStored(t *testing.T) {
	s := storetest.Open(t)
	a, b := session(t, s), session(t, s)
	var wg sync.WaitGroup
	for _, sessionID := range []string{a.ID, b.ID, a.ID, b.ID} {
		wg.Go(func() {
			for range 20 {
				if err := s.Write(context.Background(), func(tx *store.Tx) error {
					return tx.Emit(sessionID, "", event.Notice{Text: "x"})
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, sessionID := range []string{a.ID, b.ID} {
		stored, err := s.Events(t.Context(), sessionID, 0)
		if err != nil || len(stored) != 41 {
			t.Fatalf("%d events, %v; want 41", len(stored), err)
		}
		var told []event.Envelope
		for _, e := range s.Published() {
			if e.SessionID == sessionID {
				told = append(told, e)
			}
		}
		if !reflect.DeepEqual(stored, told) {
			t.Fatal("what was told differs from what is stored")
		}
		for i, e := range stored {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d has seq %d", i, e.Seq)
			}
		}
	}
}

func TestStoredEventsCarryTheirMessages(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	run, f := running(t, s, ses.ID, "go")
	m := reply(t, f, call("fs_read"))
	err := f.Commit(t.Context(), func(c *store.Commit) error {
		_, err := c.FinishCall(chat.ToolResult{CallID: m.Calls[0].ID, Name: "fs_read", State: chat.CallSucceeded, Text: "what is in the file"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(t.Context(), run.ID, store.End{State: event.RunIsCompleted}); err != nil {
		t.Fatal(err)
	}
	stored, err := s.Events(t.Context(), ses.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var told []event.Envelope
	carriers := 0
	for _, e := range s.Published() {
		if e.SessionID == ses.ID {
			told = append(told, e)
		}
		if _, ok := e.Data.(event.Carrier); ok {
			carriers++
		}
	}
	if carriers != 3 || !reflect.DeepEqual(stored, told) {
		t.Errorf("%d events carry a message, want 3; stored\n%+v\ntold\n%+v", carriers, stored, told)
	}
}

func TestAFailedTransactionTellsNothing(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	before := len(s.Published())
	broken := errors.New("no")
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		if err := tx.Emit(ses.ID, "", event.Notice{Text: "x"}); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) || len(s.Published()) != before {
		t.Fatalf("err %v, %d events told", err, len(s.Published())-before)
	}
}

func TestAStoppedOrFinishedRunCannotWrite(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	run, f := running(t, s, ses.ID, "go")
	m := reply(t, f, call("fs_write"), call("fs_read"))
	if err := f.Commit(t.Context(), func(c *store.Commit) error { return c.StartCall(m.ID, m.Calls[0], "a", "acts") }); err != nil {
		t.Fatal(err)
	}
	if going, err := s.AskToStop(t.Context(), run.ID); err != nil || !going {
		t.Fatalf("AskToStop = %v, %v", going, err)
	}
	late := func() error {
		return f.Commit(t.Context(), func(c *store.Commit) error { return c.Emit(event.Notice{Text: "late"}) })
	}
	if err := late(); !errors.Is(err, store.ErrStale) {
		t.Fatalf("a commit after Stop: %v, want ErrStale", err)
	}
	for i := range 2 {
		ended, err := s.Finish(t.Context(), run.ID, store.End{State: event.RunIsCancelled, Reason: "stopped"})
		if err != nil || ended != (i == 0) {
			t.Fatalf("Finish %d = %v, %v", i, ended, err)
		}
	}
	if err := late(); !errors.Is(err, store.ErrStale) {
		t.Fatalf("a commit after the end: %v, want ErrStale", err)
	}
	messages, _, _ := s.Messages(t.Context(), ses.ID, 0, -1)
	var texts []string
	for _, m := range messages {
		if m.Result != nil {
			texts = append(texts, m.Result.Text)
		}
	}
	if want := []string{store.Stopped, store.NotMade}; !reflect.DeepEqual(texts, want) {
		t.Fatalf("answers %q, want %q", texts, want)
	}
	finished := 0
	events, _ := s.Events(t.Context(), ses.ID, 0)
	for _, e := range events {
		if e.Type == "run.finished" {
			finished++
		}
		if n, ok := e.Data.(event.Notice); ok {
			t.Fatalf("a stale commit told %q", n.Text)
		}
	}
	if finished != 1 {
		t.Fatalf("run.finished came %d times", finished)
	}
}

func TestADeadProcessLeavesItsRunInterruptedAndItCanGoOn(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenIn(t, dir)
	ses := session(t, s)
	run, f := running(t, s, ses.ID, "go")
	m := reply(t, f, call("fs_write"), call("fs_read"))
	if err := f.Commit(t.Context(), func(c *store.Commit) error { return c.StartCall(m.ID, m.Calls[0], "a", "acts") }); err != nil {
		t.Fatal(err)
	}
	s.Close()

	s = storetest.OpenIn(t, dir)
	left, err := s.Interrupt(t.Context())
	if err != nil || len(left) != 1 || left[0].ID != run.ID {
		t.Fatalf("Interrupt = %v, %v", left, err)
	}
	if again, _ := s.Interrupt(t.Context()); len(again) != 0 {
		t.Fatal("a run was interrupted twice")
	}
	resumed, err := s.Resume(t.Context(), run.ID)
	if err != nil || resumed.Epoch <= run.Epoch {
		t.Fatalf("Resume = %+v, %v", resumed, err)
	}
	next, err := s.NextQueued(t.Context(), ses.ID)
	if err != nil || next.ID != run.ID {
		t.Fatalf("NextQueued = %v, %v", next.ID, err)
	}
	messages, _, _ := s.Messages(t.Context(), ses.ID, 0, -1)
	last := messages[len(messages)-1]
	if last.Result == nil || last.Result.State != chat.CallUnknown || last.Result.CallID != m.Calls[0].ID {
		t.Fatalf("the started call was not answered as unknown: %+v", last)
	}
	g, err := s.Start(t.Context(), run.ID, store.Route{}, event.Status{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Commit(t.Context(), func(c *store.Commit) error { return c.StartCall(m.ID, m.Calls[1], "a", "reads") }); err != nil {
		t.Fatalf("the call that never started cannot be made: %v", err)
	}
	if err := f.Commit(t.Context(), func(c *store.Commit) error { return nil }); err == nil {
		t.Fatal("the dead owner could write")
	}
}

func TestARunKilledOnItsWayBackFromThePersonRepeatsNoCallThatHadStarted(t *testing.T) {
	for again, want := range map[string]chat.CallState{"": chat.CallUnknown, "ask": ""} {
		dir := t.TempDir()
		s := storetest.OpenIn(t, dir)
		ses := session(t, s)
		run, f := running(t, s, ses.ID, "go")
		m := reply(t, f, call("ask"))
		for _, do := range []func(c *store.Commit) error{
			func(c *store.Commit) error { return c.StartCall(m.ID, m.Calls[0], "a", "acts") },
			func(c *store.Commit) error { return c.Move(event.RunIsAwaiting) },
			func(c *store.Commit) error { return c.Move(event.RunIsQueued) },
		} {
			if err := f.Commit(t.Context(), do); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
		s = storetest.OpenIn(t, dir)
		if left, err := s.Interrupt(t.Context()); err != nil || len(left) != 1 || left[0].State != event.RunIsQueued {
			t.Fatalf("Interrupt = %+v, %v; want the run as it was found", left, err)
		}
		if _, err := s.Resume(t.Context(), run.ID, again); err != nil {
			t.Fatal(err)
		}
		messages, _, err := s.Messages(t.Context(), ses.ID, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		var got chat.CallState
		if r := messages[len(messages)-1].Result; r != nil {
			got = r.State
		}
		if got != want {
			t.Errorf("the call is answered %q, want %q", got, want)
		}
		g, err := s.Start(t.Context(), run.ID, store.Route{}, event.Status{})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Commit(t.Context(), func(c *store.Commit) error { return c.StartCall(m.ID, m.Calls[0], "a", "acts") }); (err == nil) != (again != "") {
			t.Errorf("starting the call again: %v", err)
		}
	}
}

func TestPromptsQueueInOrderAndOneRunsAtATime(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	first, _ := running(t, s, ses.ID, "one")
	second, err := s.Enqueue(t.Context(), store.Run{SessionID: ses.ID, Mode: "ask"}, said("two"), "two")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.NextQueued(t.Context(), ses.ID); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("NextQueued while one runs: %v", err)
	}
	if _, err := s.Finish(t.Context(), first.ID, store.End{State: event.RunIsCompleted}); err != nil {
		t.Fatal(err)
	}
	if next, err := s.NextQueued(t.Context(), ses.ID); err != nil || next.ID != second.ID {
		t.Fatalf("NextQueued = %v, %v", next.ID, err)
	}
	got, _ := s.Session(t.Context(), ses.ID)
	if got.Title != "one" {
		t.Fatalf("title %q, want that of the first prompt", got.Title)
	}
}

func TestSearchFindsWordsOfEveryLength(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	other := session(t, s)
	running(t, s, ses.ID, "Vergleiche die Öffnungszeiten, 图书馆开放时间, 100% \"sure\"")
	running(t, s, other.ID, "nothing of it")
	for _, q := range []string{"öffnung", "图书馆", "图书", "100%", `"sure"`, "die"} {
		got, err := s.Sessions(t.Context(), q, 10, 0)
		if err != nil || len(got) != 1 || got[0].ID != ses.ID {
			t.Errorf("search %q found %d, %v", q, len(got), err)
		}
	}
	if got, _ := s.Sessions(t.Context(), "图书", 10, 0); len(got) == 1 && !strings.Contains(got[0].Match, "图书") {
		t.Errorf("match %q does not show the hit", got[0].Match)
	}
	if got, _ := s.Sessions(t.Context(), "absent words", 10, 0); len(got) != 0 {
		t.Error("found what nobody said")
	}
}

func TestADeletedSessionCanBeRestoredUntilItIsPurged(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	running(t, s, ses.ID, "find me")
	art, err := s.PutBlob(t.Context(), ses.ID, chat.Artifact{Name: "a.txt", Media: "text/plain"}, []byte("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSession(t.Context(), ses.ID); err != nil {
		t.Fatal(err)
	}
	if list, _ := s.Sessions(t.Context(), "", 10, 0); len(list) != 0 {
		t.Fatal("a deleted session is listed")
	}
	if err := s.RestoreSession(t.Context(), ses.ID); err != nil {
		t.Fatal(err)
	}
	if _, data, err := s.Blob(t.Context(), art.Blob); err != nil || string(data) != "bytes" {
		t.Fatalf("Blob = %q, %v", data, err)
	}
	if err := s.DeleteSession(t.Context(), ses.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context(), 1<<60); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Blob(t.Context(), art.Blob); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("the blob of a purged session: %v", err)
	}
	if events, _ := s.Events(t.Context(), ses.ID, 0); len(events) != 0 {
		t.Fatal("events of a purged session are left")
	}
}

func TestOldMessagesComePageByPage(t *testing.T) {
	s := storetest.Open(t)
	ses := session(t, s)
	for i := range 5 {
		run, f := running(t, s, ses.ID, fmt.Sprintf("prompt %d", i))
		reply(t, f)
		reply(t, f)
		if _, err := s.Finish(t.Context(), run.ID, store.End{State: event.RunIsCompleted}); err != nil {
			t.Fatal(err)
		}
	}
	var seen int
	before := int64(0)
	for pages := 0; ; pages++ {
		page, more, err := s.Messages(t.Context(), ses.ID, before, 4)
		if err != nil || page[0].Role != chat.User {
			t.Fatalf("page %d begins with %v, %v", pages, page[0].Role, err)
		}
		seen += len(page)
		if !more {
			break
		}
		before = page[0].Seq
	}
	if seen != 15 {
		t.Fatalf("saw %d messages, want 15", seen)
	}
}

func TestAFileThatIsNoDatabaseIsLeftAsItIs(t *testing.T) {
	for name, content := range map[string]string{"text": "this is not a database, it is a long enough text file", "empty": ""} {
		dir := t.TempDir()
		path := filepath.Join(dir, "gofer.db")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := store.Open(t.Context(), store.Options{Path: path, Blobs: filepath.Join(dir, "blobs"), Backups: filepath.Join(dir, "backups")})
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.Broken || f.Hint == "" {
			t.Errorf("%s: %v, want a fault with a way on", name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != content {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestADatabaseOfANewerProgramIsRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenIn(t, dir)
	if err := s.PretendNewer(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "gofer.db"), Blobs: filepath.Join(dir, "blobs"), Backups: filepath.Join(dir, "backups")})
	if err == nil || !strings.Contains(err.Error(), "newer Gofer") {
		t.Fatalf("got %v", err)
	}
}
