package browser

import (
	"context"
	"errors"
	"strings"
	"time"
)

// History goes back, forward, or loads the page again.
func (s *Session) History(ctx context.Context, where string) (Report, error) {
	ctx, t, done, err := s.beginOn(ctx, s.within(NavigateLimit), present)
	if err != nil {
		return Report{}, err
	}
	defer done()
	t.mu.Lock()
	to := t.url
	t.mu.Unlock()
	r, err := t.history(ctx, where, &to)
	if errors.Is(err, errStuck) {
		if t, r, err = s.instead(ctx, t, to); err == nil {
			r.Changes = append(r.Changes, "the page before did not answer any more, so its tab was closed, and what it had shown earlier is forgotten")
		}
	}
	return r, s.explainNav(ctx, t, "the page", err)
}

// under begins a navigation and waits until another document, or another place
// in this one, is shown. A page that hangs would keep a document of the same
// site waiting, and takes no order to end while one waits: so it is freed before.
// One that comes to hang only now is errStuck, unless the load can be given up
// and the page freed, to begin again. It tells whether a script was ended.
func (t *tab) under(ctx context.Context, m mark, begin func(context.Context) error) (ended bool, err error) {
	moved := func() bool { return t.navs > m.navs || t.moves > m.moves }
	free := func(patience time.Duration) error {
		stuck, freed := t.unblock(ctx, patience)
		ended = ended || freed
		if stuck && !freed {
			return errStuck
		}
		return ctx.Err()
	}
	if err := free(time.Second); err != nil {
		return ended, err
	}
	under := false
	for patience := 1500 * time.Millisecond; ; patience *= 2 {
		soon, cancel := context.WithTimeout(ctx, patience)
		var err error
		if !under {
			err = begin(soon)
			var refused *protocolError
			if patience > 1500*time.Millisecond && errors.As(err, &refused) {
				err = nil // the page is being left after all
			}
		}
		if under = true; err == nil {
			err = t.until(soon, moved)
		}
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return ended, err
		}
		if t.awaited() != "" {
			continue // it is the server that is slow
		}
		soon, cancel = context.WithTimeout(ctx, time.Second)
		t.stopLoading(soon)
		cancel()
		if err := free(300 * time.Millisecond); err != nil {
			return ended, err
		}
		under = false
	}
}

const scriptEnded = "an endless script of the page before was ended"

// history goes where it is told, or fails with the address it wanted in to.
func (t *tab) history(ctx context.Context, where string, to *string) (Report, error) {
	m := t.mark()
	if where == "reload" {
		ended, err := t.under(ctx, m, func(ctx context.Context) error {
			return t.call(ctx, t.session, "Page.reload", nil, nil) // a page that hangs keeps even this from being answered
		})
		if err != nil {
			return Report{}, err
		}
		r, err := t.arriveAt(ctx, "", "reload", m)
		r.Did = strings.Replace(r.Did, "Opened", "Reloaded", 1)
		if ended {
			r.Changes = append(r.Changes, scriptEnded)
		}
		return r, err
	}
	var h struct {
		CurrentIndex int
		Entries      []struct {
			ID  int
			URL string
		}
	}
	if err := t.call(ctx, t.session, "Page.getNavigationHistory", nil, &h); err != nil {
		return Report{}, err
	}
	i := h.CurrentIndex - 1
	if where == "forward" {
		i = h.CurrentIndex + 1
	}
	if i < 0 || i >= len(h.Entries) || (where == "back" && h.Entries[i].URL == "about:blank" && i == 0) {
		return Report{}, problem(NotFound, "there is no page to go %s to", where)
	}
	*to = h.Entries[i].URL
	ended, err := t.under(ctx, m, func(ctx context.Context) error {
		return t.call(ctx, t.session, "Page.navigateToHistoryEntry", map[string]any{"entryId": h.Entries[i].ID}, nil)
	})
	if err != nil {
		return Report{}, err
	}
	t.mu.Lock()
	full := t.navs > m.navs
	t.mu.Unlock()
	if full {
		// A page kept in memory comes back without loading events.
		soon, cancel := context.WithTimeout(ctx, 5*time.Second)
		for range 3 {
			if err := t.js(soon, t.root(), "waitSlice", args{"ready": true, "slice": 2000}, nil); err == nil || !errors.Is(err, errNavigated) {
				break
			}
		}
		cancel()
	}
	r, err := t.arriveAt(ctx, "", "", m)
	r.Did = strings.Replace(r.Did, "Opened", "Went "+where+" to", 1)
	if ended {
		r.Changes = append(r.Changes, scriptEnded)
	}
	return r, err
}
