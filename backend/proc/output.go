package proc

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// headTail keeps the first and the last bytes of a stream and counts the rest.
type headTail struct {
	mu    sync.Mutex
	cap   int
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	total int64
	live  *live
}

// Write never fails and never blocks for long, so a flooding child runs at
// full speed.
func (h *headTail) Write(p []byte) (int, error) {
	h.mu.Lock()
	n := len(p)
	h.total += int64(n)
	rest := p
	if room := h.cap/2 - len(h.head); room > 0 {
		take := min(room, len(rest))
		h.head = append(h.head, rest[:take]...)
		rest = rest[take:]
	}
	size := h.cap - h.cap/2
	if len(rest) > size {
		rest = rest[len(rest)-size:]
	}
	if room := size - len(h.tail); room > 0 {
		take := min(room, len(rest))
		h.tail = append(h.tail, rest[:take]...)
		rest = rest[take:]
	}
	for len(rest) > 0 {
		k := copy(h.tail[h.next:], rest)
		h.next = (h.next + k) % size
		rest = rest[k:]
	}
	h.mu.Unlock()
	h.live.add(p)
	return n, nil
}

// dropped is how many bytes were left out.
func (h *headTail) dropped() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total - int64(len(h.head)) - int64(len(h.tail))
}

// text is what was kept, as valid UTF-8, with a line that says what is missing.
func (h *headTail) text() string {
	gone := h.dropped()
	h.mu.Lock()
	defer h.mu.Unlock()
	tail := string(h.tail[h.next:]) + string(h.tail[:h.next])
	if gone <= 0 {
		return strings.ToValidUTF8(string(h.head)+tail, "\uFFFD")
	}
	head := cutEnd(string(h.head))
	for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	whole := fmt.Sprintf("%s\n[... truncated: %d bytes left out ...]\n%s", head, gone, tail)
	return strings.ToValidUTF8(whole, "\uFFFD")
}

// cutEnd drops an incomplete rune at the end.
func cutEnd(s string) string {
	for i := 1; i <= utf8.UTFMax && i <= len(s); i++ {
		if b := s[len(s)-i]; utf8.RuneStart(b) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

const (
	liveEvery = 50 * time.Millisecond
	liveCap   = 4 << 10
)

// live hands output on while the command runs, at most liveCap bytes each
// liveEvery; of a flood only the newest part is shown.
type live struct {
	mu      sync.Mutex
	report  func(string)
	pending []byte
	skipped bool
}

func newLive(report func(string)) *live {
	if report == nil {
		return nil
	}
	return &live{report: report}
}

func (l *live) add(p []byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(p) > liveCap {
		p, l.skipped, l.pending = p[len(p)-liveCap:], true, l.pending[:0]
	}
	l.pending = append(l.pending, p...)
	if over := len(l.pending) - liveCap; over > 0 {
		l.pending, l.skipped = append(l.pending[:0], l.pending[over:]...), true
	}
}

func (l *live) flush(last bool) {
	l.mu.Lock()
	text := string(l.pending)
	if !last {
		text = cutEnd(text)
	}
	l.pending = append(l.pending[:0], l.pending[len(text):]...)
	if l.skipped && text != "" {
		text, l.skipped = "\n[...]\n"+text, false
	}
	l.mu.Unlock()
	if text != "" {
		l.report(strings.ToValidUTF8(text, "\uFFFD"))
	}
}

// start begins to report; the function it returns reports the rest and waits
// until nothing more will be said.
func (l *live) start() func() {
	if l == nil {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(liveEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				l.flush(false)
			case <-end:
				l.flush(true)
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}
