package browser

import (
	"context"
	"errors"
	"time"
)

// Tab is one page of a session.
type Tab struct {
	ID, Title, URL string
	Current        bool
}

// Tabs lists the session's tabs. It goes past a call under way, so that a page
// that hangs can be left.
func (s *Session) Tabs(ctx context.Context) []Tab {
	s.mu.Lock()
	tabs, cur := append([]*tab(nil), s.tabs...), s.cur
	s.mu.Unlock()
	var out []Tab
	for _, t := range tabs {
		t.mu.Lock()
		out = append(out, Tab{t.id, t.title, t.url, t == cur})
		t.mu.Unlock()
	}
	return out
}

// SelectTab makes a tab the current one. The window is not raised.
func (s *Session) SelectTab(ctx context.Context, id string) (Tab, error) {
	if err := s.take(ctx); err != nil {
		return Tab{}, err
	}
	defer func() { <-s.turn }()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tabs {
		if t.id == id {
			s.cur = t
			s.poke()
			t.mu.Lock()
			defer t.mu.Unlock()
			return Tab{t.id, t.title, t.url, true}, nil
		}
	}
	return Tab{}, problem(NoTab, "there is no tab %q", id)
}

func (s *Session) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CloseTab closes a tab, the current one when id is empty.
func (s *Session) CloseTab(ctx context.Context, id string) (closed, current string, err error) {
	if err := s.take(ctx); err != nil {
		return "", "", err
	}
	defer func() { <-s.turn }()
	s.mu.Lock()
	var t *tab
	for _, x := range s.tabs {
		if x.id == id || id == "" && x == s.cur {
			t = x
		}
	}
	s.mu.Unlock()
	if t == nil {
		return "", "", problem(NoTab, "there is no tab %q", id)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, DefaultLimit, errLimit)
	defer cancel()
	if err := t.r.p.conn.call(ctx, "", "Target.closeTarget", map[string]any{"targetId": t.target}, nil); err != nil {
		return "", "", s.explain(ctx, t, err)
	}
	select {
	case <-t.gone:
	case <-ctx.Done():
		return "", "", problem(DialogOpen, "the page asks before it is left; answer it with browser_dialog")
	case <-time.After(3 * time.Second):
		t.mu.Lock()
		open := t.dialog != nil
		t.mu.Unlock()
		if open {
			return "", "", problem(DialogOpen, "the page asks before it is left; answer it with browser_dialog")
		}
		return "", "", errors.New("close tab: the browser did not close it")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost, s.notices = nil, nil
	if s.cur != nil {
		current = s.cur.id
	}
	return t.id, current, nil
}

// Facts says what a press on a target would do, for a guard that asks first.
type Facts struct {
	Role, Name string
	Page       string // address of the page
	Href       string // where a link leads
	Submit     bool   // it submits a form, or may: a button inside one
	Action     string // where the form goes
	Method     string // get or post
	Fields     []FormField
}

// FormField is what a form would send of one field.
type FormField struct {
	Label, Value string
	Secret       bool
}

// Facts looks at a target without waiting for its turn and without changing
// the page; enter asks what pressing Enter there would do, and an empty target
// means what has the focus.
func (s *Session) Facts(ctx context.Context, on Target, enter bool) (Facts, error) {
	return s.facts(ctx, func(ctx context.Context, t *tab) (*frame, args, error) {
		if on.Ref == "" && on.Text == "" {
			return t.focused(ctx), args{"focused": true, "enter": enter}, nil
		}
		f, a, err := t.seek(ctx, on)
		if err == nil {
			a["enter"] = enter
		}
		return f, a, err
	})
}

// FactsAt is Facts for a press at a point.
func (s *Session) FactsAt(ctx context.Context, p Point) (Facts, error) {
	return s.facts(ctx, func(ctx context.Context, t *tab) (*frame, args, error) {
		at, _, err := t.onPage(ctx, p)
		return t.root(), args{"x": at.X, "y": at.Y}, err
	})
}

func (s *Session) facts(ctx context.Context, seek func(context.Context, *tab) (*frame, args, error)) (Facts, error) {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	if t == nil {
		return Facts{}, problem(NoTab, "no page is open")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errLimit)
	defer cancel()
	select {
	case <-t.ready:
	case <-ctx.Done():
		return Facts{}, s.explain(ctx, nil, ctx.Err())
	}
	t.mu.Lock()
	out := Facts{Page: t.url}
	t.mu.Unlock()
	f, a, err := seek(ctx, t)
	if err != nil {
		return out, s.explain(ctx, nil, err)
	}
	if err := t.js(ctx, f, "facts", a, &out); err != nil {
		return out, s.explain(ctx, nil, err)
	}
	return out, nil
}

// CloseTabs closes all tabs of the session and says how many.
func (s *Session) CloseTabs(ctx context.Context) (int, error) {
	n := 0
	for range 200 { // a bound for a browser that is just going
		s.mu.Lock()
		var id string
		if len(s.tabs) > 0 {
			id = s.tabs[0].id
		}
		s.lost = nil // so that nothing is brought back
		s.mu.Unlock()
		if id == "" {
			return n, nil
		}
		_, _, err := s.CloseTab(ctx, id)
		var p *Problem
		if errors.As(err, &p) && (p.Code == NoTab || p.Code == Gone) {
			continue // it went by itself
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
