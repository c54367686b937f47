package browser

import (
	"context"
	"errors"
	"fmt"
)

// Stretch names a part of a text: by its words, by the numbers of its first
// character and the one behind its last, or all there is.
type Stretch struct {
	Ref        string // the element it is in; empty means the page, then Text is needed
	Text       string
	Start, End int // in characters as they read, spaces squeezed; End 0 is the end
}

// SelectText selects a stretch of text with the mouse, as a person would, and
// reads back what is selected.
func (s *Session) SelectText(ctx context.Context, q Stretch) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.selectText(ctx, q)
	return r, t.remember(Target{Ref: q.Ref, Text: q.Text}, s.explain(ctx, t, err))
}

func (t *tab) selectText(ctx context.Context, q Stretch) (Report, error) {
	f, a := t.root(), args{"text": q.Text, "start": q.Start, "end": q.End}
	switch {
	case q.Ref != "":
		var id int
		var err error
		if f, id, err = t.locate(q.Ref); err != nil {
			return Report{}, err
		}
		a["ref"] = id
	case q.Text == "":
		return Report{}, problem(InvalidRequest, "give a ref, a text, or both")
	default:
		var err error
		if f, err = t.frameSaying(ctx, q.Text); err != nil {
			return Report{}, err
		}
	}
	m := t.mark()
	var got struct {
		What         string
		Done         bool
		X, Y, X2, Y2 float64
	}
	if err := t.js(ctx, f, "pick", a, &got); err != nil {
		return Report{}, err
	}
	if !got.Done {
		from, to := aimed{X: got.X, Y: got.Y}, aimed{X: got.X2, Y: got.Y2}
		if err := t.lift(ctx, f, &from); err != nil {
			return Report{}, err
		}
		if err := t.lift(ctx, f, &to); err != nil {
			return Report{}, err
		}
		start, end := Point{from.X, from.Y}, Point{to.X, to.Y}
		t.mouse("mouseMoved", start, "", 0, 0)
		t.mouse("mousePressed", start, "left", 1, 1)
		t.mouse("mouseMoved", Point{(start.X + end.X) / 2, (start.Y + end.Y) / 2}, "left", 1, 1)
		t.mouse("mouseMoved", end, "left", 1, 1)
		if err := t.await(ctx, t.mouse("mouseReleased", end, "left", 0, 1), "Input.dispatchMouseEvent", nil); err != nil && !errors.Is(err, errDialog) {
			return Report{}, err
		}
	}
	var now struct {
		Text   string
		Length int
		Right  bool
	}
	err := t.js(ctx, f, "pickedNow", nil, &now)
	if err == nil && !now.Right {
		if err = t.js(ctx, f, "repick", nil, nil); err == nil {
			err = t.js(ctx, f, "pickedNow", nil, &now)
		}
	}
	if err != nil {
		return Report{}, err
	}
	if !now.Right {
		return Report{}, problem(NotInteractable, "%s does not let this text be selected; selected is %q", got.What, now.Text)
	}
	r := Report{Did: fmt.Sprintf("Selected %d characters in %s", now.Length, got.What), Changes: []string{fmt.Sprintf("selected %q", now.Text)}}
	return r, t.after(ctx, f, m, &r, true)
}

// frameSaying finds the first frame whose text says something.
func (t *tab) frameSaying(ctx context.Context, text string) (*frame, error) {
	for _, f := range t.allFrames() {
		var got struct{ N int }
		if err := t.js(ctx, f, "find", args{"text": text, "limit": 1}, &got); err != nil && f.no == 0 {
			return nil, err
		}
		if got.N > 0 {
			return f, nil
		}
	}
	return t.root(), nil
}
