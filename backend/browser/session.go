package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of single calls.
const (
	DefaultLimit  = 10 * time.Second // of an action
	NavigateLimit = 30 * time.Second // of a navigation
)

var errLimit = errors.New("the time for the call is over")

// Session is a lane: the tabs of one window, one of them current. It is bound
// to the tabs it opened and those its pages opened.
type Session struct {
	b    *Browser
	name string
	turn chan struct{} // held by the call under way
	life context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	tabs     []*tab
	cur      *tab
	ids      int
	lost     []lostTab
	notices  []string
	onChange func(url, title string, open bool)
	waker    chan struct{}
	closed   bool
	seen     int       // times a tab was adopted, for what an action opened
	byHand   time.Time // when the last tab was closed while no call was under way
}

type lostTab struct {
	id, url string
	at      time.Time
	current bool
}

func newSession(b *Browser, name string) *Session {
	s := &Session{b: b, name: name, turn: make(chan struct{}, 1), waker: make(chan struct{}, 1)}
	s.life, s.stop = context.WithCancel(context.Background())
	s.work.Go(s.tell)
	return s
}

// OnChange sets who hears of the current page: its address and title, and
// whether there is one at all. Calls come one at a time, the newest state last.
func (s *Session) OnChange(f func(url, title string, open bool)) {
	s.mu.Lock()
	s.onChange = f
	s.mu.Unlock()
	s.poke()
}

func (s *Session) poke() {
	select {
	case s.waker <- struct{}{}:
	default:
	}
}

// tell reports changes of the current page until the session ends.
func (s *Session) tell() {
	type state struct {
		url, title string
		open       bool
	}
	var last state
	for {
		select {
		case <-s.waker:
		case <-s.life.Done():
			return
		}
		s.mu.Lock()
		f, t := s.onChange, s.cur
		s.mu.Unlock()
		var now state
		if t != nil {
			t.mu.Lock()
			now = state{t.url, t.title, true}
			t.mu.Unlock()
		}
		if f != nil && now != last {
			last = now
			f(now.url, now.title, now.open)
		}
	}
}

// Name returns the session's name.
func (s *Session) Name() string { return s.name }

// Page returns address and title of the current page; open is false when there is none.
func (s *Session) Page() (url, title string, open bool) {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	if t == nil {
		return "", "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.url, t.title, true
}

// ClosedByHand says when a person closed the session's window; it is zero while
// there is one, and when the window went with the browser or by an action.
func (s *Session) ClosedByHand() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur != nil || len(s.lost) == 0 {
		return time.Time{}
	}
	return s.byHand
}

// Show raises the session's window.
func (s *Session) Show(ctx context.Context) error {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	if t == nil {
		return problem(NoTab, "no page is open")
	}
	return t.r.p.conn.call(ctx, "", "Target.activateTarget", map[string]any{"targetId": t.target}, nil)
}

// Close closes the session's tabs and forgets it.
func (s *Session) Close() {
	s.b.mu.Lock()
	if s.b.sessions[s.name] == s {
		delete(s.b.sessions, s.name)
	}
	s.b.mu.Unlock()
	s.shut()
}

func (s *Session) shut() {
	s.mu.Lock()
	s.closed = true
	tabs := slices.Clone(s.tabs)
	s.mu.Unlock()
	for _, t := range tabs {
		t.r.p.conn.send("", "Target.closeTarget", map[string]any{"targetId": t.target})
	}
	s.stop()
	s.work.Wait()
}

// adopt takes in a tab that one of our pages opened. It runs in the reader.
func (s *Session) adopt(r *running, i targetInfo) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	t := s.addTab(r, i.ID, "")
	t.mu.Lock()
	t.url, t.title = plainURL(i.URL), titleOf(i)
	t.mu.Unlock()
	s.cur = t
	s.seen++
	s.work.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.work.Done()
		_ = t.attach(s.life, false)
		s.poke()
	}()
}

// addTab files a new tab, or one that takes the place of a lost one and its
// id; the lock is held.
func (s *Session) addTab(r *running, target, id string) *tab {
	t := newTab(s, r, target) // its end is noticed even before it is attached
	s.ids++
	if t.id = id; id == "" {
		t.id = fmt.Sprintf("t%d", s.ids)
	}
	t.url = "about:blank"
	s.tabs = append(s.tabs, t)
	r.mu.Lock()
	r.tabs[target] = t
	r.mu.Unlock()
	return t
}

// lose is told that a tab ended.
func (s *Session) lose(t *tab) {
	t.mu.Lock()
	url, crashed := t.url, t.crashed
	t.mu.Unlock()
	s.mu.Lock()
	i := slices.Index(s.tabs, t)
	if i >= 0 {
		s.tabs = slices.Delete(s.tabs, i, i+1)
		now := time.Now()
		s.lost = slices.DeleteFunc(s.lost, func(l lostTab) bool { return now.Sub(l.at) > 3*time.Second })
		s.lost = append(s.lost, lostTab{t.id, url, now, s.cur == t})
		if s.cur == t {
			s.cur = nil
			if len(s.tabs) == 0 && len(s.turn) == 0 && !crashed && !t.r.dead() {
				s.byHand = now
			}
			if len(s.tabs) > 0 {
				s.cur = s.tabs[max(0, min(i, len(s.tabs))-1)]
				why := "was closed"
				if crashed {
					why = "crashed"
				}
				s.notices = append(s.notices, fmt.Sprintf("Tab %s %s; %s is current now.", t.id, why, s.cur.id))
			}
		}
	}
	s.mu.Unlock()
	s.poke()
}

