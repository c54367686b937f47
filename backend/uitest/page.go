//go:build uitest

package uitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
)

// Page is the page in a browser. Its methods end the test when something does
// not come true in time. An error nobody caught on the page fails the test, and
// so does a request that leaves the server or a visit anywhere else.
type Page struct {
	t   testing.TB
	rod *rod.Page

	mu       sync.Mutex
	problems []string
	loads    int // of the page itself
}

// patience is how long anything on the page may take to come true.
const patience = 15 * time.Second

// Chromium is a browser without a window that several tests may share.
type Chromium = rod.Browser

// StartBrowser starts a browser without a window and returns what ends it. Many
// tests may share one: each page has cookies and storage of its own.
func StartBrowser() (*Chromium, func(), error) {
	binary, found := launcher.LookPath()
	if !found {
		return nil, nil, errors.New("no Chromium browser was found; make test installs one")
	}
	l := launcher.New().Bin(binary).Headless(true).Leakless(true).NoSandbox(os.Geteuid() == 0).Set("disable-dev-shm-usage")
	address, err := l.Launch()
	if err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", binary, err)
	}
	b := rod.New().ControlURL(address).NoDefaultDevice()
	if err := b.Connect(); err != nil {
		l.Kill()
		return nil, nil, fmt.Errorf("connect to %s: %w", binary, err)
	}
	return b, func() {
		_ = b.Close() // Cleanup waits for the process and removes its profile
		l.Cleanup()
	}, nil
}

// Browser starts a browser without a window that ends with the test.
func Browser(t testing.TB) *Chromium {
	t.Helper()
	b, end, err := StartBrowser()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return b
}

// Open shows what the server serves in a window of that size.
func (s *Server) Open(t testing.TB, b *Chromium, width, height int) *Page {
	t.Helper()
	apart, err := b.Incognito()
	if err != nil {
		t.Fatalf("open a window: %v", err)
	}
	raw, err := apart.Page(proto.TargetCreateTarget{URL: "about:blank", Width: &width, Height: &height})
	if err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	p := &Page{t: t, rod: raw}
	p.must("set the size", raw.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: width, Height: height, DeviceScaleFactor: 1}))
	p.must("give it the focus", proto.EmulationSetFocusEmulationEnabled{Enabled: true}.Call(raw))
	p.must("listen to the page", proto.RuntimeEnable{}.Call(raw))
	p.must("listen to the network", proto.NetworkEnable{}.Call(raw))
	stop := p.listen("http://" + s.host + "/")
	t.Cleanup(func() {
		stop()
		for _, problem := range p.Problems() {
			t.Errorf("the page reported: %s", problem)
		}
		_ = raw.Close() // gone already when the browser is
		_ = proto.TargetDisposeBrowserContext{BrowserContextID: apart.BrowserContextID}.Call(apart)
	})
	p.must("open "+s.URL, raw.Navigate(s.URL))
	p.must("load the page", raw.WaitLoad())
	return p
}

// listen notes what goes wrong on the page and everything that leaves home,
// until the function it returns is called.
func (p *Page) listen(home string) func() {
	ctx, stop := context.WithCancel(context.Background())
	listen := p.rod.Context(ctx).EachEvent(func(e *proto.RuntimeExceptionThrown) {
		p.note(e.ExceptionDetails.Text + " " + describe(e.ExceptionDetails.Exception))
	}, func(e *proto.RuntimeConsoleAPICalled) {
		if e.Type != proto.RuntimeConsoleAPICalledTypeError {
			return
		}
		var words []string
		for _, a := range e.Args {
			words = append(words, describe(a))
		}
		p.note("console: " + strings.Join(words, " "))
	}, func(e *proto.NetworkRequestWillBeSent) {
		if !strings.HasPrefix(e.Request.URL, home) && !strings.HasPrefix(e.Request.URL, "blob:"+home) {
			p.note("a request left for " + e.Request.URL)
		}
	}, func(e *proto.PageFrameNavigated) {
		switch {
		case !strings.HasPrefix(e.Frame.URL, home) && e.Frame.URL != "about:blank":
			p.note("a frame went to " + e.Frame.URL)
		case e.Frame.ParentID != "":
			p.note("there is a frame " + e.Frame.URL)
		default:
			p.mu.Lock()
			p.loads++
			p.mu.Unlock()
		}
	})
	done := make(chan struct{})
	go func() { defer close(done); listen() }()
	return func() { stop(); <-done }
}

