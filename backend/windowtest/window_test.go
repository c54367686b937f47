//go:build linux && windowtest

package windowtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/errand"
	"gofer/backend/event"
	"gofer/backend/home"
	"gofer/backend/host"
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
	dir     string // the person's folder
	home    string // Gofer's data in it
	work    string // the workspace beside it
	env     []string
}

func newDesk(t *testing.T, turns ...script.Turn) *desk {
	t.Helper()
	return deskOf(t, script.Script{Turns: turns, Side: []script.Side{{Text: "Looking around"}}})
}

func deskOf(t *testing.T, s script.Script) *desk {
	t.Helper()
	model, err := script.Serve(s)
	if err != nil {
		t.Fatalf("start the scripted model: %v", err)
	}
	t.Cleanup(func() {
		_ = model.Close() // cuts what the window still reads
		for _, problem := range model.Problems() {
			t.Errorf("the scripted model objects: %s", problem)
		}
	})
	dir := t.TempDir()
	k := &desk{t: t, desktop: windowtest.Open(t), model: model, dir: dir, home: filepath.Join(dir, "data"), work: filepath.Join(dir, "workspace")}
	k.configure()
	return k
}

// configure writes the settings as the window would after a provider was added.
func (k *desk) configure() {
	k.t.Helper()
	for _, dir := range []string{k.home, k.work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			k.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(k.work, "shopping.txt"), []byte("bread\n"), 0o600); err != nil {
		k.t.Fatal(err)
	}
	s := config.Defaults()
	s.Workspace, s.Titles = k.work, "prompt"
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
	w := k.begin()
	w.Appear()
	w.Find(windowtest.Entry, prompt)
	return w
}

// begin starts the app and does not wait for its window.
func (k *desk) begin() *windowtest.Window {
	k.t.Helper()
	binary := os.Getenv("GOFER_BINARY")
	if binary == "" {
		binary = filepath.Join("..", "..", "build", "bin", "gofer")
	}
	if _, err := os.Stat(binary); err != nil {
		k.t.Fatalf("the app is not built (%v); run make build", err)
	}
	return k.desktop.Begin(k.t, append([]string{"GOFER_HOME=" + k.home, "HOME=" + k.dir}, k.env...), binary)
}

// client speaks to the engine in the window, as a command in a terminal does.
func (k *desk) client() *host.Client {
	k.t.Helper()
	h, err := home.Open(k.home)
	if err != nil {
		k.t.Fatal(err)
	}
	c, err := host.Dial(k.t.Context(), h)
	if err != nil {
		k.t.Fatalf("reach the engine of the window: %v", err)
	}
	k.t.Cleanup(c.Close)
	return c
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
	w.ClickPart(windowtest.Button, "1 step")
	w.ClickPart(windowtest.Button, "Listed the workspace")
	w.WaitText(windowtest.Panel, "Result", "shopping.txt")
	w.Quit()
}

func TestAnApprovalIsAllowedWithTheMouse(t *testing.T) {
	k := newDesk(t,
		script.Calls(script.Tool("fs_write", map[string]any{"path": "list.txt", "content": "milk\n"})),
		script.Says("It is written."))
	w := k.open()
	ask(w, "Write milk on a list")
	w.WaitText(windowtest.Region, "Needs you", "list.txt")
	w.Ready(windowtest.Button, "Allow once")
	w.Press("Return") // in the prompt field it sends, and never allows
	if _, err := os.Stat(filepath.Join(k.work, "list.txt")); err == nil {
		t.Error("the file was written before anybody agreed")
	}
	w.Click(windowtest.Button, "Allow once")
	w.WaitText(windowtest.Region, transcript, "It is written.")
	w.Gone(windowtest.Region, "Needs you")
	if got, err := os.ReadFile(filepath.Join(k.work, "list.txt")); err != nil || string(got) != "milk\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	w.Quit()
}

func TestTheSettingsOpenChangeTheColoursAndClose(t *testing.T) {
	k := newDesk(t, script.Says("Hello."))
	w := k.open()
	ask(w, "Hello")
	w.WaitText(windowtest.Region, transcript, "Hello.")
	w.Click(windowtest.Button, settings)
	w.Find(windowtest.Entry, "Search settings")
	w.Click(windowtest.RadioButton, "Dark")
	w.Wait("the window to be dark", func(context.Context) error { return k.shows(0x131312) })
	w.Click(windowtest.RadioButton, "Light")
	w.Wait("the window to be light", func(context.Context) error { return k.shows(0xFAFAF8) })
	w.Press("Escape")
	w.Gone(windowtest.Entry, "Search settings")
	w.Focused(windowtest.Entry, prompt)
	w.WaitText(windowtest.Region, transcript, "Hello.")
	w.Quit()
}