// begin starts a call: it waits for its turn and for a page to act on. With
// blank it opens an empty page when there is none; without, that is a problem.
// The limit does not count the time to bring back a browser that had ended.
func (s *Session) begin(ctx context.Context, limit time.Duration, blank bool) (context.Context, *tab, func(), error) {
	if blank {
		return s.beginOn(ctx, s.within(limit), anyPage)
	}
	return s.beginOn(ctx, s.within(limit), answering)
}

// need is what a call needs of the current page.
type need int

const (
	answering need = iota // the page itself is to answer, so a load under way and a dialog come first
	present               // there is a page, whatever it does
	anyPage               // as answering, but an empty page does when there is none
)

func (s *Session) beginOn(ctx context.Context, limit time.Duration, n need) (context.Context, *tab, func(), error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, nil, ctx.Err()
	}
	life, end := context.WithCancel(ctx)
	stopAfter := context.AfterFunc(s.life, end)
	err := s.revive(life)
	if n == answering {
		limit -= min(limit/10, time.Second) // which it may take to free a page that hangs
		if err == nil {
			err = s.rescue(life)
		}
	}
	ctx, cancel := context.WithTimeoutCause(life, limit, errLimit)
	done := func() { stopAfter(); cancel(); end(); <-s.turn }
	var t *tab
	if err == nil {
		t, err = s.page(ctx, n)
	}
	if err == nil && n == answering {
		err = s.arriving(ctx, t)
		if errors.Is(err, errMute) { // its process may have died while it started: it is opened anew
			t.crash()
			if t, err = s.page(ctx, n); err == nil {
				err = s.arriving(ctx, t)
			}
		}
	}
	if err != nil {
		err = s.explain(ctx, nil, err)
		done()
		return nil, nil, nil, err
	}
	t.mu.Lock()
	t.record = Record{}
	t.mu.Unlock()
	return ctx, t, done, nil
}

// within is a limit in the measure of the options, which name the one of an
// action. None is longer than that of a navigation.
func (s *Session) within(limit time.Duration) time.Duration {
	return min(time.Duration(float64(limit)*(float64(s.b.o.limit())/float64(DefaultLimit))), NavigateLimit)
}

// Notices returns and forgets what the model should know besides: restored
// windows, closed tabs.
func (s *Session) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.notices
	s.notices = nil
	return out
}

// note keeps a sentence for the next result.
func (s *Session) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, fmt.Sprintf(format, args...))
}

// explain turns an error of a call into the one its caller should see, and
// frees a page that does not answer.
func (s *Session) explain(ctx context.Context, t *tab, err error) error {
	var p *Problem
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		return p
	case errors.Is(err, errDialog) && t != nil:
		t.mu.Lock()
		d := t.dialog
		t.mu.Unlock()
		if d != nil {
			return dialogProblem(d)
		}
		return problem(DialogOpen, "a dialog opened during the call and was closed again")
	case isGone(err) && t.closed() && s.others():
		return problem(Detached, "the tab %s was closed during the call, by its page or by hand", t.id)
	case errors.Is(err, errMute):
		return problem(Timeout, "the page does not answer; open it anew with browser_open")
	case isGone(err):
		return gone()
	case s.life.Err() != nil:
		return ErrClosed
	case errors.Is(context.Cause(ctx), errLimit):
		return t.overdue()
	case ctx.Err() != nil:
		if t != nil {
			s.work.Go(func() { t.unblock(s.life, 200*time.Millisecond) })
		}
		return ctx.Err()
	case errors.Is(err, errNavigated):
		return problem(Detached, "the page went to another document meanwhile")
	}
	var refused *protocolError
	if !errors.As(err, &refused) && !errors.Is(err, errWalker) || t == nil {
		return err
	}
	// A page that is about to end makes calls fail in ways of its own.
	select {
	case <-t.gone:
		return gone()
	case <-time.After(300 * time.Millisecond):
		return problem(Unknown, "%v", err)
	}
}

// others tells whether a tab is left.
func (s *Session) others() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur != nil
}

// outcome is explain for an action that was sent. A page that closes its own
// tab, as those do that ask for a leave, has heard it.
func (s *Session) outcome(ctx context.Context, t *tab, r *Report, err error) error {
	if r.Did == "" || !isGone(err) || !t.closed() {
		return s.explain(ctx, t, err)
	}
	r.Changes = append(r.Changes, "tab "+t.id+" was closed")
	r.Outcome = "tab closed"
	return nil
}

func dialogProblem(d *Dialog) error {
	return problem(DialogOpen, "the page shows a dialog: %s", d.String())
}

// String says what the dialog is and asks.
func (d *Dialog) String() string {
	s := fmt.Sprintf("%s %q", d.Kind, short(d.Message, 500))
	if d.Kind == "beforeunload" {
		s = "leave-page question (changes may be lost)"
	}
	if d.Default != "" {
		s += fmt.Sprintf(" default %q", short(d.Default, 100))
	}
	return s
}

// short cuts text to n bytes at a rune.
func short(s string, n int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
