//go:build linux && windowtest

package windowtest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"gofer/backend/config"
	"gofer/backend/llm/script"
	"gofer/backend/windowtest"
)

// The names a person with a screen reader meets in the window.
const (
	prompt     = "Prompt"
	transcript = "Transcript"
	send       = "Send"
	stop       = "Stop"
	newSession = "New session"
	settings   = "Settings"
)

// desk is one person's machine: a desktop, a home of its own, a scripted model.
type desk struct {
	t       *testing.T
	desktop *windowtest.Desktop
	model   *script.Server
	home    string
}

func newDesk(t *testing.T, turns ...script.Turn) *desk {
	t.Helper()
	model, err := script.Serve(script.Script{Turns: turns, Side: []script.Side{{Text: "Looking around"}}})
	if err != nil {
		t.Fatalf("start the scripted model: %v", err)
	}
	t.Cleanup(func() {
		_ = model.Close() // cuts what the window still reads
		for _, problem := range model.Problems() {
			t.Errorf("the scripted model objects: %s", problem)
		}
	})
	k := &desk{t: t, desktop: windowtest.Open(t), model: model, home: t.TempDir()}
	k.configure()
	return k
}

// configure writes the settings as the window would after a provider was added.
func (k *desk) configure() {
	k.t.Helper()
	workspace := filepath.Join(k.home, "workspace")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "shopping.txt"), []byte("bread\n"), 0o600); err != nil {
		k.t.Fatal(err)
	}
	s := config.Defaults()
	s.Workspace = workspace
	s.DefaultProvider = "scripted"
	s.Providers = []config.Provider{{ID: "scripted", Preset: "custom", Name: "Scripted", BaseURL: k.model.URL, Model: "scripted"}}
	raw, err := json.Marshal(s)
	if err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.home, "settings.json"), raw, 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// open starts the app as a person would, on this home.
func (k *desk) open() *windowtest.Window {
	k.t.Helper()
	binary := os.Getenv("GOFER_BINARY")
	if binary == "" {
		binary = filepath.Join("..", "..", "build", "bin", "gofer")
	}
	if _, err := os.Stat(binary); err != nil {
		k.t.Fatalf("the app is not built (%v); run make build", err)
	}
	return k.desktop.Launch(k.t, []string{"GOFER_HOME=" + k.home, "HOME=" + k.home}, binary)
}

// ask types a prompt and sends it.
func ask(w *windowtest.Window, text string) {
	w.Type(prompt, text)
	w.Click(windowtest.Button, send)
}

func TestAnAnswerStreamsIntoTheWindow(t *testing.T) {
	answer := script.Says("I am looking", " at it", " right now.")
	answer.Hold, answer.After = "half", 2
	k := newDesk(t, answer)
	w := k.open()
	w.Find(windowtest.Button, settings)
	ask(w, "Is anybody there?")
	w.WaitText(windowtest.Region, transcript, "I am looking")
	w.Find(windowtest.Button, stop)
	k.model.Release("half")
	w.WaitText(windowtest.Region, transcript, "right now.")
	w.Gone(windowtest.Button, stop)
	w.WaitText(windowtest.Region, transcript, "Is anybody there?")
	w.Quit()
}

func TestAToolCallIsShownAsACard(t *testing.T) {
	k := newDesk(t,
		script.Calls(script.Tool("fs_list", map[string]any{"path": "."})),
		script.Says("There is a shopping list."))
	w := k.open()
	ask(w, "What is in my folder?")
	w.WaitText(windowtest.Region, transcript, "There is a shopping list.")
	w.WaitText(windowtest.Region, transcript, "workspace")
	w.Quit()
}

func TestARunStopsWhenAsked(t *testing.T) {
	endless := script.Says("One,", " two,", " three.")
	endless.Hold, endless.After = "never", 2
	k := newDesk(t, endless)
	w := k.open()
	ask(w, "Count for me")
	w.WaitText(windowtest.Region, transcript, "One,")
	w.Click(windowtest.Button, stop)
	w.Gone(windowtest.Button, stop)
	w.WaitText(windowtest.Region, transcript, "Stopped")
	w.Quit()
}

func TestASessionIsThereAfterTheWindowWasClosed(t *testing.T) {
	k := newDesk(t, script.Says("It is a fine day."))
	w := k.open()
	ask(w, "How is the weather?")
	w.WaitText(windowtest.Region, transcript, "It is a fine day.")
	w.Gone(windowtest.Button, stop)
	w.Quit()

	w = k.open()
	w.Click(windowtest.Button, newSession)
	w.ClickPart(windowtest.Any, "How is the weather?")
	w.WaitText(windowtest.Region, transcript, "It is a fine day.")
	w.Quit()
}