// shows fails unless a fifth of the screen has a colour.
func (k *desk) shows(colour uint32) error {
	switch on, err := k.desktop.Shows(colour, 5); {
	case err != nil:
		return err
	case !on:
		return fmt.Errorf("the screen shows too little of #%06X", colour)
	}
	return nil
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
	w.Shut()

	w = k.open()
	w.Click(windowtest.Button, newSession)
	w.ClickPart(windowtest.Any, "How is the weather?")
	w.WaitText(windowtest.Region, transcript, "It is a fine day.")
	w.Quit()
}

func TestASecondStartEndsWellAndRaisesTheWindow(t *testing.T) {
	k := newDesk(t)
	w := k.open()
	w.Minimise()
	second := k.begin()
	second.Ended()
	w.InFront()
	w.Type(prompt, "Still the same window")
	w.Quit()
}

func TestALongErrandCanBeScrolledAndStopsWithinASecond(t *testing.T) {
	site, err := errand.Start(errand.Options{Seed: 11, Slow: 250 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = site.Close() })
	k := deskOf(t, errand.ReadAll(""))
	w := k.open()
	// The browser has no window here, so that it does not cover ours.
	c := k.client()
	s, err := c.CreateSession(t.Context(), engine.SessionSpec{Title: "Reading list", Mode: "full", Headless: true, MaxIterations: 200})
	if err != nil {
		t.Fatal(err)
	}
	run := follow(t, c, s.ID)
	w.ClickPart(windowtest.Button, "Reading list")
	w.Find(windowtest.Region, transcript)
	ask(w, errand.ReadAllPrompt+site.Origin+"/")
	w.Wait("the run to be on its way", run.reaches(20))

	// Who scrolls up stays there while the run goes on, and can go back.
	w.Wheel(windowtest.Region, transcript, 4)
	w.FindPart(windowtest.Button, "Go to the newest")
	before := place(t, w)
	w.Wait("the run to go on", run.reaches(run.now()+6))
	if after := place(t, w); after != before {
		t.Errorf("the transcript moved from %d to %d while it was read", before, after)
	}
	w.ClickPart(windowtest.Button, "Go to the newest")
	w.Wait("the transcript to follow again", func(ctx context.Context) error {
		_, y, _, _, err := w.Find(windowtest.Article, "Turn 1").Extents(ctx)
		if err == nil && y >= before {
			err = fmt.Errorf("its start is at %d, was at %d", y, before)
		}
		return err
	})

	pressed := w.Click(windowtest.Button, stop)
	w.Find(windowtest.Panel, "Run, Stopped")
	end := <-run.ended
	took := time.UnixMilli(end.At).Sub(pressed)
	t.Logf("stop took %s from the press to the end of the run", took.Round(time.Millisecond))
	if state := end.Data.(event.RunFinished).State; state != event.RunIsCancelled || took > time.Second {
		t.Errorf("the run is %s after %s, want it cancelled within a second", state, took)
	}
	w.Gone(windowtest.Button, stop)
	if n := len(site.Posts()); n == 0 || n == len(site.Pages) {
		t.Errorf("%d of %d pages were marked read, want it stopped on the way", n, len(site.Pages))
	}
	w.Quit()
}

// place is where the first turn lies on the screen once it lies still.
func place(t *testing.T, w *windowtest.Window) int {
	t.Helper()
	var last, same int
	w.Wait("the transcript to lie still", func(ctx context.Context) error {
		_, y, _, _, err := w.Find(windowtest.Article, "Turn 1").Extents(ctx)
		if err != nil {
			return err
		}
		if same++; y != last {
			last, same = y, 0
		}
		if same < 5 {
			return fmt.Errorf("its start is at %d", y)
		}
		return nil
	})
	return last
}

// run is what the events tell of the only run of a session.
type run struct {
	iteration atomic.Int64
	ended     chan event.Envelope // holds run.finished
}

// follow reads the events of a session until the test ends.
func follow(t *testing.T, c *host.Client, sessionID string) *run {
	t.Helper()
	events, err := c.Events(t.Context(), sessionID)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{ended: make(chan event.Envelope, 1)}
	go func() { // ends with the events, which end with the test
		for e := range events {
			switch d := e.Data.(type) {
			case event.IterationStarted:
				r.iteration.Store(int64(d.N))
			case event.RunFinished:
				r.ended <- e
			}
		}
	}()
	return r
}

func (r *run) now() int { return int(r.iteration.Load()) }

// reaches checks whether the run has come as far as that iteration.
func (r *run) reaches(n int) func(context.Context) error {
	return func(context.Context) error {
		if now := r.now(); now < n {
			return fmt.Errorf("it is at iteration %d, not yet %d", now, n)
		}
		return nil
	}
}
