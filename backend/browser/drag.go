package browser

import (
	"context"
	"strings"
)

// Drag carries the element of one ref onto another, with real mouse moves; the
// page is given a frame to answer between them.
func (s *Session) Drag(ctx context.Context, from, to string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.drag(ctx, from, to)
	return r, s.explain(ctx, t, err)
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
