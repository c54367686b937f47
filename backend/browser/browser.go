package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// Options say which browser to start and where it keeps things.
type Options struct {
	Path      string   // the browser program; empty finds one
	Profile   string   // profile folder; only one browser at a time may use it
	Headless  bool     // no window
	Attach    string   // debugging port of a browser a person started, such as 127.0.0.1:9222; nothing is started then
	Downloads string   // where downloads end; empty means a folder in the profile
	Env       []string // additions to the environment, KEY=value
	Flags     []string // additions to the flag list
	Proxy     string   // host:port of a proxy that everything goes through, this computer's own pages too

	// Why says why the proxy did not reach a host:port lately: the words of a rule
	// that refused it, or the error of the connection; neither when it does not
	// know. It is asked in the middle of things and must not wait.
	Why func(hostport string) (refused string, err error)

	// Limit bounds an action; 0 is DefaultLimit, others are kept within 2 and 30
	// seconds. The limits of slower calls, such as navigations, follow it.
	Limit time.Duration
}

func (o Options) limit() time.Duration {
	if o.Limit <= 0 {
		return DefaultLimit
	}
	return min(max(o.Limit, 2*time.Second), 30*time.Second)
}

// Browser is one Chromium, started when first needed and again after it ended.
type Browser struct {
	o Options

	starting chan struct{} // held by the one who starts it

	mu       sync.Mutex
	up       *running
	sessions map[string]*Session
	closed   bool
}

// New describes a browser; nothing is started before a session needs it.
func New(o Options) *Browser {
	if o.Downloads == "" {
		o.Downloads = filepath.Join(o.Profile, "Gofer Downloads")
	}
	return &Browser{o: o, starting: make(chan struct{}, 1), sessions: map[string]*Session{}}
}

// Session returns the lane of that name, making it when it is new. Its window
// opens with its first page.
func (b *Browser) Session(name string) *Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.sessions[name]; s != nil {
		return s
	}
	s := newSession(b, name)
	b.sessions[name] = s
	return s
}

// PID returns the process id of the running browser, 0 when we started none.
func (b *Browser) PID() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.up == nil || b.up.dead() || b.up.p.cmd == nil {
		return 0
	}
	return b.up.p.cmd.Process.Pid
}

// Running tells whether there is a browser, started or attached to.
func (b *Browser) Running() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up != nil && !b.up.dead()
}

// Close ends all sessions and the browser, and waits for it.
func (b *Browser) Close() error {
	b.mu.Lock()
	b.closed = true
	up := b.up
	sessions := b.sessions
	b.sessions = map[string]*Session{}
	b.mu.Unlock()
	for _, s := range sessions {
		s.shut()
	}
	if up != nil {
		up.p.stop()
		<-up.over
	}
	return nil
}

