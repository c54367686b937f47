package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// page returns the current tab, restoring what was lost.
func (s *Session) page(ctx context.Context, n need) (*tab, error) {
	for {
		s.mu.Lock()
		t, lost, closed := s.cur, s.lost, s.closed
		s.mu.Unlock()
		switch {
		case closed:
			return nil, ErrClosed
		case t == nil && len(lost) > 0:
			if err := s.restore(ctx, lost); err != nil {
				return nil, err
			}
			continue
		case t == nil && n != anyPage:
			return nil, problem(NoTab, "no page is open")
		case t == nil:
			return s.open(ctx, "")
		}
		ready := t.ready
		if t.r.dead() {
			ready = nil // only its end is to come
		}
		slow := time.NewTimer(s.within(DefaultLimit) / 2)
		select {
		case <-t.gone:
			s.forsake(t)
			continue
		case <-ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-slow.C: // a page opened by another one, whose address does not answer
			t.stopLoading(ctx)
			s.note("The address of %s did not answer, so its loading was stopped.", t.id)
			select {
			case <-t.gone:
				s.forsake(t)
				continue
			case <-ready:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if t.isGone() {
			s.forsake(t)
			continue
		}
		t.mu.Lock()
		err, dialog := t.attachEr, t.dialog
		t.mu.Unlock()
		if err != nil {
			s.drop(t)
			s.note("Tab %s could not be used and was closed.", t.id)
			continue
		}
		if dialog != nil && n != present {
			return nil, dialogProblem(dialog)
		}
		return t, nil
	}
}

// forsake makes sure that a tab that has gone is not the current one.
func (s *Session) forsake(t *tab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == t {
		s.cur = nil
	}
}

// revive restores what was lost before a call, in a time of its own.
func (s *Session) revive(ctx context.Context) error {
	s.mu.Lock()
	t, lost, closed := s.cur, s.lost, s.closed
	s.mu.Unlock()
	if t != nil || len(lost) == 0 || closed {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.within(NavigateLimit), errLimit)
	defer cancel()
	if err := s.restore(ctx, lost); err != nil {
		return s.explain(ctx, nil, err)
	}
	return nil
}

// restore opens again what went with the browser or its window.
func (s *Session) restore(ctx context.Context, lost []lostTab) error {
	s.mu.Lock()
	s.lost = nil
	s.byHand = time.Time{}
	s.mu.Unlock()
	// Tabs that end one after the other each become current; the first one was.
	was := max(slices.IndexFunc(lost, func(l lostTab) bool { return l.current }), 0)
	first := lost[was].id
	for i := range lost {
		lost[i].current = i == was
	}
	slices.SortFunc(lost, func(a, b lostTab) int { return cmp.Or(len(a.id)-len(b.id), strings.Compare(a.id, b.id)) })
	var urls []string
	var made []*tab
	var current *tab
	var at string
	for _, l := range lost {
		t, err := s.open(ctx, l.id)
		if err != nil {
			for _, t := range made {
				s.drop(t)
			}
			s.mu.Lock()
			s.lost = lost
			s.mu.Unlock()
			return err
		}
		made = append(made, t)
		if l.id == first {
			current, at = t, l.url
		}
		if l.url != "" && l.url != "about:blank" {
			urls = append(urls, l.id+" "+l.url)
			if l.id != first { // it loads while the current one is waited for
				t.r.p.conn.send(t.session, "Page.navigate", map[string]any{"url": l.url})
			}
		}
	}
	if at != "" && at != "about:blank" {
		soon, cancel := context.WithTimeout(ctx, s.within(NavigateLimit)/2)
		_, _ = current.navigate(soon, at)
		cancel()
	}
	s.mu.Lock()
	if !current.isGone() {
		s.cur = current
	}
	for i := range s.lost { // what went again, before it had got its page
		for _, l := range lost {
			if s.lost[i].id == l.id {
				s.lost[i].url, s.lost[i].current = l.url, l.current
			}
		}
	}
	s.notices = append(s.notices, "The browser or its window had been closed; it was opened again"+
		func() string {
			if len(urls) == 0 {
				return "."
			}
			return " with " + strings.Join(urls, ", ") + "."
		}()+" Refs from before no longer hold.")
	s.mu.Unlock()
	return nil
}

// open makes a tab: the first in a window of its own, later ones beside it.
func (s *Session) open(ctx context.Context, id string) (*tab, error) {
	t, err := s.openIn(ctx, id)
	if isGone(err) && ctx.Err() == nil {
		// Its tabs were seen to go before the browser itself: it takes a new one.
		t, err = s.openIn(ctx, id)
	}
	return t, err
}

func (s *Session) openIn(ctx context.Context, id string) (*tab, error) {
	r, err := s.b.ensure(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	beside := s.cur
	if s.b.o.Attach != "" && s.ids == 0 {
		s.notices = append(s.notices, "This is the user's own browser: its log-ins are the user's, and only the tabs opened here are yours.")
	}
	s.mu.Unlock()
	if beside != nil && !s.b.o.Headless {
		if t := s.openBeside(ctx, beside); t != nil {
			if id != "" {
				s.mu.Lock()
				t.mu.Lock()
				t.id = id
				t.mu.Unlock()
				s.mu.Unlock()
			}
			return t, nil
		}
	}
	t, err := s.makeTab(ctx, r, id, beside == nil)
	if errors.Is(err, errMute) { // its renderer may have died while it started
		t, err = s.makeTab(ctx, r, id, beside == nil)
	}
	return t, err
}

// errMute: a new page did not answer while it was set up.
var errMute = errors.New("a new page did not answer")

// setUpLimit bounds the wait for the first answers of a new page.
const setUpLimit = 5 * time.Second

// makeTab opens an empty page and sets it up.
func (s *Session) makeTab(ctx context.Context, r *running, id string, first bool) (*tab, error) {
	var made struct{ TargetID string }
	args := map[string]any{"url": "about:blank", "background": true}
	if !s.b.o.Headless || first {
		args["newWindow"] = true
	}
	soon, cancel := context.WithTimeout(ctx, setUpLimit)
	defer cancel()
	mute := func(err error) error {
		if ctx.Err() == nil && soon.Err() != nil {
			return errMute
		}
		return err
	}
	if err := r.p.conn.call(soon, "", "Target.createTarget", args, &made); err != nil {
		if isGone(err) {
			return nil, gone()
		}
		return nil, mute(fmt.Errorf("open a tab: %w", err))
	}
	s.mu.Lock()
	t := s.addTab(r, made.TargetID, id)
	s.cur = t
	s.mu.Unlock()
	// Only a browser with our flags keeps a new page as it is while it is set up.
	err := t.attach(soon, s.b.o.Attach == "")
	if t.isGone() && !r.dead() { // its process was ended while it started
		err = errMute
		s.mu.Lock()
		s.lost = slices.DeleteFunc(s.lost, func(l lostTab) bool { return l.id == t.id })
		s.mu.Unlock()
	}
	if err != nil {
		s.drop(t)
		return nil, mute(err)
	}
	s.poke()
	return t, nil
}

// drop closes a tab that never came to be of use, as if it had not been opened.
func (s *Session) drop(t *tab) {
	s.mu.Lock()
	s.tabs = slices.DeleteFunc(s.tabs, func(x *tab) bool { return x == t })
	if s.cur == t {
		s.cur = nil
		if len(s.tabs) > 0 {
			s.cur = s.tabs[len(s.tabs)-1]
		}
	}
	s.mu.Unlock()
	t.r.p.conn.send("", "Target.closeTarget", map[string]any{"targetId": t.target})
}

// openBeside opens a tab in the window of another, which only a page can do.
// It returns nil when that page does not answer soon.
func (s *Session) openBeside(ctx context.Context, beside *tab) *tab {
	s.mu.Lock()
	before := s.seen
	s.mu.Unlock()
	soon, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer cancel()
	beside.mu.Lock()
	session := beside.session
	beside.mu.Unlock()
	err := beside.call(soon, session, "Runtime.evaluate", map[string]any{"expression": "void window.open('about:blank', '_blank', 'noopener')", "userGesture": true}, nil)
	if err != nil {
		return nil
	}
	for soon.Err() == nil {
		s.mu.Lock()
		now, t := s.seen, s.cur
		s.mu.Unlock()
		if now != before && t != beside {
			select {
			case <-t.ready:
				if t.attachEr == nil {
					return t
				}
				return nil
			case <-soon.Done():
				return nil
			}
		}
		if beside.call(soon, session, "Runtime.evaluate", map[string]any{"expression": "0"}, nil) != nil {
			return nil
		}
	}
	return nil
}
