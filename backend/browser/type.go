package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyedLimit is the longest text typed key by key without being asked to.
const keyedLimit = 300

// Typing says what to write where.
type Typing struct {
	Target
	Text   string
	Append bool // keep what is there
	Submit bool // press Enter afterwards
	Keys   bool // real key strokes
}

type prepared struct {
	Ref, Role, Name, Type, Kind, Lost, Old string
	Secret, Empty                          bool
	Open                                   bool // the page's own world finds it as what has the focus
	Max                                    int  // characters a field takes; 0 is any number
}

// Type writes text into a field and reads it back.
func (s *Session) Type(ctx context.Context, w Typing) (Report, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.typeText(ctx, w)
	return r, t.remember(w.Target, s.explain(ctx, t, err))
}

func (t *tab) typeText(ctx context.Context, w Typing) (Report, error) {
	f, a, err := t.seek(ctx, w.Target)
	if err != nil {
		return Report{}, err
	}
	if w.Ref == "" {
		// The text names the field here, so the field gets a ref first.
		var got struct{ Ref string }
		if err := t.js(ctx, f, "refOfText", args{"text": w.Target.Text}, &got); err != nil {
			return Report{}, err
		}
		if _, id, err := t.locate(got.Ref); err == nil {
			a = args{"ref": id}
		}
	}
	a["text"], a["append"] = w.Text, w.Append
	m := t.mark()
	var p prepared
	if err := t.js(ctx, f, "prepare", a, &p); err != nil {
		return Report{}, err
	}
	r := Report{Did: "Typed into " + named(p.Role, p.Name, p.Ref)}
	if p.Lost != "" {
		return r, problem(NotInteractable, "%s did not keep the focus; it went to %s", named(p.Role, p.Name, p.Ref), p.Lost)
	}
	switch {
	case p.Kind == "script":
		r.Did = "Set " + named(p.Role, p.Name, p.Ref) + " by script"
		err = t.echo(ctx, f, w, p, &r)
	case p.Kind == "stepped":
		err = t.stepTo(ctx, f, w.Text, p, &r)
	case (p.Kind == "rich" || p.Kind == "drawn") && !w.Keys:
		err = t.edit(ctx, f, w, p, &r)
	default:
		if err = t.write(ctx, f, w, p); err == nil || errors.Is(err, errDialog) {
			err = t.echo(ctx, f, w, p, &r)
		}
	}
	if err != nil {
		return r, err
	}
	if err := t.after(ctx, f, m, &r, true); err != nil || !w.Submit {
		return r, err
	}
	list, _ := strokes("Enter")
	enter, err := t.press(ctx, list, "Enter", "")
	r.Did += ", pressed Enter"
	r.URL, r.Outcome = enter.URL, enter.Outcome
	r.Changes = append(r.Changes, enter.Changes...)
	return r, err
}

// write sends the text, as one insertion or as key strokes where the page listens to keys.
func (t *tab) write(ctx context.Context, f *frame, w Typing, p prepared) error {
	n := utf8.RuneCountInString(w.Text)
	over := p.Max > 0 && n > p.Max // boxes that hand on what is over
	if w.Keys || n <= keyedLimit && p.Kind == "text" && (over || t.hearsKeys(ctx, f, p)) {
		return t.keyed(ctx, w.Text, !w.Append && !p.Empty)
	}
	if w.Text == "" {
		if w.Append || p.Empty {
			return nil
		}
		return t.keyed(ctx, "", true)
	}
	return t.await(ctx, t.r.p.conn.send(t.session, "Input.insertText", map[string]any{"text": w.Text}), "Input.insertText", nil)
}

func (t *tab) keyed(ctx context.Context, text string, clear bool) error {
	var last <-chan answer
	if clear {
		last = t.stroke(t.session, stroke{namedKeys["backspace"], 0})
	}
	for _, c := range strings.ReplaceAll(text, "\r\n", "\n") {
		if c == '\n' {
			last = t.stroke(t.session, stroke{namedKeys["enter"], 0})
			continue
		}
		k, shift, ok := keyOf(c)
		if !ok {
			last = t.r.p.conn.send(t.session, "Input.insertText", map[string]any{"text": string(c)})
			continue
		}
		mods := 0
		if shift {
			mods = 8
		}
		last = t.stroke(t.session, stroke{k, mods})
	}
	if last == nil {
		return nil
	}
	return t.await(ctx, last, "Input.dispatchKeyEvent", nil)
}

