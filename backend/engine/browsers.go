package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gofer/backend/browser"
	"gofer/backend/config"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/home"
	"gofer/backend/store"
)

// browsers owns the managed browsers of a home: one with a window, one
// without, each started on first need, and the tabs of every session.
type browsers struct {
	home   *home.Home
	path   string
	attach string // debugging port of the user's own browser, in place of the one with a window
	filter bool   // one that is started goes through the proxy that judges its connections
	engine *Engine
	mu     sync.Mutex
	run    map[bool]*browser.Browser // by headless
	lanes  map[string]*lane          // by session or caller
}

// lane is the tabs of one session and what they show.
type lane struct {
	browser *browser.Browser
	session *browser.Session
	page    event.BrowserChanged
}

func newBrowsers(e *Engine, s config.Settings) *browsers {
	return &browsers{home: e.home, path: s.BrowserPath, attach: s.BrowserAttach, filter: s.BrowserFilter != config.Off, engine: e, run: map[bool]*browser.Browser{}, lanes: map[string]*lane{}}
}

// use says which browser is started next, and how. One that runs already goes
// on until it ends.
func (b *browsers) use(s config.Settings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path, attach, filter := s.BrowserPath, s.BrowserAttach, s.BrowserFilter != config.Off
	if path == b.path && attach == b.attach && filter == b.filter {
		return
	}
	b.path, b.attach, b.filter = path, attach, filter
	for headless, r := range b.run {
		if !r.Running() {
			delete(b.run, headless)
			for owner, l := range b.lanes {
				if l.browser == r {
					delete(b.lanes, owner)
				}
			}
		}
	}
}

// lane returns the tabs of an owner, made on first need. Changes of a page are
// told as events of the owner's session when tell is set.
func (b *browsers) lane(owner string, headless, tell bool) (*browser.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, ok := b.lanes[owner]; ok {
		return l.session, nil
	}
	r, ok := b.run[headless]
	if !ok {
		o := browser.Options{Path: b.path, Profile: b.home.Profile(headless), Headless: headless, Downloads: downloads(b.home)}
		if !headless && b.attach != "" {
			o.Attach = b.attach
			slog.Warn("the agent works in the user's own browser, with its log-ins", "port", b.attach)
		}
		if b.filter {
			var err error
			if o, err = b.engine.ways.managed(o); err != nil {
				return nil, err
			}
		}
		r = browser.New(o)
		b.run[headless] = r
	}
	l := &lane{browser: r, session: r.Session(owner)}
	b.lanes[owner] = l
	if tell {
		l.session.OnChange(func(url, title string, open bool) {
			b.changed(owner, event.BrowserChanged{URL: url, Title: title, Open: open})
		})
	}
	return l.session, nil
}

// tabs returns the tabs of an owner, nil when it has none yet.
func (b *browsers) tabs(owner string) *browser.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.lanes[owner]; l != nil {
		return l.session
	}
	return nil
}

func (b *browsers) changed(owner string, page event.BrowserChanged) {
	b.mu.Lock()
	l := b.lanes[owner]
	same := l == nil || l.page == page
	if l != nil {
		l.page = page
	}
	b.mu.Unlock()
	if same {
		return
	}
	err := b.engine.store.Write(b.engine.ctx, func(tx *store.Tx) error { return tx.Emit(owner, "", page) })
	if err != nil && b.engine.ctx.Err() == nil {
		slog.Warn("a page change could not be told", "session", owner, "err", err)
	}
}

// downloads is the one folder of the app's data that tools may read.
func downloads(h *home.Home) string { return filepath.Join(h.Dir(), "downloads") }

// page returns what a session's page shows.
func (b *browsers) page(owner string) event.BrowserChanged {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, ok := b.lanes[owner]; ok {
		return l.page
	}
	return event.BrowserChanged{}
}

// closedByHand says when a person closed the window of an owner's tabs; zero
// when nobody did.
func (b *browsers) closedByHand(owner string) time.Time {
	b.mu.Lock()
	l := b.lanes[owner]
	b.mu.Unlock()
	if l == nil {
		return time.Time{}
	}
	return l.session.ClosedByHand()
}

// leave closes the tabs of an owner.
func (b *browsers) leave(owner string) {
	b.mu.Lock()
	l := b.lanes[owner]
	delete(b.lanes, owner)
	b.mu.Unlock()
	if l != nil {
		l.session.Close()
	}
	b.engine.ways.forget(owner)
}

func (b *browsers) close() {
	b.mu.Lock()
	run := b.run
	b.run, b.lanes = map[bool]*browser.Browser{}, map[string]*lane{}
	b.mu.Unlock()
	for _, r := range run {
		r.Close()
	}
	b.engine.ways.close()
}

// ShowBrowser raises the window of a session's tabs.
func (e *Engine) ShowBrowser(ctx context.Context, sessionID string) error {
	e.browsers.mu.Lock()
	l := e.browsers.lanes[sessionID]
	e.browsers.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.session.Show(ctx)
}

// FindBrowser returns the path of the browser that would be used; preferred is
// the one of the settings, empty finds one.
func FindBrowser(_ context.Context, preferred string) (string, error) {
	path, err := browser.Find(preferred)
	return path, noBrowser(err)
}

// noBrowser says what to do about a browser that cannot be started; other
// errors stay as they are.
func noBrowser(err error) error {
	switch {
	case errors.Is(err, browser.ErrNoBrowser):
		message, hint := "No Chrome, Chromium, Edge or Brave was found.", "Install one of them, or name one in the settings (browserPath)."
		if _, why, named := strings.Cut(err.Error(), browser.ErrNoBrowser.Error()+": "); named {
			message, hint = fmt.Sprintf("The browser of the settings was not found: %s.", why), "Name another one in the settings (browserPath), or leave it empty to find one."
		}
		return fault.Wrap(fault.NoBrowser, message, hint, err)
	case errors.Is(err, browser.ErrNotAttached):
		return fault.Wrap(fault.NoBrowser, "The browser to attach to does not answer.", "Start it with --remote-debugging-port=9222 and a --user-data-dir, or empty the setting browserAttach to use Gofer's own.", err)
	case errors.Is(err, browser.ErrProfileBusy):
		return fault.Wrap(fault.Busy, "Another browser uses the profile of this data folder.", "Close it and try again.", err)
	}
	return err
}
