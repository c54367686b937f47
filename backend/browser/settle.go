package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Spans of settling.
const (
	noneWindow   = 46 * time.Millisecond // for what does something only a little later
	requestLimit = 3 * time.Second       // for requests an action began
	askedLimit   = time.Second           // for a navigation that was asked for and never started
)

// mark is a point in the life of a tab; what came after it is the action's doing.
type mark struct {
	reqs, navs, moves, tabs int
	downloads               int
	url                     string
}

func (t *tab) mark() mark {
	t.s.mu.Lock()
	tabs := t.s.seen
	t.s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files, t.refused, t.refusedWhy = nil, nil, ""
	return mark{reqs: t.reqSeq, navs: t.navs, moves: t.moves, tabs: tabs, downloads: t.r.begun(), url: t.url}
}

type evidence struct{ Strong, Weak int }

// settle waits for reasons: it returns when what the action began has ended,
// or when nothing was begun. It is true if the page went to another document.
func (t *tab) settle(ctx context.Context, f *frame, m mark) (navigated, loading bool, err error) {
	for round := 0; ; round++ {
		var ev evidence
		a := args{}
		if round > 0 {
			a = args{"frame": true, "quiet": noneWindow.Milliseconds(), "early": true}
		}
		err := t.js(ctx, f, "settle", a, &ev)
		var p *Problem
		lost := errors.Is(err, errNavigated) || errors.As(err, &p) && p.Code == Detached
		if err != nil && !lost {
			return false, false, err
		}
		t.mu.Lock()
		moved := t.navs > m.navs
		t.mu.Unlock()
		if moved || t.leaving(f) {
			if err := t.arrive(ctx, f, m); err != nil {
				return false, false, err
			}
			t.mu.Lock()
			moved = t.navs > m.navs
			t.mu.Unlock()
			if moved {
				t.frameLoads(ctx)
				calm := t.calm(ctx, mark{navs: m.navs + 1}, t.s.within(requestLimit))
				t.mu.Lock()
				defer t.mu.Unlock()
				return true, !calm || t.interact != t.loader, ctx.Err()
			}
		}
		if lost {
			return false, false, nil // the frame went away, the page stayed
		}
		if t.busy(m) > 0 {
			if !t.calm(ctx, m, t.s.within(requestLimit)) {
				if ctx.Err() != nil {
					return false, false, ctx.Err()
				}
				return false, true, t.dialogErr()
			}
			if round < 6 {
				continue
			}
		}
		if ev.Strong > 0 || round > 0 {
			return false, false, t.dialogErr()
		}
	}
}

func (t *tab) dialogErr() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dialog != nil {
		return errDialog
	}
	return nil
}

// leaving is true while the main frame or f is on its way to another document.
func (t *tab) leaving(f *frame) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leavingLocked(f)
}

func (t *tab) leavingLocked(f *frame) bool {
	for _, id := range []string{t.target, f.id} {
		if n, ok := t.navBusy[id]; ok && (n.loader != "" || time.Since(n.at) < askedLimit) {
			return true
		}
	}
	return false
}

// awaited is the address of a document that was asked for and has no answer
// yet. Until then the page that is shown takes no orders: the browser holds
// them back.
func (t *tab) awaited() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.awaitedLocked()
}

func (t *tab) awaitedLocked() string {
	n := t.navBusy[t.target]
	_, sent := t.reqs[n.loader]
	if d := t.status[n.loader]; !d.answered && d.failed == "" && (sent || time.Since(n.at) < askedLimit) {
		return n.url
	}
	return ""
}

// arriving lets a load that is under way end before a call. One that takes too
// long is stopped, so that the page that is still shown can be used.
func (s *Session) arriving(ctx context.Context, t *tab) error {
	end := time.Now().Add(s.within(DefaultLimit) / 3)
	to := t.awaited()
	for ; to != "" && time.Now().Before(end); to = t.awaited() {
		// One that was only asked for may end without an event.
		soon, cancel := context.WithTimeout(ctx, min(time.Until(end), askedLimit))
		err := t.until(soon, func() bool { return t.awaitedLocked() == "" })
		cancel()
		if err != nil && (!errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil) {
			return err
		}
	}
	if to == "" {
		return nil
	}
	if !t.stopLoading(ctx) && ctx.Err() == nil {
		return errMute
	}
	s.note("%s did not answer, so its loading was stopped; the page before is still shown.", short(to, 300))
	return nil
}

// stopLoading gives up a load under way; it is false when the page does not
// even answer that.
func (t *tab) stopLoading(ctx context.Context) bool {
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if t.call(soon, t.session, "Page.stopLoading", nil, nil) != nil {
		return false
	}
	t.mu.Lock()
	delete(t.navBusy, t.target)
	t.mu.Unlock()
	return true
}

