package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// domReady is how long a shown page may take to be readable before the result
// says that it is still loading.
const domReady = 12 * time.Second

// Leave shows an empty page in the current tab, so that nothing of the page
// before can do anything any more. It reports whether that worked; a page may
// ask whether to be left.
func (s *Session) Leave(ctx context.Context) bool {
	r, err := s.Open(ctx, "about:blank", false)
	return err == nil && r.Did == "Opened about:blank"
}

// Open goes to an address in the current tab, or in a new one.
func (s *Session) Open(ctx context.Context, address string, newTab bool) (Report, error) {
	to, err := Address(address)
	if err != nil {
		return Report{}, err
	}
	ctx, start, done, err := s.begin(ctx, NavigateLimit, true)
	if err != nil {
		return Report{}, err
	}
	defer done()
	t, r, err := s.goTo(ctx, start, to, newTab)
	if isGone(err) && s.forget(ctx, t, newTab) {
		// Its process ended while it was being opened. What went with it comes back.
		if t, err = s.page(ctx, anyPage); err == nil {
			if t, r, err = s.goTo(ctx, t, to, newTab); isGone(err) {
				s.forget(ctx, t, newTab)
			}
		}
	}
	return r, s.explainNav(ctx, t, to, err)
}

// goTo shows an address in a tab, or in a new one beside it.
func (s *Session) goTo(ctx context.Context, t *tab, to string, newTab bool) (*tab, Report, error) {
	if newTab {
		t.mu.Lock()
		empty := t.url == "about:blank" && t.navs == 0
		t.mu.Unlock()
		if !empty {
			fresh, err := s.open(ctx, "")
			if err != nil {
				return t, Report{}, err
			}
			t = fresh
		}
	}
	r, err := t.navigate(ctx, to)
	if errors.Is(err, errStuck) {
		if t, r, err = s.instead(ctx, t, to); err == nil {
			r.Changes = append(r.Changes, "the page before did not answer any more, so its tab was closed")
		}
	}
	if newTab && err == nil {
		r.Did += " in new tab " + t.id
	}
	return t, r, err
}

// forget waits until a tab is known to have ended, and sees to it that a new
// one, which showed nothing yet, is not brought back. It is false when the call
// is over.
func (s *Session) forget(ctx context.Context, t *tab, fresh bool) bool {
	select {
	case <-t.gone:
	case <-ctx.Done():
		return false
	}
	if t.mu.Lock(); t.navs > 0 {
		fresh = false
	}
	t.mu.Unlock()
	if fresh {
		s.mu.Lock()
		s.lost = slices.DeleteFunc(s.lost, func(l lostTab) bool { return l.id == t.id })
		s.mu.Unlock()
	}
	return true
}

func (s *Session) explainNav(ctx context.Context, t *tab, to string, err error) error {
	if err == nil {
		return nil
	}
	if t != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) { // without a tab there was no page to go anywhere
		if t.awaited() != "" { // later it would leave half a document
			soon, cancel := context.WithTimeout(s.life, time.Second)
			t.stopLoading(soon)
			cancel()
		}
		if errors.Is(context.Cause(ctx), errLimit) {
			t.unblock(s.life, 300*time.Millisecond)
			return problem(Timeout, "%s did not answer within %d seconds", to, int(s.within(NavigateLimit).Seconds()))
		}
	}
	return s.explain(ctx, t, err)
}

var (
	schemed   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	hostPort  = regexp.MustCompile(`^[\w.-]+:\d+(/|$)`)
	localHost = regexp.MustCompile(`^(localhost|127\.|\[::1\]|0\.0\.0\.0|192\.168\.|10\.)`)
)

// Address completes what a person would type into a full URL.
func Address(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", problem(InvalidRequest, "the url is empty")
	}
	if !schemed.MatchString(s) || hostPort.MatchString(s) {
		if localHost.MatchString(s) {
			s = "http://" + s
		} else {
			s = "https://" + strings.TrimPrefix(s, "//")
		}
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", problem(InvalidRequest, "%q is no address: %v", short(s, 100), err)
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "file":
	case "about", "data", "blob":
	default:
		return "", problem(InvalidRequest, "addresses that begin with %s: are not opened; give an http or https address", u.Scheme)
	}
	if (u.Scheme == "http" || u.Scheme == "https") && u.Host == "" {
		return "", problem(InvalidRequest, "%q names no host", short(s, 100))
	}
	return u.String(), nil
}