// Loads returns how often the page was loaded.
func (p *Page) Loads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loads
}

func describe(o *proto.RuntimeRemoteObject) string {
	if o == nil {
		return ""
	}
	if o.Description != "" {
		return o.Description
	}
	return o.Value.String()
}

func (p *Page) note(problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, problem)
}

// Problems returns the errors the page reported since the last call. A test
// that expects one takes it away with this.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.problems
	p.problems = nil
	return all
}

func (p *Page) must(what string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// Wait ends the test when check does not come true in time, and keeps a
// picture of the page.
func (p *Page) Wait(what string, check func() error) {
	p.t.Helper()
	p.WaitFor(patience, what, check)
}

// WaitFor is Wait for what takes longer than most.
func (p *Page) WaitFor(limit time.Duration, what string, check func() error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("waited for %s: %v\npage says:\n%s\npicture: %s", what, err, p.text(), p.Screenshot("failed"))
		case <-tick.C:
		}
	}
}

// WaitText waits until the page shows a text.
func (p *Page) WaitText(want string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("the text %q", want), func() error {
		if !strings.Contains(p.text(), want) {
			return errors.New("the page does not show it")
		}
		return nil
	})
}

func (p *Page) text() string {
	got, err := p.rod.Eval(`() => document.body.innerText`)
	if err != nil {
		return err.Error()
	}
	return got.Value.Str()
}

// Press presses keys one after the other, held together when joined by +:
// Press("Control+KeyK", "Escape") names them as KeyboardEvent.code does.
func (p *Page) Press(keys ...string) {
	p.t.Helper()
	for _, chord := range keys {
		actions := p.rod.KeyActions()
		parts := strings.Split(chord, "+")
		for i, name := range parts {
			key, known := keyNames[name]
			if !known {
				p.t.Fatalf("there is no key %q", name)
			}
			if i < len(parts)-1 {
				actions = actions.Press(key)
			} else {
				actions = actions.Type(key)
			}
		}
		p.must("press "+chord, actions.Do())
	}
}

// keyNames are the keys by their KeyboardEvent.code; left modifiers also by their plain name.
var keyNames = func() map[string]input.Key {
	names := map[string]input.Key{
		"Control": input.ControlLeft, "Shift": input.ShiftLeft, "Alt": input.AltLeft, "Meta": input.MetaLeft,
		"Enter": input.Enter, "Escape": input.Escape, "Tab": input.Tab, "Space": input.Space, "Backspace": input.Backspace, "Delete": input.Delete,
		"ArrowUp": input.ArrowUp, "ArrowDown": input.ArrowDown, "ArrowLeft": input.ArrowLeft, "ArrowRight": input.ArrowRight,
		"Home": input.Home, "End": input.End, "PageUp": input.PageUp, "PageDown": input.PageDown, "Comma": input.Comma, "Slash": input.Slash, "Period": input.Period, "F6": input.F6,
	}
	for r := 'a'; r <= 'z'; r++ {
		names["Key"+strings.ToUpper(string(r))] = input.Key(r)
	}
	for r := '0'; r <= '9'; r++ {
		names["Digit"+string(r)] = input.Key(r)
	}
	return names
}()

// Eval runs a function on the page and reads its value into into, unless that is nil.
func (p *Page) Eval(function string, into any, args ...any) {
	p.t.Helper()
	got, err := p.rod.Eval(function, args...)
	p.must("run "+function, err)
	if into == nil {
		return
	}
	raw, err := got.Value.MarshalJSON()
	p.must("read the value", err)
	p.must("read the value", json.Unmarshal(raw, into))
}

// Reload loads the page again, as closing and opening the window does.
func (p *Page) Reload() {
	p.t.Helper()
	p.must("reload", p.rod.Reload())
	p.must("load the page", p.rod.WaitLoad())
}

// Resize gives the page another size.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	p.must("resize the page", p.rod.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: width, Height: height, DeviceScaleFactor: 1}))
}

// Screenshot keeps a picture of the page among the test's artifacts.
func (p *Page) Screenshot(name string) string {
	p.t.Helper()
	png, err := p.rod.Screenshot(false, nil)
	p.must("take a picture", err)
	path := filepath.Join(p.t.ArtifactDir(), name+".png")
	p.must("keep the picture", os.WriteFile(path, png, 0o600))
	return path
}
