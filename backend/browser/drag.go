package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Point is a place in the viewport, in CSS pixels.
type Point struct{ X, Y float64 }

// ClickAt presses at a point of the viewport and says what is there.
func (s *Session) ClickAt(ctx context.Context, p Point, button string, count int) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.clickAt(ctx, p, button, max(count, 1))
	return r, s.explain(ctx, t, err)
}

func (t *tab) clickAt(ctx context.Context, p Point, button string, count int) (Report, error) {
	if button == "" {
		button = "left"
	}
	var at struct{ What string }
	if err := t.js(ctx, t.root(), "at", args{"x": p.X, "y": p.Y}, &at); err != nil {
		return Report{}, err
	}
	m := t.mark()
	held := map[string]int{"left": 1, "right": 2, "middle": 4}[button]
	var last <-chan answer
	t.mouse("mouseMoved", p, "", 0, 0)
	for i := 1; i <= count; i++ {
		t.mouse("mousePressed", p, button, held, i)
		last = t.mouse("mouseReleased", p, button, 0, i)
	}
	r := Report{Did: fmt.Sprintf("Clicked at %.0f, %.0f: %s", p.X, p.Y, at.What)}
	if err := t.await(ctx, last, "Input.dispatchMouseEvent", nil); err != nil && !errors.Is(err, errDialog) {
		return r, err
	}
	return r, t.after(ctx, t.root(), m, &r, false)
}

func (t *tab) mouse(kind string, p Point, button string, held, count int) <-chan answer {
	e := map[string]any{"type": kind, "x": p.X, "y": p.Y, "buttons": held, "clickCount": count}
	if button != "" {
		e["button"] = button
	}
	return t.r.p.conn.send(t.session, "Input.dispatchMouseEvent", e)
}

// Drag carries the element of one ref onto another, with real mouse moves; the
// page is given a frame to answer between them.
func (s *Session) Drag(ctx context.Context, from, to string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.drag(ctx, from, to)
	return r, t.remember(Target{Ref: from + " " + to}, s.explain(ctx, t, err))
}

func (t *tab) drag(ctx context.Context, from, to string) (Report, error) {
	if _, _, err := t.place(ctx, to); err != nil {
		return Report{}, err
	}
	f, a, err := t.place(ctx, from)
	if err != nil {
		return Report{}, err
	}
	// Scrolling to the start may have moved the goal.
	_, b, err := t.place(ctx, to)
	if err != nil {
		return Report{}, err
	}
	if _, again, err := t.place(ctx, from); err != nil || again.X != a.X || again.Y != a.Y {
		return Report{}, problem(NotInteractable, "%s and %s are not in view at the same time", a, b)
	}
	m := t.mark()
	r := Report{Did: "Dragged " + a.String() + " onto " + b.String()}
	start, end := Point{a.X, a.Y}, Point{b.X, b.Y}
	step := func(kind string, p Point, held int) error {
		button := ""
		if kind != "mouseMoved" || held > 0 {
			button = "left"
		}
		return t.await(ctx, t.mouse(kind, p, button, held, 1), "Input.dispatchMouseEvent", nil)
	}
	if err := step("mouseMoved", start, 0); err != nil {
		return r, err
	}
	if err := step("mousePressed", start, 1); err != nil {
		return r, err
	}
	for i := 1; i <= 12; i++ {
		k := float64(i) / 10
		if i > 10 { // a last nudge on the goal, for pages that wait for it
			k = 1
		}
		p := Point{start.X + (end.X-start.X)*k + float64(max(0, i-10)), start.Y + (end.Y-start.Y)*k}
		if err := step("mouseMoved", p, 1); err != nil {
			t.mouse("mouseReleased", end, "left", 0, 1)
			return r, err
		}
	}
	if err := step("mouseReleased", end, 0); err != nil {
		return r, err
	}
	return r, t.after(ctx, f, m, &r, false)
}

// place is where the middle of a ref is, whatever it is.
func (t *tab) place(ctx context.Context, ref string) (*frame, aimed, error) {
	f, id, err := t.locate(ref)
	if err != nil {
		return nil, aimed{}, err
	}
	var at aimed
	if err := t.js(ctx, f, "middle", args{"ref": id}, &at); err != nil {
		return nil, aimed{}, err
	}
	at.Ref = strings.TrimSpace(ref)
	return f, at, t.lift(ctx, f, &at)
}