// arrive waits until a navigation under way has an answer and its document can
// be read, or is shown and takes its time.
func (t *tab) arrive(ctx context.Context, f *frame, m mark) error {
	var patience time.Time // for a document that is shown
	for {
		// A navigation that was only asked for has no event that ends it, so the
		// wait is cut into pieces.
		span := min(askedLimit, t.s.within(DefaultLimit)/4)
		if !patience.IsZero() {
			span = min(span, time.Until(patience)+time.Millisecond)
		}
		piece, cancel := context.WithTimeout(ctx, span)
		err := t.until(piece, func() bool { return !t.leavingLocked(f) && (t.navs == m.navs || t.interact == t.loader) })
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
		t.mu.Lock()
		shown := t.navs > m.navs && !t.leavingLocked(f)
		t.mu.Unlock()
		switch {
		case !shown:
			patience = time.Time{}
		case patience.IsZero():
			patience = time.Now().Add(t.s.within(DefaultLimit) / 4)
		case time.Now().After(patience):
			return nil
		}
	}
}

// busy counts requests begun after the mark that are under way.
func (t *tab) busy(m mark) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.busyLocked(m)
}

func (t *tab) busyLocked(m mark) int {
	n := 0
	for _, q := range t.reqs {
		if q.seq > m.reqs {
			n++
		}
	}
	return n
}

// calm waits until no request begun after the mark is under way, or a
// navigation starts; it is false when the limit came first.
func (t *tab) calm(ctx context.Context, m mark, limit time.Duration) bool {
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2) // something has to be told afterwards
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := t.until(ctx, func() bool {
		return t.busyLocked(m) == 0 || t.navs > m.navs || len(t.navBusy) > 0 && t.navBusy[t.target].loader != ""
	})
	return err == nil || errors.Is(err, errDialog)
}

// Report is what an action did to the page.
type Report struct {
	Did     string   // in our words, such as: Clicked button "Save" e12.
	Changes []string // what changed, with refs; holds words of the page
	URL     string   // of the page the changes are from
	Outcome string   // a few words for a card

	Record Record // what a replay would need

	clicks  bool // a click is to be heard of
	hovers  bool // the mouse is to be seen on the element
	unheard bool // the document saw no press at all
	unkeyed bool // nor any key

	unpressed bool // no press was seen, though something happened

	typed string     // text whose field is read back
	echo  func(held) // tells what the field holds then
}

type changes struct {
	Lines        []string
	Hit, Any     int  // presses on the element, and in all
	Keys         int  // key presses
	Clicked      bool // the element got the click too
	Over         bool // the mouse was seen on it
	Strong, Weak int
	URL, Title   string
	Print        Fingerprint
	Held         *held // what was typed into holds
}

// after settles and tells what the action did. quiet leaves out the note that
// nothing changed.
func (t *tab) after(ctx context.Context, f *frame, m mark, r *Report, quiet bool) error {
	navigated, loading, err := t.settle(ctx, f, m)
	if err != nil && !errors.Is(err, errDialog) {
		return err
	}
	dialog := errors.Is(err, errDialog)
	var c changes
	switch {
	case dialog:
	case navigated:
		t.refreshTitle(ctx)
		r.Changes = append(r.Changes, t.arrived(m))
	default:
		a := args{"echoed": quiet}
		if r.echo != nil {
			a["read"] = r.typed
		}
		if err := t.js(ctx, f, "changes", a, &c); err != nil {
			if errors.Is(err, errDialog) {
				dialog = true
			} else if !errors.Is(err, errNavigated) && !isProblem(err) {
				return err
			}
		}
		r.unheard = c.URL != "" && c.Any == 0 && c.Strong == 0
		r.unpressed = c.URL != "" && c.Any == 0
		r.unkeyed = c.URL != "" && c.Keys == 0 && c.Strong == 0
		if c.Held != nil && r.echo != nil {
			r.echo(*c.Held)
		}
		r.Changes = append(r.Changes, c.Lines...)
		switch {
		case r.hovers && c.URL != "" && !c.Over:
			r.Changes = append(r.Changes, "the mouse met something else there: the element moved or was covered meanwhile")
		case quiet || c.Any == 0:
		case c.Hit == 0:
			r.Changes = append(r.Changes, "the press went to something that took the element's place")
		case c.Hit < c.Any:
			r.Changes = append(r.Changes, fmt.Sprintf("only %d of %d presses reached it: it went away or moved under the mouse", c.Hit, c.Any))
		case r.clicks && !c.Clicked:
			r.Changes = append(r.Changes, "the press reached it, but not the click: it went away or moved under the mouse")
		}
		if root := t.root(); f != root && !dialog {
			var outer changes
			if t.js(ctx, root, "changes", nil, &outer) == nil {
				r.Changes = append(r.Changes, outer.Lines...)
			}
		}
		t.mu.Lock()
		if t.moves > m.moves && t.url != m.url {
			r.Changes = append(r.Changes, "address now "+nearer(t.url, m.url))
		}
		t.mu.Unlock()
	}
	r.Changes = append(r.Changes, t.opened(ctx, m)...)
	t.mu.Lock()
	t.record.After = c.Print
	if navigated {
		t.record.After = t.print
	}
	r.Record = t.record
	if t.dialog != nil {
		r.Changes = append(r.Changes, "dialog: "+t.dialog.String()+"; answer it with browser_dialog")
		r.Outcome = "dialog"
	}
	if t.files != nil {
		r.Changes = append(r.Changes, "the page asks for a file; give it with browser_upload on the same ref")
	}
	r.URL = t.url
	if len(r.Changes) > 0 {
		clear(t.failures)
	}
	r.Changes = append(r.Changes, t.turnedAway()...)
	t.mu.Unlock()
	if loading {
		r.Changes = append(r.Changes, "the page is still loading")
	}
	if navigated && r.Outcome == "" {
		r.Outcome = "page changed"
	}
	if len(r.Changes) == 0 && !quiet {
		r.Changes = append(r.Changes, "no visible change")
		r.Outcome = "no visible change"
	}
	return nil
}

