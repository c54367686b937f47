package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Scroll says how far to move what.
type Scroll struct {
	Ref       string
	Direction string // up, down, left, right
	Amount    int    // pixels; 0 is most of a screen
	To        string // top or bottom
}

// Scroll moves the page or the box around a ref, or brings a ref into view.
func (s *Session) Scroll(ctx context.Context, q Scroll) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := func() (Report, error) {
		f, a := t.root(), args{"direction": q.Direction, "amount": q.Amount, "to": q.To}
		if q.Ref != "" {
			var id int
			var err error
			if f, id, err = t.locate(q.Ref); err != nil {
				return Report{}, err
			}
			a["ref"] = id
		}
		m := t.mark()
		var got struct {
			What         string
			Above, Below int
			Moved        bool
			X, Y         float64
		}
		if err := t.js(ctx, f, "scroll", a, &got); err != nil {
			return Report{}, err
		}
		r := Report{Did: "Scrolled " + got.What}
		if !got.Moved {
			r.Did = got.What + " did not move: it is at its end"
			if err := t.wheel(ctx, f, aimed{X: got.X, Y: got.Y}, q); err != nil && !errors.Is(err, errDialog) {
				return r, err
			}
		}
		if got.Below < 40 { // what loads more at its end may do so a little later
			if err := t.js(ctx, f, "settle", args{"quiet": moreWindow.Milliseconds(), "early": true}, nil); err != nil && !errors.Is(err, errNavigated) {
				return r, err
			}
		}
		if err := t.after(ctx, f, m, &r, true); err != nil {
			return r, err
		}
		// Told as it is at last: the page may have gone on by itself.
		_ = t.js(ctx, f, "scrolledNow", nil, &got)
		r.Changes = append([]string{fmt.Sprintf("%d px above, %d px below", got.Above, got.Below)}, r.Changes...)
		return r, nil
	}()
	return r, t.remember(Target{Ref: q.Ref}, s.explain(ctx, t, err))
}

// moreWindow is how long the end of a page is given to begin loading more.
const moreWindow = 300 * time.Millisecond

// wheel turns the mouse wheel, for what scrolls by a script of its own.
func (t *tab) wheel(ctx context.Context, f *frame, at aimed, q Scroll) error {
	if err := t.lift(ctx, f, &at); err != nil {
		return err
	}
	n := float64(q.Amount)
	if n == 0 {
		n = 400
	}
	way := map[string]Point{"up": {0, -n}, "down": {0, n}, "left": {-n, 0}, "right": {n, 0}}[q.Direction]
	if way == (Point{}) {
		return nil
	}
	e := map[string]any{"type": "mouseWheel", "x": at.X, "y": at.Y, "deltaX": way.X, "deltaY": way.Y}
	return t.await(ctx, t.r.p.conn.send(t.session, "Input.dispatchMouseEvent", e), "Input.dispatchMouseEvent", nil)
}

// Await says what to wait for; one of the fields is set.
type Await struct {
	Text, Gone string
	Ref, State string // visible, gone, enabled, disabled
	URL        string // part of the address
	Idle       bool   // no request under way
	Span       time.Duration
	Limit      time.Duration
}

// Wait returns when it is so, saying what was seen.
func (s *Session) Wait(ctx context.Context, w Await) (Report, error) {
	if w.Limit <= 0 {
		w.Limit = s.within(DefaultLimit)
	}
	w.Limit = min(max(w.Limit, 100*time.Millisecond), NavigateLimit)
	ctx, t, done, err := s.beginOn(ctx, w.Limit+500*time.Millisecond, present)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.wait(ctx, w)
	return r, s.explain(ctx, t, err)
}

