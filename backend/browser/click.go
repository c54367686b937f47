package browser

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Target names what an action is for: a ref, or a text that is on it.
type Target struct {
	Ref  string
	Text string
}

// Click says how to press.
type Click struct {
	Target
	Button    string   // left, right or middle
	Count     int      // 2 is a double click
	Modifiers []string // Control, Shift, Alt, Meta
}

type aimed struct {
	X, Y            float64
	Ref, Role, Name string
	File            bool
}

func (a aimed) String() string { return named(a.Role, a.Name, a.Ref) }

func named(role, name, ref string) string {
	s := role
	if name != "" {
		s += fmt.Sprintf(" %q", name)
	}
	return s + " " + ref
}

// Click presses an element with the mouse.
func (s *Session) Click(ctx context.Context, c Click) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.click(ctx, c)
	err = s.outcome(ctx, t, &r, err)
	return r, t.remember(c.Target, err)
}

// failure counts how often a target failed on a page that looked like that.
type failure struct {
	page  string
	times int
}

// remember counts failures of a target. The third one on a page that has not
// changed meanwhile, by us or by itself, is told as a repeated one.
func (t *tab) remember(on Target, err error) error {
	var p *Problem
	if !errors.As(err, &p) {
		return err
	}
	switch p.Code {
	case Covered, NotInteractable, Stale, Detached, NotFound:
	default:
		return err
	}
	page := t.looks()
	t.mu.Lock()
	defer t.mu.Unlock()
	key := on.Ref + "\x00" + on.Text
	f := t.failures[key]
	if f.page != page {
		f = failure{page: page}
	}
	f.times++
	t.failures[key] = f
	if f.times >= 3 {
		return problem(Repeated, "%s (the same target failed %d times on an unchanged page)", p.Message, f.times)
	}
	return err
}

// looks is a short sign of all that the page shows now; it differs when
// anything changed.
func (t *tab) looks() string {
	ctx, cancel := context.WithTimeout(t.s.life, 500*time.Millisecond)
	defer cancel()
	var all strings.Builder
	for _, f := range t.allFrames() {
		var got struct{ Sign string }
		if t.js(ctx, f, "sign", nil, &got) != nil {
			return "" // alike as far as anybody can tell
		}
		all.WriteString(got.Sign + " ")
	}
	return all.String()
}

// seek finds the frame and the arguments that name a target.
func (t *tab) seek(ctx context.Context, on Target) (*frame, args, error) {
	if on.Ref != "" {
		f, id, err := t.locate(on.Ref)
		return f, args{"ref": id}, err
	}
	if strings.TrimSpace(on.Text) == "" {
		return nil, nil, problem(InvalidRequest, "give a ref or a text")
	}
	// A text is looked for in the main frame first, then in the others.
	root := t.root()
	for _, f := range t.allFrames() {
		var got struct{ N int }
		err := t.js(ctx, f, "count", args{"text": on.Text}, &got)
		if err != nil && f == root {
			return nil, nil, err
		}
		if got.N > 0 {
			return f, args{"text": on.Text}, nil
		}
	}
	return root, args{"text": on.Text}, nil
}

// aim finds where to press, in coordinates of the whole page.
func (t *tab) aim(ctx context.Context, on Target, look bool) (*frame, aimed, error) {
	f, a, err := t.seek(ctx, on)
	if err != nil {
		return nil, aimed{}, err
	}
	if look {
		a["look"] = true
	}
	var at aimed
	still := 3 // looks that find it at rest, since it may have come to rest just now or be about to go
	for began := time.Now(); ; {
		err := t.js(ctx, f, "aim", a, &at)
		if err == nil {
			return f, at, t.lift(ctx, f, &at)
		}
		// What is just going away is waited for, as a person would.
		var p *Problem
		var now struct{ Moving bool }
		if !errors.As(err, &p) || p.Code != Covered || time.Since(began) > movingLimit || t.js(ctx, f, "moving", a, &now) != nil {
			return nil, aimed{}, err
		}
		if !now.Moving {
			still--
		}
		if still == 0 {
			return nil, aimed{}, err
		}
	}
}

// movingLimit bounds the wait for something that moves off a target.
const movingLimit = 2 * time.Second

