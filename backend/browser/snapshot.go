package browser

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Budgets of text, in bytes.
const (
	DefaultBudget = 5900 // 6 KB with the mark around it
	MaxBudget     = 64000
)

// Query says what a snapshot should show.
type Query struct {
	Ref    string // only what is in this element
	After  string // go on behind this place
	View   string // auto, controls, text, full, or changes since the last snapshot
	Depth  int    // levels of nesting; 0 is all
	Budget int    // bytes; 0 is DefaultBudget
}

// View is text of a page.
type View struct {
	URL, Title string
	Text       string
}

// Snapshot reads the page as lines with refs.
func (s *Session) Snapshot(ctx context.Context, q Query) (View, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return View{}, err
	}
	defer done()
	v, err := t.look(ctx, q)
	return v, s.explain(ctx, t, err)
}

type walked struct {
	Text         string
	Title, URL   string
	Above, Below int
	Modal        bool
	Suspects     int    // elements that may hold a closed shadow root
	Elements     int    // of the document
	Age          int    // of the document, in milliseconds
	Picked       string // quoted text that is selected
}

func (t *tab) snapshot(ctx context.Context, q Query) (View, error) {
	if q.Budget <= 0 {
		q.Budget = DefaultBudget
	}
	q.Budget = min(max(q.Budget, 400), MaxBudget)
	f, a := t.root(), args{"view": q.View, "budget": q.Budget, "depth": q.Depth}
	for _, at := range []struct{ key, ref string }{{"ref", q.Ref}, {"after", q.After}} {
		if at.ref == "" {
			continue
		}
		var id int
		var err error
		if f, id, err = t.locate(at.ref); err != nil {
			return View{}, err
		}
		a[at.key] = id
	}
	t.number(ctx)
	var now sight
	if q.View == "visual" {
		var err error
		if now, err = t.sight(ctx); err != nil {
			return View{}, err
		}
		a["pixel"], _ = t.pixels(ctx, f, now)
	}
	var main walked
	var parts map[int]string
	for try := 0; ; try++ {
		ch, sent, err := t.jsSend(ctx, f, "snapshot", a)
		if err == nil {
			if parts == nil {
				parts = t.frameTexts(ctx, f, q, now)
			}
			err = t.jsWait(ctx, sent, ch, &main)
		}
		if (errors.Is(err, errNoWorld) || errors.Is(err, errNavigated)) && try < 3 {
			parts = nil
			f = t.root()
			continue
		}
		if err != nil {
			return View{}, err
		}
		if main.Suspects > 0 && try < 4 && t.openRoots(ctx, f) > 0 {
			continue
		}
		if try < 4 && t.hear(ctx, f, main.Elements, main.Age) {
			continue
		}
		if extra := framesIn(main.Text, parts); extra > 0 && len(main.Text)+extra > q.Budget*5/4 && try < 4 && a["budget"] == q.Budget {
			a["budget"] = max(q.Budget-extra, q.Budget/3)
			continue
		}
		break
	}
	text := stitch(main.Text, parts, 0)
	if f == t.root() {
		t.called(main.Title)
	}
	head := "page"
	if main.Title != "" {
		head += fmt.Sprintf(" %q", short(main.Title, 100))
	}
	if main.Above > 40 || main.Below > 40 {
		head += fmt.Sprintf(" (%d px above, %d px below)", main.Above, main.Below)
	}
	if main.Picked != "" {
		head += ", selected text " + main.Picked
	}
	if text == "" {
		text = "(nothing to see)"
	}
	t.mu.Lock()
	url := t.url
	if t.interact != t.loader && t.loader != "" && q.Ref == "" {
		head += " still loading"
	}
	t.mu.Unlock()
	return View{URL: url, Title: main.Title, Text: head + "\n" + text}, nil
}

