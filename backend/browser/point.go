package browser

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Point is a place in pixels of the last picture of the viewport, which are
// those of the boxes in a visual view too.
type Point struct{ X, Y float64 }

func (p Point) String() string { return fmt.Sprintf("%.0f, %.0f", p.X, p.Y) }

// Press says how to press at a point.
type Press struct {
	Point
	Button string        // left, right or middle
	Count  int           // 2 is a double click
	Hold   time.Duration // how long the button stays down
}

// longestHold bounds a press that is held, so that the call ends in time.
const longestHold = 5 * time.Second

// ClickAt presses at a point and says what is there.
func (s *Session) ClickAt(ctx context.Context, p Press) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.clickAt(ctx, p)
	return r, s.explain(ctx, t, err)
}

// HoverAt moves the mouse to a point and says what is there.
func (s *Session) HoverAt(ctx context.Context, p Point) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := func() (Report, error) {
		at, r, err := t.pointAt(ctx, p, "Hovered at ")
		if err != nil {
			return r, err
		}
		m := t.mark()
		if err := t.await(ctx, t.mouse("mouseMoved", at, "", 0, 0), "Input.dispatchMouseEvent", nil); err != nil && !errors.Is(err, errDialog) {
			return r, err
		}
		return r, t.after(ctx, t.root(), m, &r, false)
	}()
	return r, s.explain(ctx, t, err)
}

// onPage turns a point of the last picture into one of the viewport, in pixels
// of the page, and says how the view has changed since that picture.
func (t *tab) onPage(ctx context.Context, p Point) (at Point, since string, err error) {
	now, err := t.sight(ctx)
	if err != nil {
		return p, "", err
	}
	t.mu.Lock()
	then := t.seen
	t.mu.Unlock()
	if then.K == 0 {
		then = now
	}
	at = Point{p.X / then.K, p.Y / then.K}
	if at.X < 0 || at.Y < 0 || at.X >= now.W || at.Y >= now.H {
		return p, "", problem(InvalidRequest, "%s is outside the viewport, which is %.0f x %.0f in pixels of its picture; scroll first", p, math.Floor(now.W*then.K), math.Floor(now.H*then.K))
	}
	switch {
	case then.W != now.W || then.H != now.H || then.K != now.K:
		since = "the viewport has another size now than in the last screenshot; take a new one"
	case math.Abs(then.SX-now.SX)+math.Abs(then.SY-now.SY) > 2:
		since = fmt.Sprintf("the page was scrolled by %.0f, %.0f px since the last screenshot", now.SX-then.SX, now.SY-then.SY)
	}
	return at, since, nil
}

// pointAt readies the watch for a deed at a point and begins its report.
func (t *tab) pointAt(ctx context.Context, p Point, verb string) (Point, Report, error) {
	at, since, err := t.onPage(ctx, p)
	if err != nil {
		return at, Report{}, err
	}
	var there struct{ What string }
	if err := t.js(ctx, t.root(), "at", args{"x": at.X, "y": at.Y}, &there); err != nil {
		return at, Report{}, err
	}
	r := Report{Did: verb + p.String() + ": " + there.What}
	if since != "" {
		r.Did += " (" + since + ")"
	}
	return at, r, nil
}

func (t *tab) clickAt(ctx context.Context, p Press) (Report, error) {
	if p.Button == "" {
		p.Button = "left"
	}
	verb := "Clicked at "
	if p.Hold > 0 {
		verb = "Pressed and held at "
	}
	at, r, err := t.pointAt(ctx, p.Point, verb)
	if err != nil {
		return r, err
	}
	r.clicks = true
	m := t.mark()
	held := heldBits[p.Button]
	t.mouse("mouseMoved", at, "", 0, 0)
	for i := 1; i <= max(p.Count, 1); i++ {
		press := t.mouse("mousePressed", at, p.Button, held, i)
		if p.Hold > 0 {
			if err := t.await(ctx, press, "Input.dispatchMouseEvent", nil); err != nil && !errors.Is(err, errDialog) {
				return r, err
			}
			select {
			case <-time.After(min(p.Hold, longestHold)):
			case <-ctx.Done():
			}
		}
		err := t.await(ctx, t.mouse("mouseReleased", at, p.Button, 0, i), "Input.dispatchMouseEvent", nil)
		if errors.Is(err, errDialog) {
			if i < p.Count {
				r.Did += ", pressed once, since a dialog opened"
			}
			break
		}
		if err != nil {
			return r, err
		}
	}
	return r, t.after(ctx, t.root(), m, &r, false)
}

// heldBits are the buttons as the protocol counts those that are down.
var heldBits = map[string]int{"left": 1, "right": 2, "middle": 4}

func (t *tab) mouse(kind string, p Point, button string, held, count int) <-chan answer {
	e := map[string]any{"type": kind, "x": p.X, "y": p.Y, "buttons": held, "clickCount": count}
	if button != "" {
		e["button"] = button
	}
	return t.r.p.conn.send(t.session, "Input.dispatchMouseEvent", e)
}