func (t *tab) wait(ctx context.Context, w Await) (Report, error) {
	soon, cancel := context.WithTimeout(ctx, w.Limit)
	defer cancel()
	over := func(what string) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return problem(Timeout, "%s within %.0f s", what, w.Limit.Seconds())
	}
	switch {
	case w.URL != "":
		err := t.until(soon, func() bool { return strings.Contains(t.url, w.URL) })
		if errors.Is(err, context.DeadlineExceeded) {
			return Report{}, over(fmt.Sprintf("the address did not come to hold %q", w.URL))
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		return Report{Did: "The address is " + t.url, URL: t.url}, err
	case w.Idle:
		err := t.until(soon, func() bool { return t.busyLocked(mark{}) == 0 && len(t.navBusy) == 0 })
		if errors.Is(err, context.DeadlineExceeded) {
			return Report{}, over("requests did not end")
		}
		return Report{Did: "No request is under way"}, err
	case w.Span > 0:
		select {
		case <-time.After(min(w.Span, w.Limit)):
			return Report{Did: fmt.Sprintf("Waited %d ms", min(w.Span, w.Limit).Milliseconds())}, nil
		case <-soon.Done():
			return Report{}, ctx.Err()
		case <-t.gone:
			return Report{}, gone()
		}
	}
	a := args{"text": w.Text, "gone": w.Gone, "state": w.State}
	frames := t.allFrames()
	if w.Ref != "" {
		f, id, err := t.locate(w.Ref)
		if err != nil {
			return Report{}, err
		}
		a["ref"], frames = id, []*frame{f}
	}
	heard := false
	for soon.Err() == nil {
		if w.Ref == "" {
			frames = t.allFrames()
		}
		seen := 0
		for i, f := range frames {
			slice := 250 * time.Millisecond
			if i > 0 || len(frames) > 1 {
				slice = 60 * time.Millisecond
			}
			end, _ := soon.Deadline()
			a["slice"] = min(slice, time.Until(end)/2).Milliseconds()
			var got struct{ Got string }
			err := t.js(soon, f, "waitSlice", a, &got)
			heard = heard || err == nil
			switch {
			case err == nil && got.Got != "":
				seen++
				if w.Gone == "" {
					return Report{Did: "Seen", Changes: []string{got.Got}, URL: t.url}, nil
				}
			case errors.Is(err, errDialog), isGone(err):
				return Report{}, err
			case errors.Is(err, errNavigated), isProblem(err), err == nil:
			case soon.Err() != nil:
			default:
				return Report{}, err
			}
		}
		if w.Gone != "" && seen == len(frames) {
			return Report{Did: fmt.Sprintf("%q is gone", w.Gone), URL: t.url}, nil
		}
	}
	switch {
	case !heard && ctx.Err() == nil:
		return Report{}, t.overdue()
	case w.Text != "":
		return Report{}, over(fmt.Sprintf("the text %q did not appear", short(w.Text, 80)))
	case w.Gone != "":
		return Report{}, over(fmt.Sprintf("the text %q did not go", short(w.Gone, 80)))
	}
	return Report{}, over(fmt.Sprintf("%s did not become %s", w.Ref, w.State))
}

// Eval runs a script in the page's own world and returns its value as JSON.
// With a ref the script is a function of that element.
func (s *Session) Eval(ctx context.Context, script, ref string) (json.RawMessage, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return nil, err
	}
	defer done()
	raw, err := t.eval(ctx, script, ref)
	if err == nil { // what the script began, such as a load, is told of before this is answered
		soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		_ = t.call(soon, t.session, "Runtime.evaluate", map[string]any{"expression": "0"}, nil)
		cancel()
	}
	return raw, s.explain(ctx, t, err)
}

