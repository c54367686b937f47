package browser_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/browser"
)

// TestRandomActionsAreToldAsTheyWere plays random actions on tricky pages that
// keep a log of the real events they get. What is told as done must be in the
// log, on that element; what is refused must not be. GOFER_FUZZ sets the number
// of actions, GOFER_FUZZ_SEED replays the episode of a failure.
func TestRandomActionsAreToldAsTheyWere(t *testing.T) {
	actions := int64(200)
	if n, err := strconv.ParseInt(os.Getenv("GOFER_FUZZ"), 10, 64); err == nil {
		actions = n
	}
	pages := witnessed(t)
	b := browser.New(browser.Options{Profile: filepath.Join(t.TempDir(), "profile"), Headless: true})
	t.Cleanup(func() { _ = b.Close() })
	total := &tally{kinds: map[string]*[3]int{}}
	if seed, err := strconv.ParseUint(os.Getenv("GOFER_FUZZ_SEED"), 10, 64); err == nil {
		play(t, b, pages, seed, total)
		t.Log(total)
		return
	}
	first := uint64(1) // the short form plays the same episodes each time; the long one looks for new ones
	if actions >= 1000 {
		first = uint64(time.Now().UnixNano()) % 1e9
	}
	t.Logf("seeds from %d", first)
	var next, failures atomic.Uint64
	var two sync.WaitGroup
	for range 2 { // lanes beside each other in one browser
		two.Go(func() {
			for failures.Load() < 5 && total.all.Load() < actions {
				seed := first + next.Add(1)
				if actions < 1000 && strings.Contains(pageOf(pages, seed), "/loop-") {
					continue // each press there costs a whole time limit
				}
				if !play(t, b, pages, seed, total) {
					failures.Add(1)
				}
			}
		})
	}
	two.Wait()
	t.Log(total)
	least := int64(60)
	if actions < 1000 {
		least = 45 // of a few, chance takes more
	}
	if legal := total.legal.Load() * 100 / max(total.all.Load(), 1); legal < least {
		t.Errorf("%d %% of the actions were legal; at least %d are wanted", legal, least)
	}
}

// tally counts actions: done, refused, and those whose page could not be asked.
type tally struct {
	all, legal atomic.Int64
	mu         sync.Mutex
	kinds      map[string]*[3]int
}

func (c *tally) count(kind string, i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds[kind] == nil {
		c.kinds[kind] = new([3]int)
	}
	c.kinds[kind][i]++
}

// String is one line for the log.
func (c *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d actions, %d %% legal; done/refused/not to be checked:", c.all.Load(), c.legal.Load()*100/max(c.all.Load(), 1))
	for _, k := range slices.Sorted(maps.Keys(c.kinds)) {
		fmt.Fprintf(&b, " %s %d/%d/%d", k, c.kinds[k][0], c.kinds[k][1], c.kinds[k][2])
	}
	return b.String()
}

// player is one episode: a page, a session and a seed.
type player struct {
	t     *testing.T
	s     *browser.Session
	w     witness
	rng   *rand.Rand
	page  string
	total *tally
	steps []string
	stale []string // refs of documents that are gone
	last  []line
	lies  []string
}

// act is one random action and what makes its report a lie.
type act struct {
	kind   string
	legal  bool
	refuse bool // must not succeed
	parts  bool // made of several inputs, so a refusal may come after some
	what   string
	do     func(context.Context) (browser.Report, error)
	lie    func(r browser.Report, events []seenEvent) string
}

func pageOf(pages []string, seed uint64) string { return pages[seed%uint64(len(pages))] }

// play runs the episode of a seed; it is false when something was told wrongly.
func play(t *testing.T, b *browser.Browser, pages []string, seed uint64, total *tally) bool {
	t.Helper()
	p := &player{t: t, s: b.Session(fmt.Sprintf("fuzz-%d", seed)), rng: rand.New(rand.NewPCG(seed, 0)), page: pageOf(pages, seed), total: total}
	defer p.s.Close()
	p.w.s, p.w.answer = p.s, p.answer
	n := 25
	if p.loops() {
		n = 3 // each costs a whole time limit
	}
	if !p.open(p.page) {
		return p.verdict(seed)
	}
	for i := 0; i < n && len(p.lies) == 0 && p.step(); i++ {
	}
	return p.verdict(seed)
}

func (p *player) loops() bool { return strings.Contains(p.page, "/loop-") }

func (p *player) verdict(seed uint64) bool {
	p.t.Helper()
	if len(p.lies) == 0 {
		return true
	}
	p.t.Errorf("%s\nreplay: GOFER_FUZZ_SEED=%d, page %s\n%s", strings.Join(p.lies, "\n"), seed, p.page, strings.Join(p.steps, "\n"))
	return false
}

func (p *player) lied(format string, args ...any) {
	p.lies = append(p.lies, "LIE: "+fmt.Sprintf(format, args...))
}

func (p *player) open(url string) bool {
	_, err := p.s.Open(context.Background(), url, false)
	if err != nil {
		p.lied("open %s: %v", url, err)
	}
	return err == nil && p.answer() != nil
}