// hearsKeys tells whether the field itself listens to keys, as masks do.
func (t *tab) hearsKeys(ctx context.Context, f *frame, p prepared) bool {
	object, err := t.pageObject(ctx, f, p)
	if err != nil {
		return false
	}
	defer t.r.p.conn.send(f.session, "Runtime.releaseObjectGroup", map[string]any{"objectGroup": "focused"})
	var got struct{ Listeners []struct{ Type string } }
	if t.call(ctx, f.session, "DOMDebugger.getEventListeners", map[string]any{"objectId": object}, &got) != nil {
		return false
	}
	for _, l := range got.Listeners {
		if l.Type == "keydown" || l.Type == "keypress" || l.Type == "keyup" {
			return true
		}
	}
	return false
}

// focusedField finds what has the focus, in open shadow roots too.
const focusedField = "(()=>{let a=document.activeElement;while(a&&a.shadowRoot&&a.shadowRoot.activeElement)a=a.shadowRoot.activeElement;return a})()"

// pageObject is the focused field in the page's own world. In the first document
// of a session that takes one call instead of three.
func (t *tab) pageObject(ctx context.Context, f *frame, p prepared) (string, error) {
	t.mu.Lock()
	up := t.frames[f.parent]
	first := f.no == 0 || up != nil && up.session != f.session
	t.mu.Unlock()
	if first && p.Open {
		var got struct{ Result struct{ ObjectID string } }
		err := t.call(ctx, f.session, "Runtime.evaluate", map[string]any{"expression": focusedField, "objectGroup": "focused"}, &got)
		if err == nil && got.Result.ObjectID != "" {
			return got.Result.ObjectID, nil
		}
	}
	_, id, err := t.locate(p.Ref)
	if err != nil {
		return "", err
	}
	object, _, err := t.object(ctx, f, id, true)
	return object, err
}

// echo reads the value back and says what the field holds now.
func (t *tab) echo(ctx context.Context, f *frame, w Typing, p prepared, r *Report) error {
	back, err := t.readBack(ctx, f, w.Text)
	if err != nil {
		return err
	}
	want := w.Text
	if w.Append {
		want = p.Old + w.Text
	}
	told(r, back, p.Secret, same(back.Raw, want))
	if n := len(r.Changes) - 1; !p.Secret && !same(back.Raw, want) && want != "" && strings.HasSuffix(bare(back.Raw), bare(want)) {
		r.Changes[n] = strings.Replace(r.Changes[n], ", which differs from what was typed", ", as the field writes it", 1)
	}
	return nil
}

// bare leaves the letters and digits of a text, which a mask keeps.
func bare(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, s)
}

type held struct {
	Value, Raw string
	Length     int
}

func (t *tab) readBack(ctx context.Context, f *frame, text string) (held, error) {
	var back held
	err := t.js(ctx, f, "readBack", args{"text": text}, &back)
	if isProblem(err) || errors.Is(err, errNavigated) || errors.Is(err, errDialog) {
		return back, nil // the field left with the deed; what follows tells
	}
	return back, err
}

func told(r *Report, back held, secret, exact bool) {
	switch {
	case secret:
		r.Changes = append(r.Changes, fmt.Sprintf("it holds %d characters now", back.Length))
	case exact:
		r.Changes = append(r.Changes, fmt.Sprintf("value now %q", short(back.Value, 200)))
	default:
		r.Changes = append(r.Changes, fmt.Sprintf("value now %q, which differs from what was typed", short(back.Value, 200)))
	}
}

// same compares texts but for what editors write in another way: hard spaces,
// fillers without width, ends of lines.
func same(a, b string) bool {
	even := strings.NewReplacer("\r\n", "\n", "\u00a0", " ", "\u200b", "", "\ufeff", "")
	return strings.TrimRight(even.Replace(a), "\n") == strings.TrimRight(even.Replace(b), "\n")
}
