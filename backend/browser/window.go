package browser

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// page returns the current tab, restoring what was lost.
func (s *Session) page(ctx context.Context, blank bool) (*tab, error) {
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
		case t == nil && !blank:
			return nil, problem(NoTab, "no page is open")
		case t == nil:
			return s.open(ctx, "")
		}
		ready := t.ready
		if t.r.dead() {
			ready = nil // only its end is to come
		}
		select {
		case <-t.gone:
			continue
		case <-ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if t.isGone() {
			continue
		}
		t.mu.Lock()
		err, dialog := t.attachEr, t.dialog
		t.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if dialog != nil {
			return nil, dialogProblem(dialog)
		}
		return t, nil
	}
}

// restore opens again what went with the browser or its window.
func (s *Session) restore(ctx context.Context, lost []lostTab) error {
	s.mu.Lock()
	s.lost = nil
	s.byHand = time.Time{}
	s.mu.Unlock()
	var urls []string
	var current *tab
	for _, l := range lost {
		t, err := s.open(ctx, l.id)
		if err != nil {
			s.mu.Lock()
			s.lost = lost
			s.mu.Unlock()
			return err
		}
		if l.url != "" && l.url != "about:blank" {
			urls = append(urls, l.id+" "+l.url)
			_, _ = t.navigate(ctx, l.url)
		}
		if l.current || current == nil {
			current = t
		}
	}
	s.mu.Lock()
	s.cur = current
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
	s.mu.Unlock()
	if beside != nil && !s.b.o.Headless {
		if t := s.openBeside(ctx, beside); t != nil {
			return t, nil
		}
	}
	var made struct{ TargetID string }
	args := map[string]any{"url": "about:blank", "background": true}
	if !s.b.o.Headless || beside == nil {
		args["newWindow"] = true
	}
	if err := r.p.conn.call(ctx, "", "Target.createTarget", args, &made); err != nil {
		if isGone(err) {
			return nil, gone()
		}
		return nil, fmt.Errorf("open a tab: %w", err)
	}
	s.mu.Lock()
	t := s.addTab(r, made.TargetID)
	if id != "" {
		t.id = id
	}
	t.url = "about:blank"
	s.cur = t
	s.mu.Unlock()
	if err := t.attach(ctx, true); err != nil {
		return nil, err
	}
	s.poke()
	return t, nil
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
