package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

type chosen struct {
	Kind, Ref, Role, Name, Value string
	Edit                         bool
}

// Select chooses values of a native list or of a hand-made one.
func (s *Session) Select(ctx context.Context, on Target, values []string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.choose(ctx, on, values, false)
	return r, t.remember(on, s.explain(ctx, t, err))
}

// choose picks values of a list; with exact a part of an option's name is not enough.
func (t *tab) choose(ctx context.Context, on Target, values []string, exact bool) (Report, error) {
	f, a, err := t.seek(ctx, on)
	if err != nil {
		return Report{}, err
	}
	a["values"] = values
	m := t.mark()
	var c chosen
	if err := t.js(ctx, f, "choose", a, &c); err != nil {
		return Report{}, err
	}
	r := Report{Did: fmt.Sprintf("Selected %s in %s", quoted(values), named(c.Role, c.Name, c.Ref))}
	switch c.Kind {
	case "native":
		r.Changes = append(r.Changes, fmt.Sprintf("value now %q", c.Value))
		return r, t.after(ctx, f, m, &r, true)
	case "typed": // a field with suggestions of its own holds what is typed
		typed, err := t.typeText(ctx, Typing{Target: Target{Ref: c.Ref}, Text: c.Value})
		typed.Did = r.Did
		return typed, err
	}
	for _, v := range values {
		one, err := t.pick(ctx, f, c, v, exact)
		var p *Problem
		for try := 0; try < 2 && errors.As(err, &p) && (p.Code == Detached || p.Code == Stale); try++ {
			one, err = t.pick(ctx, f, c, v, exact) // the list was drawn anew in between
		}
		if err != nil {
			return r, err
		}
		r.URL, r.Outcome = one.URL, one.Outcome
		for _, line := range one.Changes {
			if line != "no visible change" && !slices.Contains(r.Changes, line) {
				r.Changes = append(r.Changes, line)
			}
		}
	}
	if err := t.shutList(ctx, f, c); err != nil {
		return r, err
	}
	var back struct{ Value string }
	if _, id, err := t.locate(c.Ref); err == nil && t.js(ctx, f, "shown", args{"ref": id}, &back) == nil {
		line := fmt.Sprintf("value now %q", short(back.Value, 200))
		for _, v := range values {
			if !strings.Contains(strings.ToLower(back.Value), strings.ToLower(strings.TrimSpace(v))) {
				line = fmt.Sprintf("the option was pressed; the field shows %q", short(back.Value, 200))
			}
		}
		r.Changes = append([]string{line}, r.Changes...)
	}
	return r, nil
}

type option struct {
	Found   string
	Options []string
	Closed  bool // nothing that could be a list is shown
	More    bool // the list was scrolled on
	Already bool
	On      bool
	Off     bool
}