func (t *tab) eval(ctx context.Context, script, ref string) (json.RawMessage, error) {
	var got struct {
		Result struct {
			Type, Subtype, Description, ObjectID string
			Value                                json.RawMessage
			Unserializable                       string `json:"unserializableValue"`
		}
		Exception *struct {
			Text      string
			Exception struct{ Description, Value any }
		} `json:"exceptionDetails"`
	}
	var err error
	if ref != "" {
		f, id, lerr := t.locate(ref)
		if lerr != nil {
			return nil, lerr
		}
		if err := t.js(ctx, f, "kind", args{"ref": id}, nil); err != nil {
			return nil, err
		}
		object, _, oerr := t.object(ctx, f, id, true)
		if oerr != nil {
			return nil, oerr
		}
		err = t.call(ctx, f.session, "Runtime.callFunctionOn", map[string]any{
			"objectId": object, "arguments": []map[string]any{{"objectId": object}},
			"functionDeclaration": "function(el){const v=(" + script + ");return typeof v==='function'?v(el):v}", "returnByValue": true, "awaitPromise": true, "userGesture": true,
		}, &got)
	} else {
		trimmed := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(script), ";"))
		if isFunction(trimmed) {
			script = "(" + trimmed + ")()"
		}
		err = t.call(ctx, t.session, "Runtime.evaluate", map[string]any{
			"expression": script, "awaitPromise": true, "userGesture": true, "replMode": true,
		}, &got)
		// The REPL mode waits for what the script awaits, but not for a promise it ends with.
		switch object := got.Result.ObjectID; {
		case err != nil || got.Exception != nil || object == "":
		case got.Result.Subtype == "promise":
			err = t.call(ctx, t.session, "Runtime.awaitPromise", map[string]any{"promiseObjectId": object, "returnByValue": true}, &got)
		case got.Result.Type == "object":
			err = t.call(ctx, t.session, "Runtime.callFunctionOn", map[string]any{"objectId": object, "functionDeclaration": "function(){return this}", "returnByValue": true}, &got)
		}
	}
	var p *protocolError
	if errors.As(err, &p) {
		if strings.Contains(p.Message, "navigated") || strings.Contains(p.Message, "destroyed") {
			return json.RawMessage(`"the page went to another document"`), nil
		}
		return nil, problem(InvalidRequest, "the value cannot be turned into JSON: %s", p.Message)
	}
	if err != nil {
		return nil, err
	}
	if got.Exception != nil {
		d, _ := got.Exception.Exception.Description.(string)
		if d == "" {
			d = fmt.Sprint(got.Exception.Text, " ", got.Exception.Exception.Value)
		}
		return nil, problem(InvalidRequest, "the script failed: %s", short(d, 1000))
	}
	switch {
	case got.Result.Unserializable != "":
		return json.Marshal(got.Result.Unserializable)
	case got.Result.Value != nil:
		return got.Result.Value, nil
	}
	return json.RawMessage("null"), nil
}

func isFunction(s string) bool {
	for _, p := range []string{"() =>", "()=>", "async () =>", "async ()=>", "async() =>", "async()=>", "function(", "function (", "async function"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// Dialog answers an open dialog. It goes past a call that the dialog holds up.
func (s *Session) Dialog(ctx context.Context, accept bool, text string) (Report, error) {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	if t == nil {
		return Report{}, problem(NoTab, "no page is open")
	}
	t.mu.Lock()
	d, session := t.dialog, t.session
	t.mu.Unlock()
	if d == nil {
		return Report{}, problem(NotFound, "no dialog is open")
	}
	m := t.mark()
	ctx, cancel := context.WithTimeoutCause(ctx, s.within(DefaultLimit), errLimit)
	defer cancel()
	give := map[string]any{"accept": accept}
	if text != "" || d.Kind == "prompt" && accept {
		if text == "" {
			text = d.Default
		}
		give["promptText"] = text
	}
	if err := t.r.p.conn.call(ctx, session, "Page.handleJavaScriptDialog", give, nil); err != nil {
		var p *protocolError
		if errors.As(err, &p) {
			return Report{}, problem(NotFound, "the dialog is closed already")
		}
		return Report{}, s.explain(ctx, t, err)
	}
	verb := "Dismissed "
	if accept {
		verb = "Accepted "
	}
	r := Report{Did: verb + d.String()}
	if err := t.until(ctx, func() bool { return t.dialog != d }); err != nil && !errors.Is(err, errDialog) {
		return r, s.outcome(ctx, t, &r, err)
	}
	err := t.after(ctx, t.root(), m, &r, true)
	return r, s.outcome(ctx, t, &r, err)
}