// ensure returns the running browser, starting it if need be.
func (b *Browser) ensure(ctx context.Context) (*running, error) {
	select {
	case b.starting <- struct{}{}:
		defer func() { <-b.starting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b.mu.Lock()
	up, closed := b.up, b.closed
	b.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	if up != nil && !up.dead() {
		return up, nil
	}
	if up != nil { // it is on its way out; its profile is free when it is gone
		select {
		case <-up.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	up = &running{b: b, tabs: map[string]*tab{}, routes: map[string]*tab{}, downloads: map[string]*Download{}, over: make(chan struct{})}
	p, err := start(ctx, b.o, func(session, method string, params json.RawMessage) { up.event(session, method, params) })
	if err != nil {
		return nil, err
	}
	up.mu.Lock()
	up.p = p
	up.mu.Unlock()
	downloads := proto.BrowserSetDownloadBehavior{Behavior: proto.BrowserSetDownloadBehaviorBehaviorAllowAndName, DownloadPath: b.o.Downloads, EventsEnabled: true}
	if b.o.Attach != "" { // a person downloads there too, and finds the files where they always are
		downloads = proto.BrowserSetDownloadBehavior{Behavior: proto.BrowserSetDownloadBehaviorBehaviorDefault, EventsEnabled: true}
	} else if err := os.MkdirAll(b.o.Downloads, 0o755); err != nil {
		p.stop()
		return nil, fmt.Errorf("make downloads folder: %w", err)
	}
	err = p.conn.ask(ctx, "", proto.TargetSetDiscoverTargets{Discover: true}, nil)
	if err == nil {
		err = p.conn.ask(ctx, "", downloads, nil)
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("set up browser: %w", err)
	}
	b.mu.Lock()
	b.up = up
	b.mu.Unlock()
	go up.watch()
	return up, nil
}

// running is one life of the browser.
type running struct {
	b *Browser
	p *process

	mu        sync.Mutex
	tabs      map[string]*tab // by target
	routes    map[string]*tab // by protocol session, those of frames included
	downloads map[string]*Download
	order     []string // guids of downloads, oldest first
	over      chan struct{}
}

// watch waits for the end of the browser and tells everybody.
func (r *running) watch() {
	<-r.p.conn.done
	r.mu.Lock()
	tabs := make([]*tab, 0, len(r.tabs))
	for _, t := range r.tabs {
		tabs = append(tabs, t)
	}
	r.tabs, r.routes = map[string]*tab{}, map[string]*tab{}
	r.mu.Unlock()
	for _, t := range tabs {
		t.end()
	}
	select {
	case <-r.p.exited:
	case <-time.After(2 * time.Second):
		r.p.kill()
	}
	r.b.mu.Lock()
	if r.b.up == r {
		r.b.up = nil
	}
	r.b.mu.Unlock()
	close(r.over)
}

type targetInfo struct {
	ID     string `json:"targetId"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Opener string `json:"openerId"`
	Parent string `json:"parentFrameId"`
}

// event runs in the reader and never waits.
func (r *running) event(session, method string, params json.RawMessage) {
	if session != "" {
		r.mu.Lock()
		t := r.routes[session]
		r.mu.Unlock()
		if t != nil {
			t.event(session, method, params)
		}
		return
	}
	switch method {
	case "Target.targetCreated", "Target.targetInfoChanged":
		var e struct{ TargetInfo targetInfo }
		if json.Unmarshal(params, &e) != nil || e.TargetInfo.Type != "page" {
			return
		}
		r.mu.Lock()
		t, opener := r.tabs[e.TargetInfo.ID], r.tabs[e.TargetInfo.Opener]
		r.mu.Unlock()
		switch {
		case t != nil:
			t.info(e.TargetInfo)
		case opener != nil && method == "Target.targetCreated":
			opener.s.adopt(r, e.TargetInfo)
		}
	case "Target.targetDestroyed", "Target.targetCrashed":
		var e struct{ TargetID string }
		if json.Unmarshal(params, &e) != nil {
			return
		}
		r.mu.Lock()
		t := r.tabs[e.TargetID]
		if t != nil && method == "Target.targetDestroyed" {
			delete(r.tabs, e.TargetID)
			for s, x := range r.routes {
				if x == t {
					delete(r.routes, s)
				}
			}
		}
		r.mu.Unlock()
		if t == nil {
			return
		}
		if method == "Target.targetCrashed" {
			t.crash()
		} else {
			t.end()
		}
	case "Browser.downloadWillBegin", "Browser.downloadProgress":
		r.download(method, params)
	}
}

func (r *running) route(session string, t *tab) {
	r.mu.Lock()
	r.routes[session] = t
	r.mu.Unlock()
}

func (r *running) unroute(session string) {
	r.mu.Lock()
	delete(r.routes, session)
	r.mu.Unlock()
}

func (r *running) dead() bool {
	select {
	case <-r.p.conn.done:
		return true
	default:
		return false
	}
}

func isGone(err error) bool {
	return errors.Is(err, ErrBrowserGone) || errors.Is(err, errConnEnded)
}

// Profile returns the profile folder.
func (b *Browser) Profile() string { return b.o.Profile }
