package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
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

// Drag presses at from, moves along the path to the goal and lets go. A place
// is a ref, a ref with a point in it ("e7@90%,50%" or "e7@12,40"), a point of the
// viewport ("640,300"), a way from the start ("+120,0"), or a text that is shown.
func (s *Session) Drag(ctx context.Context, from, to string, path []string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, 20*time.Second, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.drag(ctx, from, to, path)
	return r, s.explain(ctx, t, err)
}

// standing is how a dragged element lies among others, to tell what a drag did.
type standing struct{ Lines []string }

func (t *tab) drag(ctx context.Context, from, to string, path []string) (Report, error) {
	start, err := t.place(ctx, from, spot{})
	if err != nil {
		return Report{}, err
	}
	if _, err := t.place(ctx, to, start); err != nil {
		return Report{}, err
	}
	// Looking for the goal may have scrolled the start away.
	if start, err = t.place(ctx, from, spot{}); err != nil {
		return Report{}, err
	}
	f := start.f
	if err := t.js(ctx, f, "grasp", args{"ref": start.id, "x": start.in.X, "y": start.in.Y}, nil); err != nil {
		return Report{}, err
	}
	m := t.mark()
	c := carry{t: t, f: f, at: start.Point}
	if err := c.take(ctx); err != nil {
		c.drop(ctx)
		return Report{}, err
	}
	goal := start
	for _, p := range append(slices.Clone(path), to) {
		if goal, err = t.place(ctx, p, start); err == nil {
			err = c.move(ctx, goal.Point, len(path) > 0)
		}
		if err != nil {
			c.drop(ctx)
			return Report{}, err
		}
	}
	r := Report{Did: "Dragged " + start.what + " onto " + goal.what}
	if err := c.drop(ctx); err != nil && !errors.Is(err, errDialog) {
		return r, err
	}
	if err := t.after(ctx, f, m, &r, false); err != nil {
		return r, err
	}
	var now standing
	if t.js(ctx, f, "grasped", nil, &now) == nil && len(now.Lines) > 0 {
		if len(r.Changes) == 1 && r.Outcome == "no visible change" {
			r.Changes, r.Outcome = nil, ""
		}
		r.Changes = append(now.Lines, r.Changes...)
	}
	return r, nil
}
