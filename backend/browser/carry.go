package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// placed is a place to drag from or to.
type placed struct {
	Point        // in the viewport
	in    Point  // in its frame
	what  string // how a report calls it
	f     *frame
	id    int // of the element, if it is one
}

var (
	pointForm  = regexp.MustCompile(`^\s*(\d+(?:\.\d+)?)\s*,\s*(\d+(?:\.\d+)?)\s*$`)
	wayForm    = regexp.MustCompile(`^\s*([+-]\d+(?:\.\d+)?)\s*,\s*([+-]?\d+(?:\.\d+)?)\s*$`)
	insideForm = regexp.MustCompile(`^\s*((?:f\d+)?e\d+)\s*@\s*(-?\d+(?:\.\d+)?)(%?)\s*,\s*(-?\d+(?:\.\d+)?)(%?)\s*$`)
)

// place finds a place by its name; a way goes on from the start.
func (t *tab) place(ctx context.Context, name string, start placed) (placed, error) {
	num := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	if m := pointForm.FindStringSubmatch(name); m != nil {
		p, _, err := t.onPage(ctx, Point{num(m[1]), num(m[2])})
		return placed{Point: p, in: p, what: fmt.Sprintf("point %s,%s", m[1], m[2]), f: t.root()}, err
	}
	if m := wayForm.FindStringSubmatch(name); m != nil {
		t.mu.Lock()
		k := t.seen.K // pixels of the picture for one of the page
		t.mu.Unlock()
		if k == 0 {
			k = 1
		}
		p := Point{start.X + num(m[1])/k, start.Y + num(m[2])/k}
		return placed{Point: p, in: p, what: fmt.Sprintf("a point %s,%s away", m[1], m[2]), f: t.root()}, nil
	}
	a, on := args{"start": start.id}, Target{Ref: name}
	if m := insideForm.FindStringSubmatch(name); m != nil {
		on.Ref = m[1]
		a["dx"], a["dy"], a["px"], a["py"] = num(m[2]), num(m[4]), m[3] == "%", m[5] == "%"
	} else if refForm.FindStringSubmatch(strings.TrimSpace(name)) == nil {
		on = Target{Text: name}
	}
	f, b, err := t.seek(ctx, on)
	if err != nil {
		return placed{}, err
	}
	for k, v := range b {
		a[k] = v
	}
	var at aimed
	if err := t.js(ctx, f, "middle", a, &at); err != nil {
		return placed{}, err
	}
	s := placed{in: Point{at.X, at.Y}, what: at.String(), f: f, id: refID(at.Ref)}
	if err := t.lift(ctx, f, &at); err != nil {
		return placed{}, err
	}
	s.Point = Point{at.X, at.Y}
	return s, nil
}

// carry is a drag under way. Where the page answers with a drag of the browser's
// own, which moves data, it goes on with events of that kind.
type carry struct {
	t    *tab
	f    *frame
	at   Point
	data json.RawMessage // of a drag of the browser's own
	over bool            // it has entered the page
}

// take presses and moves a little, so that the page notices a drag.
func (c *carry) take(ctx context.Context) error {
	if err := c.t.call(ctx, c.t.session, "Input.setInterceptDrags", map[string]any{"enabled": true}, nil); err != nil {
		return err
	}
	c.t.mu.Lock()
	c.t.dragged = nil
	c.t.mu.Unlock()
	if err := c.mouse(ctx, "mouseMoved", 0); err != nil {
		return err
	}
	return c.mouse(ctx, "mousePressed", 1)
}

func (c *carry) mouse(ctx context.Context, kind string, held int) error {
	button := "left"
	if kind == "mouseMoved" && held == 0 {
		button = ""
	}
	return c.t.await(ctx, c.t.mouse(kind, c.at, button, held, 1), "Input.dispatchMouseEvent", nil)
}

// move goes to a point in steps, each with a frame for the page to answer.
func (c *carry) move(ctx context.Context, to Point, traced bool) error {
	from := c.at
	far := math.Hypot(to.X-from.X, to.Y-from.Y)
	steps := 10
	if traced {
		steps = int(min(max(far/25, 2), 10))
	}
	for i := 1; i <= steps; i++ {
		k := float64(i) / float64(steps)
		if err := c.step(ctx, Point{from.X + (to.X-from.X)*k, from.Y + (to.Y-from.Y)*k}); err != nil {
			return err
		}
		if i == 1 && !traced && far > 30 { // past the distance from which a move counts as a drag
			for _, d := range []float64{12, 16} {
				if err := c.step(ctx, Point{from.X + (to.X-from.X)*d/far, from.Y + (to.Y-from.Y)*d/far}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *carry) step(ctx context.Context, to Point) error {
	c.at = to
	if c.data != nil {
		return c.own(ctx, "dragOver")
	}
	if err := c.mouse(ctx, "mouseMoved", 1); err != nil {
		return err
	}
	var got struct{ Dragging bool }
	if err := c.t.js(ctx, c.f, "dragging", nil, &got); err != nil || !got.Dragging {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = c.t.until(soon, func() bool { return c.t.dragged != nil })
	c.t.mu.Lock()
	c.data = c.t.dragged
	c.t.mu.Unlock()
	if c.data == nil {
		return nil
	}
	return c.own(ctx, "dragOver")
}

// own sends an event of the browser's own drag.
func (c *carry) own(ctx context.Context, kind string) error {
	if !c.over {
		c.over = true
		if err := c.own(ctx, "dragEnter"); err != nil {
			return err
		}
	}
	if err := c.t.call(ctx, c.t.session, "Input.dispatchDragEvent", map[string]any{"type": kind, "x": c.at.X, "y": c.at.Y, "data": c.data}, nil); err != nil {
		return err
	}
	return c.t.js(ctx, c.f, "dragging", nil, nil)
}

// drop lets go, after the page had time to answer to the last place.
func (c *carry) drop(ctx context.Context) error {
	defer c.t.r.p.conn.send(c.t.session, "Input.setInterceptDrags", map[string]any{"enabled": false})
	for _, d := range []float64{1, 0} {
		at := c.at
		at.X += d
		if err := c.step(ctx, at); err != nil {
			break
		}
		c.at.X -= d
	}
	if c.data != nil {
		return c.own(ctx, "drop")
	}
	return c.mouse(ctx, "mouseReleased", 0)
}