// pick opens a hand-made list, finds the option and presses it. The list may
// need to be opened, filtered by typing, waited for or scrolled.
func (t *tab) pick(ctx context.Context, f *frame, c chosen, value string, exact bool) (Report, error) {
	_, id, err := t.locate(c.Ref)
	if err != nil {
		return Report{}, err
	}
	var o option
	opened := false
	look := func() error {
		o = option{}
		return t.js(ctx, f, "optionNow", args{"ref": id, "text": value, "opened": opened, "exact": exact}, &o)
	}
	if err := look(); err != nil {
		return Report{}, err
	}
	if o.Found == "" && o.Closed {
		if _, err := t.click(ctx, Click{Target: Target{Ref: c.Ref}}); err != nil {
			return Report{}, err
		}
		opened = true
		if err := t.js(ctx, f, "watch", args{"ref": id}, nil); err != nil {
			return Report{}, err
		}
		if err := look(); err != nil {
			return Report{}, err
		}
	}
	typed := false
	for try := 0; o.Found == "" && try < 60; try++ {
		switch {
		case c.Edit && !typed:
			typed = true
			if err := t.filter(ctx, f, c, value); err != nil {
				return Report{}, err
			}
		case o.More:
			if err := t.js(ctx, f, "settle", args{"frame": true}, nil); err != nil {
				return Report{}, err
			}
		case try > 20: // lists that fill a little later have had two seconds
			return Report{}, problem(NotFound, "%s has no option %q; it shows %s", named(c.Role, c.Name, c.Ref), value, quoted(o.Options))
		default:
			var got struct{ Got string }
			if err := t.js(ctx, f, "waitSlice", args{"option": value, "ref0": id, "exact": exact, "slice": 100}, &got); err != nil {
				return Report{}, err
			}
		}
		if err := look(); err != nil {
			return Report{}, err
		}
	}
	switch {
	case o.Found == "":
		return Report{}, problem(NotFound, "%s has no option %q; it shows %s", named(c.Role, c.Name, c.Ref), value, quoted(o.Options))
	case o.Off:
		return Report{}, problem(NotInteractable, "option %q is disabled", value)
	case o.Already:
		return Report{Changes: []string{fmt.Sprintf("%q is selected already", value)}}, nil
	}
	r, err := t.click(ctx, Click{Target: Target{Ref: o.Found}})
	if err != nil || !o.On {
		return r, err
	}
	// It was marked before, which may mean chosen or only the next in line.
	var after struct{ Dropped bool }
	_ = t.js(ctx, f, "optionAfter", args{"ref": id, "option": refID(o.Found)}, &after) // gone with its list, as a rule
	if !after.Dropped {
		return r, nil
	}
	return t.click(ctx, Click{Target: Target{Ref: o.Found}})
}

// shutList closes a list that stays open, so that it covers nothing.
func (t *tab) shutList(ctx context.Context, f *frame, c chosen) error {
	var after struct{ Open bool }
	_ = t.js(ctx, f, "optionAfter", args{"ref": refID(c.Ref)}, &after) // the choice may have led elsewhere, which its report tells
	if !after.Open {
		return nil
	}
	esc := t.stroke(t.session, stroke{namedKeys["escape"], 0})
	if err := t.await(ctx, esc, "Input.dispatchKeyEvent", nil); err != nil && !errors.Is(err, errDialog) {
		return err
	}
	return t.js(ctx, f, "settle", args{"frame": true}, nil)
}

// filter types into a list that can be searched, which may keep its field inside.
func (t *tab) filter(ctx context.Context, f *frame, c chosen, value string) error {
	if _, err := t.typeText(ctx, Typing{Target: Target{Ref: c.Ref}, Text: value}); err != nil {
		return err
	}
	_, id, err := t.locate(c.Ref)
	if err != nil {
		return err
	}
	return t.js(ctx, f, "watch", args{"ref": id}, nil)
}

func quoted(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf("%q", short(v, 60))
	}
	return strings.Join(out, ", ")
}

// Field is one field of a form to fill.
type Field struct {
	Ref   string
	Value string
}

