package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Download is a file the browser saved or saves.
type Download struct {
	Name  string
	URL   string
	Path  string // set when it is complete
	State string // inProgress, completed, canceled
	Bytes int64
	Total int64
	guid  string
	tab   *tab
}

// String says name, size and state.
func (d Download) String() string {
	switch d.State {
	case "completed":
		return fmt.Sprintf("%s %s saved as %s", d.Name, Size(d.Bytes), d.Path)
	case "canceled":
		return d.Name + " was cancelled or failed"
	}
	return d.Name + " is under way"
}

// Size writes a number of bytes for people.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// download files what the browser tells. It runs in the reader.
func (r *running) download(method string, raw json.RawMessage) {
	var e struct {
		FrameID, GUID, URL, SuggestedFilename, State, FilePath string
		TotalBytes, ReceivedBytes                              float64
	}
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	r.mu.Lock()
	tabs := make([]*tab, 0, len(r.tabs))
	for _, t := range r.tabs {
		tabs = append(tabs, t)
	}
	r.mu.Unlock()
	begins := method == "Browser.downloadWillBegin"
	var from *tab // found before the download is seen, so that nobody else is told of it
	for _, t := range tabs {
		t.mu.Lock()
		if _, ok := t.frames[e.FrameID]; ok && begins {
			delete(t.navBusy, e.FrameID) // it is no navigation
			from = t
		}
		t.mu.Unlock()
	}
	r.mu.Lock()
	if begins {
		r.downloads[e.GUID] = &Download{Name: fileName(e.SuggestedFilename), URL: e.URL, State: "inProgress", guid: e.GUID, tab: from}
		r.order = append(r.order, e.GUID)
	} else if d := r.downloads[e.GUID]; d != nil {
		d.Bytes, d.Total = int64(e.ReceivedBytes), int64(e.TotalBytes)
		if e.State == "completed" && d.State != "completed" {
			d.Path = keep(r.b.o.Downloads, e.GUID, d.Name)
			d.Name = filepath.Base(d.Path)
		}
		d.State = e.State
	}
	r.mu.Unlock()
	for _, t := range tabs {
		t.mu.Lock()
		t.notify()
		t.mu.Unlock()
	}
}

// keep gives a finished download its name, counting up when it is taken.
func keep(dir, guid, name string) string {
	from := filepath.Join(dir, guid)
	ext := filepath.Ext(name)
	for i := 0; i < 1000; i++ {
		to := filepath.Join(dir, name)
		if i > 0 {
			to = filepath.Join(dir, fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), i, ext))
		}
		f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			continue
		}
		_ = f.Close()
		if os.Rename(from, to) == nil {
			return to
		}
		_ = os.Remove(to)
		break
	}
	return from
}

// fileName makes a safe name from one a site suggests.
func fileName(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < 32 || strings.ContainsRune(`/\:*?"<>|`, c) || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return '_'
		}
		return c
	}, s)
	s = strings.TrimLeft(strings.TrimSpace(s), ".")
	if s == "" {
		return "download"
	}
	return short(s, 150)
}

// begun counts the downloads begun so far.
func (r *running) begun() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.order)
}

// since lists the downloads of a session from the n-th of the browser on. One
// that began in no known frame may be anybody's.
func (r *running) since(n int, s *Session) []Download {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Download
	for _, g := range r.order[min(n, len(r.order)):] {
		if d := r.downloads[g]; d.tab == nil || d.tab.s == s {
			out = append(out, *d)
		}
	}
	return out
}

// Downloads lists what the session's pages have downloaded, newest last. With
// wait it waits until none is under way.
func (s *Session) Downloads(ctx context.Context, wait bool) ([]Download, error) {
	ctx, t, done, err := s.begin(ctx, NavigateLimit, false)
	if err != nil {
		return nil, err
	}
	defer done()
	list := func() []Download { return t.r.since(0, s) }
	if wait {
		err = t.until(ctx, func() bool {
			for _, d := range list() {
				if d.State == "inProgress" {
					return false
				}
			}
			return true
		})
	}
	return list(), s.explain(ctx, t, err)
}
