package browser

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// ringSize is how many requests a tab remembers, and how many console lines
// are told.
const ringSize = 200

// netLog is the newest requests of the current document, oldest first. The
// events it is made from come anyway, for settling.
type netLog struct {
	list []*netEntry
	open map[string]*netEntry // by request id, those under way
	lost int                  // older ones dropped
}

type netEntry struct {
	loader, kind, method, url string
	status                    int
	note, err                 string
	began, took               float64 // seconds
	size                      int64
	done                      bool
}

func (n *netLog) begin(id, loader, kind, method, url string, at float64) {
	if strings.HasPrefix(url, "data:") {
		return
	}
	e := &netEntry{loader: loader, kind: strings.ToLower(kind), method: method, url: short(url, 500), began: at}
	if n.open == nil {
		n.open = map[string]*netEntry{}
	}
	if len(n.list) >= ringSize {
		n.list = append(n.list[:0], n.list[len(n.list)-ringSize+1:]...)
		n.lost++
	}
	if len(n.open) > 4*ringSize { // such as requests of frames that went away
		clear(n.open)
	}
	n.list = append(n.list, e)
	n.open[id] = e
}

func (n *netLog) answer(id string, status int, note string) {
	if e := n.open[id]; e != nil {
		e.status, e.note = status, note
	}
}

func (n *netLog) end(id string, at float64, size int64, err string) {
	e := n.open[id]
	if e == nil {
		return
	}
	delete(n.open, id)
	if err == "canceled" && e.status > 0 {
		err = "" // it was answered
	}
	e.done, e.size, e.err = true, size, err
	if at > 0 && e.began > 0 {
		e.took = at - e.began
	}
}

// came ends the requests for the script of a worker, whose end is told to nobody
// but the worker.
func (n *netLog) came(url string, reqs map[string]request) {
	for id, e := range n.open {
		if e.kind == "script" && e.url == short(url, 500) {
			delete(reqs, id)
			n.end(id, 0, 0, "")
		}
	}
}

// last is the address a document was asked for last, behind its redirects.
func (n *netLog) last(loader, first string) string {
	for _, e := range slices.Backward(n.list) {
		if e.loader == loader && e.kind == "document" {
			return e.url
		}
	}
	return first
}

// failed ends a request that got no answer; the lock is held. What a rule of ours refused is told as such, and its host is kept for the report.
func (t *tab) failed(id string, at float64, why string) {
	if e := t.net.open[id]; e != nil {
		o := t.s.b.o
		if words := o.refused(e.url, why); words != "" {
			why = "refused by Gofer"
			if host := hostOf(e.url); !slices.Contains(t.refused, host) {
				if t.refused = append(t.refused, host); t.refusedWhy == "" {
					t.refusedWhy = words
				}
			}
		} else {
			why = o.behind(e.url, why)
		}
	}
	t.net.end(id, at, 0, why)
}

// keep drops what belongs to earlier documents.
func (n *netLog) keep(loader string) {
	list := n.list
	n.list, n.lost = nil, 0
	for _, e := range list {
		if e.loader == loader {
			n.list = append(n.list, e)
		}
	}
}

func (e *netEntry) failed() bool { return e.status >= 400 || e.err != "" }

// line is `GET 200 fetch /api/items 12 KB 35 ms`; addresses of the page's own
// origin are told without it.
func (e *netEntry) line(origin string) string {
	state := "pending"
	switch {
	case e.err != "":
		state = "failed " + e.err
		if e.status > 0 {
			state = fmt.Sprintf("%d %s", e.status, state)
		}
	case e.status > 0:
		state = fmt.Sprint(e.status)
	case e.done:
		state = "done"
	}
	if e.note != "" {
		state += " " + e.note
	}
	s := e.method + " " + state + " " + e.kind + " "
	path := strings.TrimPrefix(e.url, origin)
	if origin == "" || !strings.HasPrefix(path, "/") {
		path = e.url
	}
	s += oneLine(path, 200)
	if e.size > 0 {
		s += " " + Size(e.size)
	}
	if e.took > 0 {
		s += fmt.Sprintf(" %.0f ms", e.took*1000)
	}
	return s
}

// Network lists the requests of the current page since it was loaded, the
// newest last. With failed only those without a good answer.
func (s *Session) Network(ctx context.Context, filter string, failed bool, limit int) (View, error) {
	_, t, done, err := s.beginOn(ctx, s.within(DefaultLimit), present)
	if err != nil {
		return View{}, err
	}
	defer done()
	t.mu.Lock()
	defer t.mu.Unlock()
	origin := originOf(t.url)
	var lines []string
	for _, e := range t.net.list {
		if failed && !e.failed() {
			continue
		}
		if l := e.line(origin); filter == "" || contains(l, filter) || contains(e.url, filter) {
			lines = append(lines, l)
		}
	}
	return View{URL: t.url, Title: t.title, Text: newest(lines, t.net.lost, limit)}, nil
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func contains(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// newest joins the last lines that fit limit and budget, and says how many
// older ones there are.
func newest(lines []string, older, limit int) string {
	if limit <= 0 {
		limit = 50
	}
	from, size := len(lines), 0
	for from > 0 && len(lines)-from < limit && size+len(lines[from-1]) <= DefaultBudget {
		from--
		size += len(lines[from]) + 1
	}
	out := strings.Join(lines[from:], "\n")
	if n := from + older; n > 0 && out != "" {
		out = fmt.Sprintf("… %d older\n%s", n, out)
	}
	return out
}
