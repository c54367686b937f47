package browser

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// mostSteps bounds the key presses that move a slider.
const mostSteps = 500

// stepTo moves a slider or counter that takes no text to a number, by its arrow
// keys: one press tells how far they go, the rest follow together.
func (t *tab) stepTo(ctx context.Context, f *frame, text string, p prepared, r *Report) error {
	want, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return problem(InvalidRequest, "%s wants a number", named(p.Role, p.Name, p.Ref))
	}
	var at struct {
		Now  float64
		Text string
	}
	read := func() error {
		if err := t.js(ctx, f, "settle", args{"frame": true}, nil); err != nil {
			return err
		}
		return t.js(ctx, f, "reading", args{"ref": refID(p.Ref)}, &at)
	}
	press := func(name string, n int) error {
		var last <-chan answer
		for range n {
			last = t.stroke(t.session, stroke{namedKeys[name], 0})
		}
		if err := t.await(ctx, last, "Input.dispatchKeyEvent", nil); err != nil {
			return err
		}
		return read()
	}
	if err := read(); err != nil {
		return err
	}
	up, down := "arrowright", "arrowleft"
	if p.Role == "spinbutton" {
		up, down = "arrowup", "arrowdown"
	}
	for try := 0; try < 4 && at.Now != want; try++ {
		name := up
		if want < at.Now {
			name = down
		}
		before := at.Now
		if err := press(name, 1); err != nil {
			return err
		}
		step := math.Abs(at.Now - before)
		if step == 0 {
			break
		}
		left := math.Abs(want-at.Now) / step
		if (want > at.Now) != (want > before) || left < 0.5 {
			continue
		}
		if err := press(name, int(min(math.Round(left), mostSteps))); err != nil {
			return err
		}
	}
	r.Did = "Moved " + named(p.Role, p.Name, p.Ref) + " by its arrow keys"
	line := fmt.Sprintf("value now %q", at.Text)
	if at.Now != want {
		line += ", which differs from what was asked; drag it with browser_drag if the keys do not move it further"
	}
	r.Changes = append(r.Changes, line)
	return nil
}