// Fill fills a form in one go and tells the outcome of each field.
func (s *Session) Fill(ctx context.Context, fields []Field, submit bool) (Report, error) {
	ctx, t, done, err := s.begin(ctx, 20*time.Second, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r := Report{}
	good := 0
	var class Code // of the failures, when they are alike
	for _, x := range fields {
		one, err := t.fillOne(ctx, x)
		var p *Problem
		switch {
		case err == nil:
			good++
			r.Changes = append(r.Changes, strings.TrimPrefix(one.Did, "Typed into ")+": "+strings.Join(one.Changes, "; "))
		case errors.As(err, &p) && p.Code != Timeout && p.Code != Gone:
			r.Changes = append(r.Changes, x.Ref+" failed, "+p.Error())
			if class == "" {
				class = p.Code
			} else if class != p.Code {
				class = InvalidRequest
			}
		default:
			return r, s.explain(ctx, t, err)
		}
		r.URL = one.URL
	}
	r.Did = fmt.Sprintf("Filled %d of %d fields", good, len(fields))
	if good == 0 {
		refs := ""
		for _, x := range fields {
			refs += x.Ref + " "
		}
		return r, t.remember(Target{Ref: refs}, problem(cmp.Or(class, InvalidRequest), "no field could be filled: %s", strings.Join(r.Changes, "; ")))
	}
	if submit && good == len(fields) {
		sent, err := t.submit(ctx, fields[len(fields)-1].Ref)
		if err != nil {
			return r, s.explain(ctx, t, err)
		}
		r.Did += ", " + strings.ToLower(sent.Did[:1]) + sent.Did[1:]
		r.URL, r.Outcome = sent.URL, sent.Outcome
		r.Changes = append(r.Changes, sent.Changes...)
	} else if submit {
		r.Changes = append(r.Changes, "not submitted, since a field failed")
	}
	t.mu.Lock()
	r.Record = t.record
	t.mu.Unlock()
	return r, nil
}

// submit presses the button that sends the form of a field, or Enter in the
// field where its form has none.
func (t *tab) submit(ctx context.Context, field string) (Report, error) {
	f, id, err := t.locate(field)
	if err != nil {
		return Report{}, err
	}
	var button struct{ Ref string }
	if err := t.js(ctx, f, "sender", args{"ref": id}, &button); err != nil {
		return Report{}, err
	}
	if button.Ref != "" {
		return t.click(ctx, Click{Target: Target{Ref: button.Ref}})
	}
	list, err := strokes("Enter")
	if err != nil {
		return Report{}, err
	}
	return t.press(ctx, list, "Enter", field)
}

func (t *tab) fillOne(ctx context.Context, x Field) (Report, error) {
	f, id, err := t.locate(x.Ref)
	if err != nil {
		return Report{}, err
	}
	var k struct {
		Kind, Role, Name string
		On               bool
	}
	if err := t.js(ctx, f, "kind", args{"ref": id}, &k); err != nil {
		return Report{}, err
	}
	switch k.Kind {
	case "choice":
		want := map[string]bool{"true": true, "on": true, "yes": true, "1": true, "checked": true}[strings.ToLower(x.Value)]
		if want == k.On {
			return Report{Did: named(k.Role, k.Name, x.Ref), Changes: []string{"already so"}}, nil
		}
		if k.Role == "radio" && !want {
			return Report{}, problem(InvalidRequest, "a radio button is not switched off; choose another one")
		}
		r, err := t.click(ctx, Click{Target: Target{Ref: x.Ref}})
		changed := strings.Contains(strings.Join(r.Changes, "\n"), "[ref="+x.Ref+"]")
		if err == nil && !changed && t.js(ctx, f, "kind", args{"ref": id}, &k) == nil && k.On != want { // one that is gone cannot be asked
			return Report{}, problem(NotInteractable, "%s was pressed and is %s as before (%s)", named(k.Role, k.Name, x.Ref), map[bool]string{true: "on", false: "off"}[k.On], strings.Join(r.Changes, "; "))
		}
		return r, err
	case "list":
		return t.choose(ctx, Target{Ref: x.Ref}, []string{x.Value}, false)
	case "combo": // takes any text, or only what is on its list
		r, err := t.choose(ctx, Target{Ref: x.Ref}, []string{x.Value}, true)
		var p *Problem
		if errors.As(err, &p) && p.Code == NotFound {
			r, err = t.typeText(ctx, Typing{Target: Target{Ref: x.Ref}, Text: x.Value})
			r.Changes = append(r.Changes, "typed only: "+p.Message)
		}
		return r, err
	case "file":
		return t.upload(ctx, x.Ref, []string{x.Value})
	}
	return t.typeText(ctx, Typing{Target: Target{Ref: x.Ref}, Text: x.Value})
}
