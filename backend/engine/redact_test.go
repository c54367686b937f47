package engine_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
	"gofer/backend/logbook"
)

const aKey = "sk+test/4711=Zq9vWx-aB3dE5fG7hJ"

// logged is a rig whose engine shares the redactor of a log, which it opens.
func logged(t *testing.T, scripts ...script.Script) (*rig, *logbook.Book) {
	t.Helper()
	r := newRig(t, scripts...)
	r.Close()
	book, err := logbook.Open(filepath.Join(t.TempDir(), "logs"), slog.LevelInfo)
	if err != nil {
		t.Fatal(err)
	}
	before := slog.Default()
	slog.SetDefault(book.Log())
	t.Cleanup(func() { slog.SetDefault(before); book.Close() })
	r.redactor = &book.Redactor
	r.open()
	return r, book
}

func TestACrashTellsNoKey(t *testing.T) {
	r, book := logged(t, script.Script{Turns: []script.Turn{script.Calls(script.Tool("browser_snapshot", map[string]any{}))}})
	key := aKey
	s, err := r.CreateSession(t.Context(), engine.SessionSpec{Workspace: r.work, Mode: "full", Headless: true, Endpoint: &engine.Endpoint{BaseURL: r.model.URL, Model: "m", Key: key}})
	if err != nil {
		t.Fatal(err)
	}
	engine.Panic(r.Engine, "no header fits Bearer "+key)
	end := r.finished(r.send(s, "look"))
	if end.State != event.RunIsFailed || end.Error == nil || !strings.Contains(end.Error.Message, "no header fits") {
		t.Fatalf("got %+v, want a run that broke down", end)
	}
	log, err := os.ReadFile(book.Path())
	if err != nil {
		t.Fatal(err)
	}
	if text := string(log); !strings.Contains(text, "a run panicked") || !strings.Contains(text, "stack=") {
		t.Errorf("the log does not tell of the crash: %s", text)
	}
	told, _ := json.Marshal(r.seen)
	for what, text := range map[string]string{"the log": string(log), "the events": string(told)} {
		if strings.Contains(text, key) || !strings.Contains(text, logbook.Mark) {
			t.Errorf("%s: got %s", what, text)
		}
	}
}

func TestAnExportHoldsNoKeyThatBecameKnownLater(t *testing.T) {
	r, _ := logged(t, script.Script{Turns: []script.Turn{script.Says("It is " + aKey + ".")}})
	s := r.session("m", "ask")
	r.finished(r.send(s, "say it"))
	read := func(format string) string {
		t.Helper()
		out, err := r.ExportSession(t.Context(), s.ID, format)
		if err != nil {
			t.Fatal(err)
		}
		return string(out.Data)
	}
	for _, format := range []string{"markdown", "json"} {
		if text := read(format); !strings.Contains(text, aKey) {
			t.Fatalf("nobody knows this text to be a key yet, and it is not in the export: %s", text)
		}
	}
	key := aKey
	if _, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Later", BaseURL: r.model.URL, Key: &key}); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"markdown", "json"} {
		if text := read(format); strings.Contains(text, aKey) || !strings.Contains(text, "It is "+logbook.Mark) {
			t.Errorf("%s: got %s", format, text)
		}
	}
	r.Close() // and a new process that has used no key yet
	r.redactor = nil
	r.open()
	r.send(s, "use "+aKey)
	messages := r.snapshot(s).Messages
	if got := messages[len(messages)-1].Text(); got != "use "+logbook.Mark {
		t.Errorf("the prompt was kept as %q", got)
	}
	if text := read("markdown"); strings.Contains(text, aKey) {
		t.Errorf("after a restart: got %s", text)
	}
}