// arrived says which page is shown now.
func (t *tab) arrived(m mark) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := "page changed: " + nearer(t.url, m.url)
	d := t.status[t.loader]
	switch {
	case d.status == 401:
	case d.failed != "" && d.status == 0:
		return s + " could not be opened: " + t.s.b.o.netWords(t.url, d.failed)
	case t.title != "":
		s += fmt.Sprintf(" %q", short(t.title, 100))
	}
	if d.status >= 400 {
		s += fmt.Sprintf(" HTTP %d", d.status)
		if d.status == 401 {
			s += ": " + askedForName
		}
	}
	return s
}

// opened tells of tabs and downloads begun after the mark.
func (t *tab) opened(ctx context.Context, m mark) []string {
	var out []string
	t.s.mu.Lock()
	var fresh []*tab
	if n := t.s.seen - m.tabs; n > 0 && n <= len(t.s.tabs) {
		fresh = append(fresh, t.s.tabs[len(t.s.tabs)-n:]...)
	}
	t.s.mu.Unlock()
	for _, n := range fresh {
		if n == t {
			continue
		}
		soon, cancel := context.WithTimeout(ctx, t.s.within(requestLimit))
		select {
		case <-n.ready:
			_ = n.until(soon, func() bool { return n.interact != "" && n.interact == n.loader && n.url != "about:blank" })
		case <-n.gone:
		case <-soon.Done():
		}
		cancel()
		n.refreshTitle(ctx)
		n.mu.Lock()
		if n.interact == "" || n.interact != n.loader {
			out = append(out, strings.Join(strings.Fields(fmt.Sprintf("new tab %s %s is current now and still loading", n.id, n.url)), " "))
		} else {
			out = append(out, fmt.Sprintf("new tab %s %q %s is current now", n.id, short(n.title, 80), n.url))
		}
		n.mu.Unlock()
	}
	for _, d := range t.r.since(m.downloads, t.s) {
		out = append(out, "download "+d.String())
	}
	return out
}

// turnedAway tells what was refused since the mark, if anything; the lock is held.
func (t *tab) turnedAway() []string {
	if len(t.refused) == 0 {
		return nil
	}
	return []string{turnedAway(t.refused, t.refusedWhy)}
}

func (t *tab) refreshTitle(ctx context.Context) {
	var got struct {
		Title string
		Print Fingerprint
	}
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if t.isGone() {
		return
	}
	if t.js(soon, t.root(), "title", nil, &got) == nil {
		t.called(got.Title)
		t.mu.Lock()
		t.print = got.Print
		t.mu.Unlock()
	}
}

// nearer shortens an address to what differs from the one before.
func nearer(now, before string) string {
	a, err1 := url.Parse(now)
	b, err2 := url.Parse(before)
	if err1 == nil && err2 == nil && a.Scheme == b.Scheme && a.Host == b.Host && a.Host != "" {
		return short(a.RequestURI()+frag(a), 300)
	}
	return short(now, 500)
}

func frag(u *url.URL) string {
	if u.Fragment == "" {
		return ""
	}
	return "#" + u.EscapedFragment()
}

func isProblem(err error) bool {
	var p *Problem
	return errors.As(err, &p)
}