// lift turns a point of a frame into one of the whole page, climbing the frames.
func (t *tab) lift(ctx context.Context, f *frame, at *aimed) error {
	if f.no > 0 {
		t.number(ctx)
	}
	for g := f; g.no > 0; {
		t.mu.Lock()
		parent := t.frames[g.parent]
		t.mu.Unlock()
		if parent == nil {
			return problem(Detached, "the frame is no longer on the page")
		}
		var up struct{ X, Y float64 }
		if err := t.js(ctx, parent, "lift", args{"frame": g.no, "x": at.X, "y": at.Y}, &up); err != nil {
			return err
		}
		at.X, at.Y = up.X, up.Y
		g = parent
	}
	return nil
}

func (t *tab) click(ctx context.Context, c Click) (Report, error) {
	button := c.Button
	if button == "" {
		button = "left"
	}
	if c.Count <= 0 {
		c.Count = 1
	}
	mods, err := modifiers(c.Modifiers)
	if err != nil {
		return Report{}, err
	}
	f, at, err := t.aim(ctx, c.Target, false)
	if err != nil {
		return Report{}, err
	}
	m := t.mark()
	send := t.r.p.conn.send
	if at.File || at.Role == "button" || at.Role == "clickable" {
		// The renderer takes this out of order with input, so it is waited for.
		if err := t.call(ctx, f.session, "Page.setInterceptFileChooserDialog", map[string]any{"enabled": true}, nil); err != nil {
			return Report{}, err
		}
		defer send(f.session, "Page.setInterceptFileChooserDialog", map[string]any{"enabled": false})
	}
	mouse := func(kind string, count, held int) <-chan answer {
		return send(t.session, "Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": button,
			"buttons": held, "clickCount": count, "modifiers": mods,
		})
	}
	held := heldBits[button]
	verb := "Clicked "
	switch {
	case c.Count == 2:
		verb = "Double-clicked "
	case button != "left":
		verb = strings.ToUpper(button[:1]) + button[1:] + "-clicked "
	}
	r := Report{Did: verb + at.String(), clicks: true}
	for began, pause := time.Now(), 20*time.Millisecond; ; pause *= 2 {
		send(t.session, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y, "modifiers": mods})
		// The next press waits for the answer to the one before: a dialog it opened
		// would get it, and a second question about leaving hangs the page.
		for i := 1; i <= c.Count; i++ {
			mouse("mousePressed", i, held)
			err := t.await(ctx, mouse("mouseReleased", i, 0), "Input.dispatchMouseEvent", nil)
			if errors.Is(err, errDialog) {
				if i < c.Count {
					r.Did = "Clicked " + at.String() + " once, since a dialog opened"
				}
				break
			}
			if err != nil {
				return r, err
			}
		}
		if err := t.after(ctx, f, m, &r, false); err != nil || !r.unheard {
			t.mu.Lock()
			if t.files != nil {
				t.files.by = at.Ref
			}
			t.mu.Unlock()
			return r, err
		}
		// The page was not told of the press at all, as happens before its first
		// picture. Nothing was done, so it can be done again. A busy machine may
		// draw the picture of a frame late.
		if time.Since(began) > firstPicture {
			return r, problem(NotInteractable, "the press did not reach %s: the page takes no input now", at)
		}
		r.Changes = nil
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return r, ctx.Err()
		}
		if err := t.js(ctx, f, "rearm", args{"ref": refID(at.Ref)}, nil); err != nil {
			return r, err
		}
	}
}

// firstPicture is how long a press that no one was told of is tried again.
const firstPicture = 1200 * time.Millisecond

func refID(ref string) int {
	m := refForm.FindStringSubmatch(ref)
	if m == nil {
		return 0
	}
	id, _ := strconv.Atoi(m[2])
	return id
}

// Hover moves the mouse onto an element.
func (s *Session) Hover(ctx context.Context, on Target) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := func() (Report, error) {
		f, at, err := t.aim(ctx, on, true)
		if err != nil {
			return Report{}, err
		}
		m := t.mark()
		r := Report{Did: "Hovered over " + at.String(), hovers: true}
		ch := t.r.p.conn.send(t.session, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y})
		if err := t.await(ctx, ch, "Input.dispatchMouseEvent", nil); err != nil && !errors.Is(err, errDialog) {
			return r, err
		}
		return r, t.after(ctx, f, m, &r, false)
	}()
	return r, t.remember(on, s.explain(ctx, t, err))
}
