//go:build uitest

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/home"
	"gofer/backend/llm/script"
	"gofer/backend/uitest"
)

// chromium shows the page of every test; each has cookies of its own in it.
var chromium *uitest.Chromium

func TestMain(m *testing.M) {
	os.Exit(withBrowser(m))
}

func withBrowser(m *testing.M) int {
	if err := os.Setenv("GOFER_KEYRING", "off"); err != nil {
		panic(err)
	}
	b, end, err := uitest.StartBrowser()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer end()
	chromium = b
	return m.Run()
}

// window is the real App without what only a native window can do.
type window struct {
	*App
	mu     sync.Mutex
	theme  string
	opened []string
}

func (w *window) SetTheme(theme string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.theme = theme
	return nil
}

func (w *window) OpenExternal(address string) error {
	clean, err := externalAddress(address)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened = append(w.opened, clean)
	return err
}

// seen returns the theme of the frame and the addresses that left.
func (w *window) seen() (theme string, opened []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.theme, w.opened
}

// desk is one person's machine: a home, a scripted model, and the page.
type desk struct {
	*uitest.Page
	t      *testing.T
	home   *home.Home
	work   string
	model  *script.Server
	engine *engine.Engine
	window *window
	close  func()
}

// newDesk opens the page on a new home whose only provider is the scripted model.
func newDesk(t *testing.T, mode string, s script.Script) *desk {
	t.Helper()
	t.Parallel()
	k := bareDesk(t, mode)
	s.Model = "m"
	k.serve(s)
	_, err := k.engine.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "custom", Name: "Scripted", BaseURL: k.model.URL, Model: "m", Default: true})
	if err != nil {
		t.Fatal(err)
	}
	k.show()
	return k
}

// bareDesk is a machine on which nothing is set up but the mode.
func bareDesk(t *testing.T, mode string) *desk {
	t.Helper()
	dir := t.TempDir()
	k := &desk{t: t, work: filepath.Join(dir, "work")}
	var err error
	if k.home, err = home.Open(filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	k.start()
	t.Cleanup(func() { k.close() })
	settings, err := k.engine.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	settings.Mode, settings.Workspace, settings.Titles = mode, k.work, "prompt"
	if _, err := k.engine.SaveSettings(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *desk) serve(s script.Script) {
	k.t.Helper()
	var err error
	if k.model, err = script.Serve(s); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		_ = k.model.Close() // cuts what a run still reads
		for _, problem := range k.model.Problems() {
			k.t.Errorf("the scripted model objects: %s", problem)
		}
	})
}

// start builds the engine and an App on it.
func (k *desk) start() {
	k.t.Helper()
	e, err := engine.Build(k.home, engine.Options{Version: "test", Headless: true})
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.engine = e
	k.window = &window{App: &App{ctx: ctx, service: e, settingsFile: k.home.Settings()}}
	k.close = sync.OnceFunc(func() {
		cancel()
		k.window.endTours()
		if err := e.Close(); err != nil {
			k.t.Errorf("close the engine: %v", err)
		}
	})
}

// show opens the page of the window.
func (k *desk) show() {
	k.t.Helper()
	site := uitest.Serve(k.t, uitest.Options{
		App:         k.window,
		Assets:      blobs(k.window.readBlob),
		Wrap:        guarded,
		FormatError: func(err error) any { return fault.From(err) },
	})
	ctx, cancel := context.WithCancel(k.window.ctx)
	done := make(chan struct{})
	app := k.window
	go func() {
		defer close(done)
		forward(ctx, func(ctx context.Context) (<-chan event.Envelope, error) { return app.service.Events(ctx, "") },
			func(batch []event.Envelope) { site.Emit(channel, batch) })
	}()
	k.t.Cleanup(func() { cancel(); <-done })
	k.Page = site.Open(k.t, chromium, 1200, 800)
	k.ByRole("textbox", "Prompt")
}

// restart ends Gofer in the middle of what it does and opens it again.
func (k *desk) restart() {
	k.t.Helper()
	k.close()
	k.start()
	k.t.Cleanup(func() { k.close() })
	k.show()
}

// ask types a prompt and sends it.
func (k *desk) ask(text string) {
	k.t.Helper()
	k.ByRole("textbox", "Prompt").Type(text)
	k.Press("Enter")
}

func (k *desk) transcript() uitest.Element { return k.ByRole("region", "Transcript") }

// row is the row of a session in the sidebar.
func (k *desk) row(title string) uitest.Element { return k.ByCSS("[data-session]", title) }

// run is the header of the only run in that state.
func (k *desk) run(state string) uitest.Element { return k.ByRole("group", "Run, "+state) }

// answer is what the newest answer shows, without the buttons beside it.
func (k *desk) answer() string {
	k.t.Helper()
	var text string
	k.Eval(`() => [...document.querySelectorAll('article')].at(-1)?.querySelector('.md')?.innerText.trim() ?? ''`, &text)
	return text
}

func (k *desk) waitAnswer(want string) {
	k.t.Helper()
	k.Wait(fmt.Sprintf("the answer %q", want), func() error {
		if got := k.answer(); got != want {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

// file returns what a file of the workspace holds, or why not.
func (k *desk) file(name string) string {
	raw, err := os.ReadFile(filepath.Join(k.work, name))
	if err != nil {
		return "no " + name
	}
	return string(raw)
}

// files names what the workspace holds, in order, with commas between.
func (k *desk) files() string {
	k.t.Helper()
	list, err := os.ReadDir(k.work)
	if err != nil {
		k.t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Name()
	}
	return strings.Join(names, ",")
}

// lastRequest is the newest request the model got.
func (k *desk) lastRequest() string {
	k.t.Helper()
	all := k.model.Requests()
	if len(all) == 0 {
		k.t.Fatal("the model was never asked")
	}
	return string(all[len(all)-1].Body)
}

// wantReplies fails unless the model was asked n times.
func (k *desk) wantReplies(n int) {
	k.t.Helper()
	if got := len(k.model.Requests()); got != n {
		k.t.Errorf("the model was asked %d times, want %d", got, n)
	}
}

func turns(list ...script.Turn) script.Script { return script.Script{Turns: list} }

func call(tool string, args map[string]any) script.Turn { return script.Calls(script.Tool(tool, args)) }

func write(path, content string) script.Turn {
	return call("fs_write", map[string]any{"path": path, "content": content})
}

// held is a reply that stops after that many pieces until the gate opens.
func held(after int, pieces ...string) script.Turn {
	turn := script.Says(pieces...)
	turn.Hold, turn.After = "gate", after+1 // the first piece says who speaks
	return turn
}

// serveSite is a small site on this machine.
func serveSite(t *testing.T, pages map[string]string) string {
	t.Helper()
	return serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(strings.TrimSpace(body)))
	}))
}
