package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"gofer/backend/browser"
	"gofer/backend/egress"
	"gofer/backend/guard"
	"gofer/backend/tool"
)

// Sentences of refused connections. They stand behind the host's name.
const (
	closedCarrying = "a page may only reach sites that were allowed, once something from elsewhere was put into it. Opening it with browser_open is judged anew"
	closedInside   = "it is of this computer or its network, which a page may only reach where that very site was allowed. Opening it with browser_open asks the person"
	closedDenied   = "a rule of the person denies it"
)

// leaving is how long a page that is left may still do something: browsers give
// up waiting for it after half a second.
const leaving = 700 * time.Millisecond

// ways decides where the managed browsers may connect to. Connections cannot be
// told apart by the tab they are for, so they are judged by the lanes there are:
// the strictest decides, but what is open to one is open to all.
//
// A lane carries from the moment a call puts something into its page after text
// from elsewhere than that page was read, until that page is gone.
type ways struct {
	guard *guard.Guard
	tabs  func(owner string) *browser.Session // nil without
	test  map[string]string                   // see egress.Options.Instead

	mu    sync.Mutex
	proxy *egress.Proxy // nil until a browser needs it
	lanes map[string]*course
}

// course is what is known of a lane for judging connections.
type course struct {
	full     bool
	since    time.Time       // when its page was opened
	opened   map[string]bool // places opened since then; true for those a person has allowed by name
	left     time.Time       // when it was closed while it carried
	carrying bool
	behind   *course         // of the page before it, if that carried: going back shows it again
	beside   map[string]bool // hosts, with their ports, that the page may go on to use while the lane carries
}

// start returns the proxy, started on first need.
func (w *ways) start() (*egress.Proxy, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.proxy == nil {
		p, err := egress.Start(egress.Options{Judge: w.judge, Inside: insideOf(guard.NearAddress), Instead: w.test})
		if err != nil {
			return nil, err
		}
		w.proxy = p
	}
	return w.proxy, nil
}

func (w *ways) close() {
	w.mu.Lock()
	p := w.proxy
	w.mu.Unlock()
	if p != nil {
		_ = p.Close()
	}
}

// forget drops a lane whose tabs are being closed.
func (w *ways) forget(owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.lanes[owner]; c != nil && c.carrying {
		c.left = time.Now()
		return
	}
	delete(w.lanes, owner)
}

// why says why a host was not reached, as the browser asks.
func (w *ways) why(hostport string) (refused string, err error) {
	w.mu.Lock()
	p := w.proxy
	w.mu.Unlock()
	if p == nil {
		return "", nil
	}
	err = p.Why(hostport)
	var r *egress.Refusal
	if errors.As(err, &r) {
		return r.Words, nil
	}
	return "", err
}

// judge says whether the browsers may connect somewhere.
func (w *ways) judge(way egress.Way) egress.Verdict {
	host := way.String()
	place, ok := guard.Place("http://" + host)
	if !ok {
		place = host
	}
	open, near, full, all, denied := false, false, false, true, false
	var against []string // lanes that carry and do not use it
	w.mu.Lock()
	for owner, c := range w.lanes {
		if !c.left.IsZero() && time.Since(c.left) > leaving {
			delete(w.lanes, owner)
			continue
		}
		granted, no := w.guard.Reach(owner, place)
		asked, opened := c.opened[place]
		open, near, denied = open || granted || opened, near || granted || asked, denied || no && !c.full
		full, all = full || c.full, all && c.full
		if c.carrying && !c.full && !c.beside[host] {
			against = append(against, owner)
		}
	}
	all = all && len(w.lanes) > 0
	w.mu.Unlock()
	switch {
	case all:
		return egress.Verdict{}
	case denied:
		return egress.Verdict{Closed: closedDenied}
	case guard.Near(place) && !near && !full:
		return egress.Verdict{Closed: closedInside}
	case !open && slices.ContainsFunc(against, w.shows):
		return egress.Verdict{Closed: closedCarrying}
	case !near && !full:
		return egress.Verdict{Inside: closedInside}
	}
	return egress.Verdict{}
}

// shows reports whether a lane has a page, or had one a moment ago.
func (w *ways) shows(owner string) bool {
	s := w.tabs(owner)
	if s == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.lanes[owner] != nil
	}
	_, _, open := s.Page()
	return open
}

// deed is an allowed call of a browser tool that is about to be made.
type deed struct {
	owner  string
	full   bool
	tool   tool.Tool
	args   json.RawMessage
	claims []tool.Claim
	asked  bool            // a person has allowed it
	read   map[string]bool // where all outside text came from
}

