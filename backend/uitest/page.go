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
// not come true in time. An error nobody caught on the page fails the test.
type Page struct {
	t   testing.TB
	rod *rod.Page

	mu       sync.Mutex
	problems []string
}

// patience is how long anything on the page may take to come true.
const patience = 15 * time.Second

// Browser starts a browser without a window that ends with the test.
func Browser(t testing.TB) *rod.Browser {
	t.Helper()
	binary, found := launcher.LookPath()
	if !found {
		t.Fatal("no Chromium browser was found; make test installs one")
	}
	l := launcher.New().Bin(binary).Headless(true).Leakless(true).NoSandbox(os.Geteuid() == 0).Set("disable-dev-shm-usage")
	address, err := l.Launch()
	if err != nil {
		t.Fatalf("start %s: %v", binary, err)
	}
	b := rod.New().ControlURL(address).NoDefaultDevice()
	if err := b.Connect(); err != nil {
		l.Kill()
		t.Fatalf("connect to %s: %v", binary, err)
	}
	t.Cleanup(func() {
		_ = b.Close() // Cleanup waits for the process and removes its profile
		l.Cleanup()
	})
	return b
}

// Open shows what the server serves in a window of that size.
func (s *Server) Open(t testing.TB, b *rod.Browser, width, height int) *Page {
	t.Helper()
	raw, err := b.Page(proto.TargetCreateTarget{URL: "about:blank", Width: &width, Height: &height})
	if err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	p := &Page{t: t, rod: raw}
	p.must("set the size", raw.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: width, Height: height, DeviceScaleFactor: 1}))
	p.must("listen to the page", proto.RuntimeEnable{}.Call(raw))
	ctx, stop := context.WithCancel(context.Background())
	listen := raw.Context(ctx).EachEvent(func(e *proto.RuntimeExceptionThrown) {
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
	})
	done := make(chan struct{})
	go func() { defer close(done); listen() }()
	t.Cleanup(func() {
		stop()
		<-done
		for _, problem := range p.Problems() {
			t.Errorf("the page reported: %s", problem)
		}
		_ = raw.Close() // gone already when the browser is
	})
	p.must("open "+s.URL, raw.Navigate(s.URL))
	p.must("load the page", raw.WaitLoad())
	return p
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

// wait ends the test when check does not come true in time, and keeps a
// picture of the page.
func (p *Page) wait(what string, check func() error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
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

// Element is one thing on the page.
type Element struct {
	page *Page
	what string
	rod  *rod.Element
}

// ByRole waits for the one thing with that accessible role and name, such as
// button "Send". A name that two things have is an error of the page.
func (p *Page) ByRole(role, name string) Element {
	p.t.Helper()
	what := fmt.Sprintf("%s %q", role, name)
	var found Element
	p.wait(what, func() error {
		ids, err := p.named(role, name)
		switch {
		case err != nil:
			return err
		case len(ids) == 0:
			return errors.New("there is none")
		case len(ids) > 1:
			return fmt.Errorf("there are %d", len(ids))
		}
		node, err := proto.DOMResolveNode{BackendNodeID: ids[0]}.Call(p.rod)
		if err != nil {
			return err
		}
		e, err := p.rod.ElementFromObject(node.Object)
		found = Element{page: p, what: what, rod: e}
		return err
	})
	return found
}

// named asks the browser's accessibility tree.
func (p *Page) named(role, name string) ([]proto.DOMBackendNodeID, error) {
	document, err := proto.DOMGetDocument{}.Call(p.rod)
	if err != nil {
		return nil, err
	}
	tree, err := proto.AccessibilityQueryAXTree{BackendNodeID: document.Root.BackendNodeID, Role: role, AccessibleName: name}.Call(p.rod)
	if err != nil {
		return nil, err
	}
	var ids []proto.DOMBackendNodeID
	for _, n := range tree.Nodes {
		if !n.Ignored && n.BackendDOMNodeID != 0 {
			ids = append(ids, n.BackendDOMNodeID)
		}
	}
	return ids, nil
}

// Gone waits until there is no such thing.
func (p *Page) Gone(role, name string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("%s %q to go", role, name), func() error {
		ids, err := p.named(role, name)
		if err == nil && len(ids) > 0 {
			err = errors.New("it is still there")
		}
		return err
	})
}

// WaitText waits until the page shows a text.
func (p *Page) WaitText(want string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("the text %q", want), func() error {
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
		"Home": input.Home, "End": input.End, "PageUp": input.PageUp, "PageDown": input.PageDown, "Comma": input.Comma, "Slash": input.Slash, "Period": input.Period,
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

// Screenshot keeps a picture of the page among the test's artifacts.
func (p *Page) Screenshot(name string) string {
	p.t.Helper()
	png, err := p.rod.Screenshot(false, nil)
	p.must("take a picture", err)
	path := filepath.Join(p.t.ArtifactDir(), name+".png")
	p.must("keep the picture", os.WriteFile(path, png, 0o600))
	return path
}

// Click presses the mouse on it.
func (e Element) Click() {
	e.page.t.Helper()
	e.page.must("click "+e.what, e.rod.Timeout(patience).Click(proto.InputMouseButtonLeft, 1))
}

// Type replaces what a field holds.
func (e Element) Type(text string) {
	e.page.t.Helper()
	field := e.rod.Timeout(patience)
	e.page.must("select the text of "+e.what, field.SelectAllText())
	e.page.must("type into "+e.what, field.Input(text))
}

// Text returns what it shows.
func (e Element) Text() string {
	e.page.t.Helper()
	got, err := e.rod.Text()
	e.page.must("read "+e.what, err)
	return got
}

// WaitText waits until it shows a text.
func (e Element) WaitText(want string) {
	e.page.t.Helper()
	e.page.wait(fmt.Sprintf("%s to say %q", e.what, want), func() error {
		got, err := e.rod.Text()
		if err == nil && !strings.Contains(got, want) {
			err = fmt.Errorf("it says %q", got)
		}
		return err
	})
}
