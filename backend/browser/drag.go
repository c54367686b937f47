package browser

import (
	"context"
	"errors"
	"slices"
	"time"
)

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
	return r, t.remember(Target{Ref: from + " " + to}, s.explain(ctx, t, err))
}

// standing is how a dragged element lies among others, to tell what a drag did.
type standing struct{ Lines []string }

func (t *tab) drag(ctx context.Context, from, to string, path []string) (Report, error) {
	start, err := t.place(ctx, from, placed{})
	if err != nil {
		return Report{}, err
	}
	if _, err := t.place(ctx, to, start); err != nil {
		return Report{}, err
	}
	// Looking for the goal may have scrolled the start away.
	if start, err = t.place(ctx, from, placed{}); err != nil {
		return Report{}, err
	}
	f := start.f
	if err := t.js(ctx, f, "grasp", args{"ref": start.id, "x": start.in.X, "y": start.in.Y}, nil); err != nil {
		return Report{}, err
	}
	m := t.mark()
	c := carry{t: t, f: f, at: start.Point}
	if err := c.take(ctx); err != nil {
		_ = c.drop(ctx)
		return Report{}, err
	}
	goal := start
	for _, p := range append(slices.Clone(path), to) {
		if goal, err = t.place(ctx, p, start); err == nil {
			err = c.move(ctx, goal.Point, len(path) > 0)
		}
		if err != nil {
			return t.notDragged(ctx, f, m, c, start, err)
		}
	}
	r := Report{Did: "Dragged " + start.what + " onto " + goal.what}
	if err := c.drop(ctx); err != nil && !errors.Is(err, errDialog) {
		return r, err
	}
	if err := t.after(ctx, f, m, &r, false); err != nil {
		return r, err
	}
	if r.unheard && start.id > 0 {
		return r, problem(NotInteractable, "the press did not reach %s; a list or picker of the system may be open, which Escape closes", start.what)
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

// notDragged lets go where the mouse is: the press itself changed the page so
// that the goal is gone. What the press did is told.
func (t *tab) notDragged(ctx context.Context, f *frame, m mark, c carry, start placed, why error) (Report, error) {
	_ = c.drop(ctx)
	var p *Problem
	if !errors.As(why, &p) || ctx.Err() != nil {
		return Report{}, why
	}
	r := Report{Did: "Pressed " + start.what + " and let it go again, not dragged: " + p.Message}
	if err := t.after(ctx, f, m, &r, false); err != nil {
		return r, err
	}
	r.Outcome = "not dragged"
	return r, nil
}