// answer closes dialogs until none is open and says what the page was told.
// It is nil when that does not end.
func (p *player) answer() []string {
	told := []string{}
	for range 6 {
		_, err := p.s.Snapshot(context.Background(), browser.Query{})
		if codeOf(err) != browser.DialogOpen {
			return told
		}
		accept := p.rng.IntN(2) == 0
		r, err := p.s.Dialog(context.Background(), accept, "")
		p.steps = append(p.steps, fmt.Sprintf("  dialog accept=%v: %s %v", accept, r.Did, err))
		if err != nil && codeOf(err) != browser.DialogOpen && codeOf(err) != browser.NotFound {
			p.lied("answer a dialog: %v", err)
			return nil
		}
		told = append(told, fmt.Sprint(accept))
	}
	p.lied("dialogs do not end")
	return nil
}

func codeOf(err error) browser.Code {
	var b *browser.Problem
	if errors.As(err, &b) {
		return b.Code
	}
	return ""
}

func (p *player) current() string {
	for _, t := range p.s.Tabs(context.Background()) {
		if t.Current {
			return t.ID
		}
	}
	return ""
}

// step plays one action; it is false when the episode is over.
func (p *player) step() bool {
	views := []string{"auto", "auto", "controls", "full"}
	v, err := p.s.Snapshot(context.Background(), browser.Query{View: views[p.rng.IntN(len(views))]})
	if codeOf(err) == browser.DialogOpen {
		return p.answer() != nil // one that a timer of the page opened meanwhile
	}
	if err != nil {
		p.lied("snapshot: %v", err)
		return false
	}
	lines := linesOf(v.Text)
	for _, l := range p.last {
		if !slices.ContainsFunc(lines, func(x line) bool { return x.ref == l.ref }) && len(p.stale) < 40 {
			p.stale = append(p.stale, l.ref)
		}
	}
	p.last = lines
	p.w.learn(lines)
	a := p.choose(lines)
	if a == nil {
		return true
	}
	tab := p.current()
	before, err := p.w.place()
	if err != nil {
		p.lied("the page does not say where it is: %v", err)
		return false
	}
	was := p.w.face()
	p.w.take()
	began := time.Now()
	r, err := a.do(context.Background())
	took := time.Since(began)
	p.total.all.Add(1)
	if a.legal {
		p.total.legal.Add(1)
	}
	p.steps = append(p.steps, fmt.Sprintf("%s %s: %s %q %v (%d ms)", a.kind, a.what, r.Did, r.Changes, err, took.Milliseconds()))
	return p.judge(a, r, err, took, tab, before, was)
}

// judge compares what was told with what the page saw.
func (p *player) judge(a *act, r browser.Report, err error, took time.Duration, tab string, before place, was face) bool {
	code := codeOf(err)
	switch {
	case took > 15*time.Second:
		p.lied("%s hung for %v", a.kind, took)
		return false
	case err != nil && code == "":
		p.lied("%s failed with an error nobody can act on: %v", a.kind, err)
		return false
	case code == browser.Timeout && p.loops():
		p.total.count(a.kind, 2)
		return false // a script without end; nobody knows
	case code == browser.Timeout || code == browser.Gone:
		p.lied("%s: %v", a.kind, err)
		return false
	}
	if p.answer() == nil {
		return false
	}
	if now := p.current(); now != tab {
		if _, err := p.s.SelectTab(context.Background(), tab); err != nil {
			p.total.count(a.kind, 2)
			return true // the tab closed itself
		}
		defer p.leave(now)
	}
	if p.answer() == nil {
		return false
	}
	after, perr := p.w.place()
	if perr != nil || originOf(after.URL) != originOf(before.URL) {
		p.total.count(a.kind, 2)
		return false
	}
	events := p.w.take()
	switch {
	case err != nil:
		p.total.count(a.kind, 1)
		if x := deeds(events, "mousedown", "click", "auxclick", "keydown", "input", "drop"); len(x) > 0 && !a.parts && code != browser.DialogOpen {
			p.lied("%s was refused (%v), but the page got %+v", a.kind, err, x)
		}
	case a.refuse:
		p.lied("%s was told as done, but cannot be", a.kind)
	default:
		p.total.count(a.kind, 0)
		if a.lie != nil {
			if lie := a.lie(r, events); lie != "" {
				p.lied("%s: %s\nevents: %+v", a.kind, lie, events)
			}
		}
		if now := p.w.face(); slices.Equal(r.Changes, []string{"no visible change"}) && now.Text != was.Text && after.URL == before.URL && r.Outcome != "" &&
			now.Text != "" && byAct(now.At, events) {
			p.lied("%s: no visible change was told, but the page read\n%s\nand reads\n%s", a.kind, was.Text, now.Text)
		}
	}
	return true
}

// byAct says whether a change fell into the time in which an action may do
// something. What a timer of the page did before its first event is not its own.
func byAct(at float64, events []seenEvent) bool {
	return len(events) > 0 && at >= events[0].At && at-lastInput(events) < 30
}

// lastInput is the time of the last event that an input made: the browser makes
// mouse moves of its own when the page moves under the mouse.
func lastInput(events []seenEvent) float64 {
	var at float64
	for i, e := range events {
		if i == 0 || e.Kind != "mousemove" && e.Kind != "mouseover" {
			at = e.At
		}
	}
	return at
}

// leave closes a tab that an action opened.
func (p *player) leave(id string) {
	if id == "" {
		return
	}
	if _, _, err := p.s.CloseTab(context.Background(), id); err != nil && codeOf(err) != browser.NoTab {
		p.lied("close tab %s: %v", id, err)
	}
}

func originOf(url string) string {
	parts := strings.SplitN(url, "/", 4)
	return strings.Join(parts[:min(3, len(parts))], "/")
}
