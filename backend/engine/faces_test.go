package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm/script"
)

func TestOutsideCallersHaveTheToolsButNotTheRuns(t *testing.T) {
	r := newRig(t)
	caller, err := r.OpenCaller(t.Context(), engine.CallerSpec{Name: "lab", Workspace: r.work})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := r.Tools(t.Context(), caller)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, tool := range tools {
		size += len(tool.Name) + len(tool.About) + len(tool.Schema)
		if tool.Name == "ask_clarification" || tool.Name == "propose_agreement" {
			t.Error("a caller without a run may ask questions")
		}
	}
	if size > 24<<10 {
		t.Errorf("the catalogue has %d bytes, want under 24 KB", size)
	}
	out, err := r.CallTool(t.Context(), caller, "fs_write", []byte(`{"path":"a.txt","content":"x"}`))
	if err != nil || !out.Failed || !strings.Contains(out.Text, "write:") {
		t.Fatalf("a write in ask mode: %+v, %v", out, err)
	}
	if out, err := r.CallTool(t.Context(), caller, "fs_list", []byte(`{"path":"."}`)); err != nil || out.Failed {
		t.Fatalf("a read: %+v, %v", out, err)
	}
	if err := r.CloseCaller(t.Context(), caller); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Tools(t.Context(), caller); fault.From(err).Code != fault.NotFound {
		t.Fatalf("a closed caller: %v", err)
	}
}

func TestTheGrantsOfACallerAreItsOwn(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.work, "a.txt")
	write := func(caller string) engine.ToolOutput {
		t.Helper()
		out, err := r.CallTool(t.Context(), caller, "fs_write", []byte(`{"path":"a.txt","content":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	spec := engine.CallerSpec{Name: "granted", Workspace: r.work, Allow: []string{"write: " + file}}
	granted, err := r.OpenCaller(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.OpenCaller(t.Context(), engine.CallerSpec{Name: "other", Workspace: r.work})
	if err != nil {
		t.Fatal(err)
	}
	if out := write(other); !out.Failed || !strings.Contains(out.Text, "Missing grant: write:") {
		t.Errorf("without the grant: %+v", out)
	}
	if out := write(granted); out.Failed {
		t.Errorf("with the grant: %+v", out)
	}
	spec.Allow = []string{"everything"}
	if _, err := r.OpenCaller(t.Context(), spec); fault.From(err).Code != fault.Invalid {
		t.Errorf("a grant that is none: %v", err)
	}
}

func TestAKeyIsNowhereButInItsPlace(t *testing.T) {
	const key = "sk-test-0123456789abcdefghij"
	refused := script.Says("x")
	refused.Fail = []script.Failure{{Status: 401, Message: "Incorrect API key provided: " + key, Times: 9}}
	r := newRig(t, turns("m", refused))
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "custom", BaseURL: r.model.URL, Model: "m", Key: ptr(key), Default: true})
	if err != nil || p.KeyHint != "ghij" || p.KeyPlace != "file" {
		t.Fatalf("SaveProvider = %+v, %v", p, err)
	}
	test, err := r.TestProvider(t.Context(), engine.ProviderSpec{ID: p.ID})
	if err != nil || test.OK || test.Problem == nil || strings.Contains(fmt.Sprintf("%+v", *test.Problem), key) {
		t.Fatalf("TestProvider = %+v, %v", test, err)
	}
	s, err := r.CreateSession(t.Context(), engine.SessionSpec{Workspace: r.work})
	if err != nil {
		t.Fatal(err)
	}
	r.finished(r.send(s, "go"))
	r.Close()
	err = filepath.WalkDir(r.home.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), key) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.seen {
		if strings.Contains(fmt.Sprintf("%+v", e), key) {
			t.Errorf("the key is in event %s", e.Type)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestSessionsAreFoundChangedAndExported(t *testing.T) {
	r := newRig(t, turns("m", write("a.txt", "1"), script.Says("The lamps are lit until midnight.")))
	s := r.session("m", "full")
	r.finished(r.send(s, "how long are the lamps lit"))
	if got, err := r.Sessions(t.Context(), engine.SessionQuery{Search: "midnight"}); err != nil || len(got) != 1 || !strings.Contains(got[0].Match, "midnight") {
		t.Fatalf("Sessions = %+v, %v", got, err)
	}
	if _, err := r.ChangeSession(t.Context(), s.ID, engine.SessionChange{Title: ptr("  "), Mode: ptr("swift")}); fault.From(err).Code != fault.Invalid {
		t.Fatalf("an empty title: %v", err)
	}
	if got, err := r.ChangeSession(t.Context(), s.ID, engine.SessionChange{Title: ptr("Lamps / hours?"), Seen: ptr(true)}); err != nil || got.Title != "Lamps / hours?" || !got.Seen || got.AutoTitle {
		t.Fatalf("ChangeSession = %+v, %v", got, err)
	}
	md, err := r.ExportSession(t.Context(), s.ID, "markdown")
	if err != nil || md.Name != "Lamps - hours-.md" || !strings.Contains(string(md.Data), "lit until midnight") {
		t.Fatalf("export %s, %v:\n%s", md.Name, err, md.Data)
	}
	if _, err := r.ExportSession(t.Context(), s.ID, "pdf"); fault.From(err).Code != fault.Invalid {
		t.Fatalf("export as pdf: %v", err)
	}
}

func TestEventsEndWithTheirContextAndWithTheEngine(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	events, err := r.Events(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range events {
	}
	r.Close()
	for range r.events {
	}
	if _, err := r.CreateSession(t.Context(), engine.SessionSpec{Workspace: r.work}); err == nil || errors.Is(err, context.Canceled) {
		t.Fatalf("a closed engine made a session: %v", err)
	}
}

func TestASiteAllowedOnceIsReadForTheRestOfTheRunOnly(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>hello") }))
	defer site.Close()
	read := script.Calls(script.Tool("web_read", map[string]any{"url": site.URL}))
	again := script.Calls(script.Tool("web_read", map[string]any{"url": site.URL + "/more"}))
	r := newRig(t, turns("m", read, again, script.Says("one"), read, script.Says("two")))
	s := r.session("m", "ask")
	runID := r.send(s, "read it twice")
	asked := r.until("the approval", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Allow: true}); err != nil {
		t.Fatal(err)
	}
	if got := r.finished(runID); got.State != event.RunIsCompleted || got.Calls != 2 {
		t.Fatalf("finished %+v", got)
	}
	runID = r.send(s, "and once more")
	asked = r.until("the approval of the next run", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{By: "nobody"}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID)
	got := results(r.snapshot(s))
	if last := got[len(got)-1]; last.State != chat.CallFailed || !strings.Contains(last.Text, "visit: "+site.URL) {
		t.Fatalf("the refusal does not name the grant: %+v", last)
	}
}
