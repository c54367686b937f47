package browser

import (
	"context"
	"errors"
	"slices"
	"time"
)

// overdue says why the page did not answer in time, and frees it from an
// endless script. The tab may be nil.
func (t *tab) overdue() error {
	if t == nil {
		return problem(Timeout, "the call took too long")
	}
	if to := t.awaited(); to != "" {
		return problem(Timeout, "the page is on its way to %s, which has not answered yet", to)
	}
	switch stuck, freed := t.unblock(t.s.life, 300*time.Millisecond); {
	case freed:
		return problem(Timeout, "the page did not answer in time; an endless script was ended")
	case stuck:
		t.mu.Lock()
		t.hung = true
		t.mu.Unlock()
		return problem(Timeout, "the page does not answer, and its script was told to end; if it does not, the next call opens the page anew")
	}
	return problem(Timeout, "the call took too long")
}

// rescue deals with a page that did not answer the call before: it had time
// since to end its script, and if it did not, its tab is replaced.
func (s *Session) rescue(ctx context.Context) error {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	if t == nil || t.isGone() {
		return nil
	}
	t.mu.Lock()
	hung, to := t.hung, t.url
	t.hung = false
	t.mu.Unlock()
	if !hung {
		return nil
	}
	if stuck, freed := t.unblock(ctx, time.Second); !stuck || freed || ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.within(NavigateLimit), errLimit)
	defer cancel()
	fresh, _, err := s.instead(ctx, t, to)
	if err != nil {
		return s.explainNav(ctx, fresh, to, err)
	}
	s.note("The page in %s did not answer any more, so its tab was closed and %s opened again. Refs from before no longer hold.", fresh.id, short(to, 300))
	return nil
}

// errStuck says that a page hangs and nothing else can be shown in its tab.
var errStuck = errors.New("the page that is open does not answer")

// instead shows an address in a new tab that takes the place and the name of
// one whose page hangs.
func (s *Session) instead(ctx context.Context, t *tab, to string) (*tab, Report, error) {
	s.mu.Lock()
	s.cur = nil // it cannot open the new one
	s.mu.Unlock()
	fresh, err := s.open(ctx, t.id)
	if err != nil {
		t.r.p.conn.send("", "Target.closeTarget", map[string]any{"targetId": t.target}) // it is brought back with the next call
		return t, Report{}, err
	}
	s.drop(t)
	r, err := fresh.navigate(ctx, to)
	return fresh, r, err
}

// unblock ends a script that keeps the page from answering: stuck tells
// whether there was one, freed whether the page answers again. A page that does
// not answer within the patience has twice as long to end its script.
func (t *tab) unblock(ctx context.Context, patience time.Duration) (stuck, freed bool) {
	t.mu.Lock()
	sessions := []string{t.session}
	for _, f := range t.frames {
		if f.session != "" && !slices.Contains(sessions, f.session) {
			sessions = append(sessions, f.session)
		}
	}
	dialog := t.dialog
	t.mu.Unlock()
	if dialog != nil || t.isGone() || t.awaited() != "" { // an order to end would hit the next script
		return false, false
	}
	type probe struct {
		session string
		ch      <-chan answer
	}
	var probes []probe
	for _, id := range sessions {
		probes = append(probes, probe{id, t.r.p.conn.send(id, "Runtime.evaluate", map[string]any{"expression": "0"})})
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	freed = true
	for _, p := range probes {
		err := t.await(soon, p.ch, "Runtime.evaluate", nil)
		if ctx.Err() != nil {
			return false, false
		}
		if err != nil && soon.Err() != nil {
			stuck = true
			end, stop := context.WithTimeout(ctx, 2*patience)
			t.r.p.conn.send(p.session, "Runtime.terminateExecution", nil)
			freed = t.await(end, p.ch, "Runtime.evaluate", nil) == nil && freed
			stop()
		}
	}
	return stuck, stuck && freed
}