// before takes note of a call: what it opens, and what it puts into a page.
func (w *ways) before(ctx context.Context, d deed) {
	if !strings.HasPrefix(d.tool.Name, "browser_") {
		return
	}
	w.mu.Lock()
	c := w.lanes[d.owner]
	if c == nil || !c.left.IsZero() {
		c = &course{since: time.Now(), opened: map[string]bool{}}
		w.lanes[d.owner] = c
	}
	strict := c.full != d.full && !d.full
	c.full = d.full
	w.mu.Unlock()
	opens := d.tool.Name == "browser_open" || d.tool.Name == "browser_tabs"
	if d.tool.Name == "browser_open" && len(d.claims) > 0 || d.tool.Name == "browser_close" {
		strict = w.leave(ctx, d, c) || strict
	}
	if d.tool.Name == "browser_history" {
		strict = w.back(c) || strict
	}
	w.mu.Lock()
	for _, claim := range d.claims {
		place, ok := guard.Place(claim.Object)
		switch claim.Class {
		case tool.Visit, tool.Send, tool.RunScript:
			if ok && (opens || d.asked) {
				c.opened[place] = c.opened[place] || d.asked || guard.Near(place)
			}
		}
	}
	w.mu.Unlock()
	if d.tool.Puts(d.args) {
		strict = w.put(d, c) || strict
	}
	w.mu.Lock()
	p := w.proxy
	w.mu.Unlock()
	if strict && p != nil {
		p.Review()
	}
}

// leave begins the course of a lane anew when its only page is about to make
// way for another. A page that carries is left first, while it is still held to
// where it may connect to. It reports whether something may be open that is not
// allowed any more.
func (w *ways) leave(ctx context.Context, d deed, c *course) bool {
	var a struct {
		NewTab bool `json:"new_tab"`
	}
	s := w.tabs(d.owner)
	if json.Unmarshal(d.args, &a) != nil || s != nil && (a.NewTab || len(s.Tabs(ctx)) > 1) {
		return false
	}
	w.mu.Lock()
	carrying := c.carrying
	w.mu.Unlock()
	if carrying && s != nil && w.shows(d.owner) {
		if !s.Leave(ctx) {
			return false
		}
		select {
		case <-time.After(leaving):
		case <-ctx.Done():
			return false
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.carrying {
		old := *c
		c.behind = &old
	}
	c.since, c.opened, c.carrying, c.beside = time.Now(), map[string]bool{}, false, nil
	return true
}

// back takes note that a lane goes back or forth: a page that carried may be
// shown again with all that is in it.
func (w *ways) back(c *course) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := c.behind
	if old == nil || c.carrying {
		return false
	}
	c.carrying, c.beside = true, old.beside
	for place, named := range old.opened {
		c.opened[place] = c.opened[place] || named
	}
	return true
}

// put takes note that something is put into the page of a lane, and reports
// whether connections are held stricter from now on.
func (w *ways) put(d deed, c *course) bool {
	address := ""
	if s := w.tabs(d.owner); s != nil {
		address, _, _ = s.Page()
	}
	page, _ := guard.Place(address)
	script := false
	elsewhere := false
	for from := range d.read {
		elsewhere = elsewhere || from != page
	}
	for _, claim := range d.claims {
		script = script || claim.Class == tool.RunScript
		elsewhere = elsewhere || claim.Class == tool.ReadFile // which is given to the page
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if d.full || !elsewhere {
		return false
	}
	began := !c.carrying
	if began {
		c.carrying, c.beside = true, map[string]bool{}
		if w.proxy != nil {
			for _, host := range w.proxy.Used(c.since) {
				c.beside[host] = true
			}
		}
	}
	if script { // which could send to any of them
		began, c.beside = began || len(c.beside) > 0, nil
	}
	if _, ok := c.opened[page]; page != "" && !ok { // the page itself goes on
		c.opened[page] = false
	}
	return began
}

// originOf is the place outside text came from, as places are compared, or what
// else it was; "" for a page that says nothing.
func originOf(origin string) string {
	if place, ok := guard.Place(origin); ok {
		return place
	}
	if strings.HasPrefix(origin, "about:") || strings.HasPrefix(origin, "chrome-error:") {
		return ""
	}
	return origin
}

// noted adds where text came from to a set.
func noted(read map[string]bool, origin string) map[string]bool {
	if origin = originOf(origin); origin == "" || read[origin] {
		return read
	}
	read = maps.Clone(read) // another goroutine may read the one before
	if read == nil {
		read = map[string]bool{}
	}
	read[origin] = true
	return read
}

// managed are the options by which a browser goes through the proxy.
func (w *ways) managed(o browser.Options) (browser.Options, error) {
	if o.Attach != "" {
		slog.Warn("where the user's own browser connects to is not filtered", "port", o.Attach)
		return o, nil
	}
	p, err := w.start()
	if err != nil {
		return o, err
	}
	o.Proxy, o.Why = p.Addr(), w.why
	return o, nil
}

// insideOf adds this computer's own addresses to those that are not of the
// internet: what listens there often means to speak to this computer only.
func insideOf(near func(netip.Addr) bool) func(netip.Addr) bool {
	var mu sync.Mutex
	var own map[netip.Addr]bool
	var at time.Time
	return func(a netip.Addr) bool {
		if near(a) {
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		if time.Since(at) > 10*time.Second {
			at, own = time.Now(), map[netip.Addr]bool{}
			list, _ := net.InterfaceAddrs() // without them the ranges decide
			for _, n := range list {
				if p, err := netip.ParsePrefix(n.String()); err == nil {
					own[p.Addr().Unmap()] = true
				}
			}
		}
		return own[a]
	}
}
