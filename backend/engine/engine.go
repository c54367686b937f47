// Package engine is the front door: sessions, runs, the queue, settings. It is
// the one place where the parts are wired together; faces call its methods and
// write out its events.
//
// One goroutine plays each run. A session plays one run at a time, several
// sessions play side by side. Everything is stored before it is told.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"gofer/backend/clarify"
	"gofer/backend/config"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/guard"
	"gofer/backend/home"
	"gofer/backend/llm/openai"
	"gofer/backend/llm/route"
	"gofer/backend/logbook"
	"gofer/backend/proc"
	"gofer/backend/secret"
	"gofer/backend/store"
	"gofer/backend/tools/shell"
)

// restorable is how long a deleted session can be brought back.
const restorable = 24 * time.Hour

// closing bounds how long Close waits for runs to end.
const closing = 3 * time.Second

// Options say how an engine is built.
type Options struct {
	Version  string
	Headless bool              // browsers never show a window
	Redactor *logbook.Redactor // the one of the log; nil makes one
	Now      func() time.Time  // nil takes the clock
	Driver   string            // see store.Options

	Instead map[string]string // addresses the browsers reach in place of others, for tests; see egress.Options
}

// Engine runs sessions on one data folder. It is safe for use by many
// goroutines.
type Engine struct {
	home     *home.Home
	store    *store.Store
	bus      *event.Bus
	guard    *guard.Guard
	waits    *clarify.Registry
	secrets  *secret.Store
	redact   *logbook.Redactor // in front of the log, the store, the events and the exports
	allKeys  func()            // makes the stored keys known to it, once
	settings *config.File
	learned  *learned
	rests    *route.Rests
	spent    spent
	browsers *browsers
	ways     *ways
	// closedByHand says when a person closed a session's browser window.
	closedByHand func(sessionID string) time.Time
	slots        *slots
	version      string
	headless     bool
	now          func() time.Time

	ctx    context.Context // ends with the engine
	cancel context.CancelFunc
	plays  sync.WaitGroup

	mu        sync.Mutex
	active    map[string]*play    // by session
	endpoints map[string]Endpoint // model servers of sessions that named their own
	callers   map[string]*caller
	jobs      map[string]*shell.Jobs    // by session or caller
	again     map[string]bool           // runs that wait again for the person, since the start
	clients   map[string]*openai.Client // by connection
	closed    bool
}

// Build opens the data folder's store and settings and makes an engine on it.
// The caller holds the folder's lock.
func Build(h *home.Home, o Options) (*Engine, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redactor == nil {
		o.Redactor = &logbook.Redactor{}
	}
	settings, err := config.Open(h.Settings())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{
		home: h, bus: &event.Bus{Hide: o.Redactor.Value}, settings: settings, redact: o.Redactor,
		version: o.Version, headless: o.Headless, now: o.Now, ctx: ctx, cancel: cancel,
		active: map[string]*play{}, endpoints: map[string]Endpoint{}, callers: map[string]*caller{}, jobs: map[string]*shell.Jobs{}, again: map[string]bool{}, clients: map[string]*openai.Client{},
		learned: openLearned(h.Learned()), rests: &route.Rests{Now: o.Now},
		slots: newSlots(settings.Settings().ConcurrentRuns),
	}
	e.secrets = secret.Open(h, secret.Options{Seen: e.redact.Hide})
	e.allKeys = sync.OnceFunc(e.readKeys)
	for _, n := range settings.Notices() {
		slog.Warn(n.Message, "hint", n.Hint)
	}
	e.guard = guard.New(guard.Options{Sandbox: func() bool { return proc.SandboxWorks() == nil }, Protected: []string{h.Dir()}, Shared: []string{downloads(h)}})
	e.waits = clarify.New(o.Now)
	e.browsers = newBrowsers(e, settings.Settings())
	e.ways = &ways{guard: e.guard, tabs: e.browsers.tabs, test: o.Instead, lanes: map[string]*course{}}
	e.closedByHand = e.browsers.closedByHand
	e.store, err = store.Open(ctx, store.Options{Path: h.Database(), Blobs: h.Blobs(), Backups: h.Backups(), Driver: o.Driver, Now: o.Now, Publish: e.bus.Publish, Hide: e.redact.Known})
	if err != nil {
		cancel()
		return nil, err
	}
	if err := e.recover(ctx); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// recover makes sense of what an earlier process left: runs at work become
// interrupted, those that waited for the person wait again, queued ones start,
// old deleted sessions go.
func (e *Engine) recover(ctx context.Context) error {
	if err := e.loadGrants(ctx); err != nil {
		return err
	}
	left, err := e.store.Interrupt(ctx)
	if err != nil {
		return fault.Wrap(fault.Broken, "The database cannot be written.", "See that the disk has room and the data folder is writable.", err)
	}
	for _, run := range left {
		slog.Info("a run was interrupted", "session", run.SessionID, "run", run.ID, "iteration", run.Iteration)
		if err := e.waitAgain(ctx, run); err != nil {
			slog.Warn("a run does not wait again for its answer", "run", run.ID, "err", err)
		}
	}
	if err := e.store.Purge(ctx, e.now().Add(-restorable).UnixMilli()); err != nil {
		slog.Warn("deleted sessions could not be removed", "err", err)
	}
	queued, err := e.store.QueuedSessions(ctx)
	if err != nil {
		return err
	}
	for _, sessionID := range queued {
		e.kick(sessionID)
	}
	return nil
}

// Close stops every run, ends the browsers and closes the store. Runs at work
// stay unfinished in the store and are interrupted at the next start.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	callers := e.callers
	e.callers = map[string]*caller{}
	e.mu.Unlock()
	e.cancel()
	ended := make(chan struct{})
	go func() { e.plays.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(closing):
		slog.Warn("runs did not end in time")
	}
	for _, c := range callers {
		c.close()
	}
	e.mu.Lock()
	owners := slices.Collect(maps.Keys(e.jobs))
	e.mu.Unlock()
	for _, owner := range owners {
		e.endJobs(owner)
	}
	e.browsers.close()
	if e.store == nil {
		return nil
	}
	return e.store.Close()
}

// Events returns the events of one session, or of all when sessionID is "", as
// they happen. The channel is closed when ctx ends.
func (e *Engine) Events(ctx context.Context, sessionID string) (<-chan event.Envelope, error) {
	sub := e.bus.Subscribe(sessionID)
	context.AfterFunc(ctx, sub.Close)
	context.AfterFunc(e.ctx, sub.Close)
	return sub.C(), nil
}

// notFound turns the store's sentinel into a sentence about the thing.
func notFound(err error, thing string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, fmt.Sprintf("There is no such %s.", thing), "It may have been deleted.")
	}
	return err
}