// navigate goes to a URL and waits until the page can be read.
func (t *tab) navigate(ctx context.Context, to string) (Report, error) {
	m := t.mark()
	t.mu.Lock()
	session := t.session
	t.mu.Unlock()
	var got struct {
		LoaderID, ErrorText string
		IsDownload          bool
	}
	err := t.call(ctx, session, "Page.navigate", map[string]any{"url": to}, &got)
	to = plainURL(to)
	r := Report{URL: to}
	if errors.Is(err, errDialog) {
		t.mu.Lock()
		defer t.mu.Unlock()
		r.Did = "Began to open " + to
		if t.dialog != nil {
			r.Changes = []string{"dialog: " + t.dialog.String() + "; answer it with browser_dialog"}
		}
		return r, nil
	}
	if err != nil {
		return r, err
	}
	t.mu.Lock()
	status := t.status[got.LoaderID].status
	t.mu.Unlock()
	switch {
	case got.ErrorText == "":
	case got.ErrorText == "net::ERR_INVALID_AUTH_CREDENTIALS" || status == 401:
		r.Outcome = "HTTP 401"
		r.Did, r.Changes = "Opened "+to+" HTTP 401", []string{askedForName}
		return r, nil
	case status == 204 || status == 205:
		r.Outcome = fmt.Sprintf("HTTP %d", status)
		r.Did, r.Changes = "Asked for "+to+" "+r.Outcome, []string{"the answer has nothing to show; the page before stays"}
		return r, nil
	case got.ErrorText == "net::ERR_HTTP_RESPONSE_CODE_FAILURE": // an error status without a page
		r.Outcome = fmt.Sprintf("HTTP %d", status)
		r.Did, r.Changes = "Opened "+to+" "+r.Outcome, []string{"the answer has no content"}
		return r, nil
	}
	if got.IsDownload || got.ErrorText == "net::ERR_ABORTED" {
		// The download is announced on its own, often a little after the answer.
		soon, cancel := context.WithTimeout(ctx, time.Second)
		_ = t.until(soon, func() bool { return len(t.r.since(m.downloads, t.s)) > 0 })
		cancel()
		if d := t.r.since(m.downloads, t.s); len(d) > 0 {
			r.Did = "Opened " + to + ", which is a download"
			for _, x := range d {
				r.Changes = append(r.Changes, "download "+x.String())
			}
			r.Outcome = "download"
			return r, nil
		}
	}
	if got.ErrorText != "" {
		t.mu.Lock()
		at := t.net.last(got.LoaderID, to)
		t.mu.Unlock()
		return r, t.s.b.o.unreachable(to, at, got.ErrorText)
	}
	return t.arriveAt(ctx, to, got.LoaderID, m)
}

// arriveAt waits for the document of a loader and describes it; an empty
// loader is a move within the document.
func (t *tab) arriveAt(ctx context.Context, to, loader string, m mark) (Report, error) {
	r := Report{URL: to}
	loading, dialog := false, false
	if loader != "" {
		if to != "" && !t.makeWay(ctx, loader, m) {
			return r, errStuck
		}
		soon, cancel := context.WithTimeout(ctx, t.s.within(domReady))
		err := t.until(soon, func() bool { return t.navs > m.navs && t.interact == t.loader })
		cancel()
		switch {
		case errors.Is(err, errDialog):
			dialog = true
		case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			if loading = true; to != "" && !t.shown(loader, m) {
				return r, problem(Timeout, "%s was not shown within %d seconds", to, int(t.s.within(domReady).Seconds()))
			}
		case err != nil:
			return r, err
		default:
			loading = !t.calm(ctx, mark{navs: m.navs + 1}, t.s.within(requestLimit))
			t.follow(ctx, m)
			t.frameLoads(ctx)
		}
	}
	if !dialog {
		t.refreshTitle(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.status[t.loader]
	r.URL = t.url
	r.Did = "Opened " + t.url
	if d.status != 0 {
		r.Did += fmt.Sprintf(" HTTP %d", d.status)
	}
	if len(d.redirects) > 0 {
		r.Did += fmt.Sprintf(", redirected from %s", short(d.redirects[0], 200))
	}
	if t.title != "" {
		r.Changes = append(r.Changes, fmt.Sprintf("title %q", short(t.title, 120)))
	}
	switch {
	case d.mime == "application/pdf":
		r.Changes = append(r.Changes, "it is a PDF; read it with web_fetch or save it")
	case strings.HasPrefix(d.mime, "image/"), strings.HasPrefix(d.mime, "video/"), strings.HasPrefix(d.mime, "audio/"):
		r.Changes = append(r.Changes, "it is a file of type "+d.mime)
	}
	if t.dialog != nil {
		r.Changes = append(r.Changes, "dialog: "+t.dialog.String()+"; answer it with browser_dialog")
	}
	if d.status == 401 {
		r.Changes = append(r.Changes, askedForName)
	}
	if loading {
		r.Changes = append(r.Changes, "the page is still loading")
	}
	r.Changes = append(r.Changes, t.turnedAway()...)
	switch {
	case d.status >= 400:
		r.Outcome = fmt.Sprintf("HTTP %d", d.status)
	case loading:
		r.Outcome = "still loading"
	default:
		r.Outcome = short(t.title, 60)
	}
	return r, nil
}

// shown reports whether the document of a loader, or one that came after it,
// is there. One that was asked for before may come late.
func (t *tab) shown(loader string, m mark) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shownLocked(loader, m)
}

func (t *tab) shownLocked(loader string, m mark) bool {
	return t.loader == loader || t.navs > m.navs+1
}

// makeWay ends an endless script of the page that is left, for which a document
// of the same site would wait for ever. It is false when that does not help.
func (t *tab) makeWay(ctx context.Context, loader string, m mark) bool {
	waited := func() bool {
		soon, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
		defer cancel()
		err := t.until(soon, func() bool { return t.shownLocked(loader, m) })
		return !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil
	}
	if waited() {
		return true
	}
	stuck, _ := t.unblock(ctx, 300*time.Millisecond)
	return !stuck || waited()
}

// frameLoads lets the frames of a page that is just readable load too, for a
// short while: what is in them belongs to it.
func (t *tab) frameLoads(ctx context.Context) {
	soon, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	_ = t.until(soon, func() bool { return len(t.frames) < 2 || t.loaded == t.loader })
}

// follow lets a page that sends the reader on at once arrive where it goes.
func (t *tab) follow(ctx context.Context, m mark) {
	for range 5 {
		if !t.leaving(t.root()) {
			return
		}
		if t.arrive(ctx, t.root(), m) != nil {
			return
		}
	}
}
