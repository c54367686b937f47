package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type chosen struct {
	Kind, Ref, Role, Name, Value string
	Edit, Open                   bool
}

// Select chooses values of a native list or of a hand-made one.
func (s *Session) Select(ctx context.Context, on Target, values []string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.choose(ctx, on, values)
	return r, t.remember(on, s.explain(ctx, t, err))
}

func (t *tab) choose(ctx context.Context, on Target, values []string) (Report, error) {
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
	if c.Kind == "native" {
		r.Changes = append(r.Changes, fmt.Sprintf("value now %q", c.Value))
		return r, t.after(ctx, f, m, &r, true)
	}
	for _, v := range values {
		if err := t.pick(ctx, f, c, v); err != nil {
			return r, err
		}
	}
	var back struct{ Value string }
	if _, id, err := t.locate(c.Ref); err == nil && t.js(ctx, f, "valueOf", args{"ref": id}, &back) == nil && back.Value != "" {
		r.Changes = append(r.Changes, fmt.Sprintf("value now %q", short(back.Value, 200)))
	}
	return r, t.after(ctx, f, m, &r, true)
}

// pick opens a hand-made list, finds the option and presses it.
func (t *tab) pick(ctx context.Context, f *frame, c chosen, value string) error {
	_, id, err := t.locate(c.Ref)
	if err != nil {
		return err
	}
	var found struct {
		Found   string
		Options []string
	}
	look := func() error { return t.js(ctx, f, "optionNow", args{"ref": id, "text": value}, &found) }
	if err := look(); err != nil {
		return err
	}
	if found.Found == "" && !c.Open {
		if _, err := t.click(ctx, Click{Target: Target{Ref: c.Ref}}); err != nil {
			return err
		}
		if err := look(); err != nil {
			return err
		}
	}
	if found.Found == "" && c.Edit {
		if _, err := t.typeText(ctx, Typing{Target: Target{Ref: c.Ref}, Text: value}); err != nil {
			return err
		}
	}
	for range 20 { // lists that fill a little later
		if found.Found != "" {
			break
		}
		var got struct{ Got string }
		if err := t.js(ctx, f, "waitSlice", args{"option": value, "ref0": id, "slice": 100}, &got); err != nil {
			return err
		}
		if err := look(); err != nil {
			return err
		}
	}
	if found.Found == "" {
		return problem(NotFound, "%s has no option %q; it shows %s", named(c.Role, c.Name, c.Ref), value, quoted(found.Options))
	}
	_, err = t.click(ctx, Click{Target: Target{Ref: found.Found}})
	return err
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
	for _, x := range fields {
		one, err := t.fillOne(ctx, x)
		var p *Problem
		switch {
		case err == nil:
			good++
			r.Changes = append(r.Changes, strings.TrimPrefix(one.Did, "Typed into ")+": "+strings.Join(one.Changes, "; "))
		case errors.As(err, &p) && p.Code != Timeout && p.Code != Gone:
			r.Changes = append(r.Changes, x.Ref+" failed, "+p.Error())
		default:
			return r, s.explain(ctx, t, err)
		}
		r.URL = one.URL
	}
	r.Did = fmt.Sprintf("Filled %d of %d fields", good, len(fields))
	if good == 0 {
		return r, problem(InvalidRequest, "no field could be filled: %s", strings.Join(r.Changes, "; "))
	}
	if submit && good == len(fields) {
		list, _ := strokes("Enter")
		enter, err := t.press(ctx, list, "Enter", "")
		if err != nil {
			return r, s.explain(ctx, t, err)
		}
		r.Did += ", pressed Enter"
		r.URL = enter.URL
		r.Changes = append(r.Changes, enter.Changes...)
	} else if submit {
		r.Changes = append(r.Changes, "not submitted, since a field failed")
	}
	t.mu.Lock()
	r.Record = t.record
	t.mu.Unlock()
	return r, nil
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
		return t.click(ctx, Click{Target: Target{Ref: x.Ref}})
	case "list":
		return t.choose(ctx, Target{Ref: x.Ref}, []string{x.Value})
	case "file":
		return t.upload(ctx, x.Ref, []string{x.Value})
	}
	return t.typeText(ctx, Typing{Target: Target{Ref: x.Ref}, Text: x.Value})
}

// Upload gives files to a file field, or to the button that asks for them.
func (s *Session) Upload(ctx context.Context, ref string, paths []string) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.upload(ctx, ref, paths)
	return r, s.explain(ctx, t, err)
}

func (t *tab) upload(ctx context.Context, ref string, paths []string) (Report, error) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return Report{}, problem(InvalidRequest, "%s is not an absolute path", p)
		}
		if info, err := os.Stat(p); err != nil || info.IsDir() {
			return Report{}, problem(NotFound, "there is no file %s", p)
		}
	}
	f, id, err := t.locate(ref)
	if err != nil {
		return Report{}, err
	}
	var k struct{ Kind, Role, Name string }
	if err := t.js(ctx, f, "kind", args{"ref": id}, &k); err != nil {
		return Report{}, err
	}
	r := Report{Did: "Gave " + quoted(paths) + " to " + named(k.Role, k.Name, ref)}
	give := map[string]any{"files": paths}
	session := f.session
	if k.Kind == "file" {
		if err := t.js(ctx, f, "arm", args{"ref": id}, nil); err != nil {
			return r, err
		}
		object, _, err := t.object(ctx, f, id, false)
		if err != nil {
			return r, err
		}
		give["objectId"] = object
	} else {
		t.mu.Lock()
		asked := t.files
		t.mu.Unlock()
		if asked == nil {
			if _, err := t.click(ctx, Click{Target: Target{Ref: ref}}); err != nil {
				return r, err
			}
			soon, cancel := context.WithTimeout(ctx, 2*time.Second)
			_ = t.until(soon, func() bool { return t.files != nil })
			cancel()
			t.mu.Lock()
			asked = t.files
			t.mu.Unlock()
		}
		if asked == nil {
			return r, problem(NotInteractable, "%s did not ask for a file", named(k.Role, k.Name, ref))
		}
		if len(paths) > 1 && !asked.multi {
			return r, problem(InvalidRequest, "the page takes one file")
		}
		if err := t.js(ctx, f, "arm", args{"ref": id}, nil); err != nil {
			return r, err
		}
		give["backendNodeId"], session = asked.backend, asked.session
	}
	m := t.mark()
	if err := t.call(ctx, session, "DOM.setFileInputFiles", give, nil); err != nil {
		return r, err
	}
	return r, t.after(ctx, f, m, &r, true)
}