// frameTexts walks all frames below f, all at once, each with a time of its own.
func (t *tab) frameTexts(ctx context.Context, f *frame, q Query, now sight) map[int]string {
	t.mu.Lock()
	var below []*frame
	for _, k := range t.frames {
		if k != f && k.no > 0 && k.session != "" {
			below = append(below, k)
		}
	}
	t.mu.Unlock()
	parts := map[int]string{}
	if len(below) == 0 {
		return parts
	}
	ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer cancel()
	budget := max(q.Budget/(1+min(len(below), 5)), 600)
	type job struct {
		sent sentFrame
		a    args
		ch   <-chan answer
	}
	var jobs []job
	for _, k := range below {
		a := args{"view": q.View, "budget": budget}
		if q.View == "visual" {
			a["pixel"], _ = t.pixels(ctx, k, now)
		}
		if ch, sent, err := t.jsSend(ctx, k, "snapshot", a); err == nil {
			jobs = append(jobs, job{sent, a, ch})
		}
	}
	for _, j := range jobs {
		var w walked
		err := t.jsWait(ctx, j.sent, j.ch, &w)
		for range 3 {
			if err != nil || (w.Suspects == 0 || t.openRoots(ctx, j.sent.f) == 0) && !t.hear(ctx, j.sent.f, w.Elements, w.Age) {
				break
			}
			w = walked{}
			err = t.js(ctx, j.sent.f, "snapshot", j.a, &w)
		}
		switch {
		case err == nil:
			parts[j.sent.f.no] = w.Text
		case errors.Is(err, errNoWorld):
			if t.js(ctx, j.sent.f, "snapshot", j.a, &w) == nil {
				parts[j.sent.f.no] = w.Text
			}
		case ctx.Err() != nil:
			parts[j.sent.f.no] = "… this frame does not answer"
		}
	}
	return parts
}

const frameMark = "\x01frame "

func framesIn(text string, parts map[int]string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if _, no, ok := strings.Cut(line, frameMark); ok {
			i, _ := strconv.Atoi(no)
			n += len(parts[i])
		}
	}
	return n
}

// stitch puts the text of each frame where its element is.
func stitch(text string, parts map[int]string, depth int) string {
	if !strings.Contains(text, frameMark) {
		return text
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		indent, no, ok := strings.Cut(line, frameMark)
		if !ok {
			b.WriteString(line)
			b.WriteByte('\n')
			continue
		}
		i, _ := strconv.Atoi(no)
		if parts[i] == "" || depth > 8 {
			continue
		}
		for inner := range strings.SplitSeq(stitch(parts[i], parts, depth+1), "\n") {
			b.WriteString(indent)
			b.WriteString(inner)
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Find lists what matches a text or a regular expression, without a whole snapshot.
func (s *Session) Find(ctx context.Context, text, regex, role string, limit int) (View, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return View{}, err
	}
	defer done()
	if limit <= 0 {
		limit = 20
	}
	var lines []string
	for _, f := range t.allFrames() {
		var got struct{ Text string }
		soon, cancel := context.WithTimeout(ctx, 3*time.Second)
		err := t.js(soon, f, "find", args{"text": text, "regex": regex, "role": role, "limit": limit}, &got)
		cancel()
		if err != nil && f.no == 0 {
			return View{}, s.explain(ctx, t, err)
		}
		if got.Text != "" {
			lines = append(lines, got.Text)
		}
	}
	url, title, _ := s.Page()
	if len(lines) == 0 {
		return View{}, problem(NotFound, "nothing on the page matches")
	}
	return View{URL: url, Title: title, Text: strings.Join(lines, "\n")}, nil
}

// allFrames lists the frames that can be asked, the main one first.
func (t *tab) allFrames() []*frame {
	root := t.root()
	out := []*frame{root}
	t.mu.Lock()
	defer t.mu.Unlock()
	for no := 1; no <= t.numbers; no++ {
		for _, f := range t.frames {
			if f.no == no && f.session != "" {
				out = append(out, f)
			}
		}
	}
	return out
}
