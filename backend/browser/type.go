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
	focused := focusing{t: t, f: f}
	defer focused.release()
	look := func() {
		if !w.Keys && utf8.RuneCountInString(w.Text) <= keyedLimit {
			focused.ask()
		}
	}
	if err := t.jsThen(ctx, f, "prepare", a, &p, look); err != nil {
		return Report{}, err
	}
	r := Report{Did: "Typed into " + named(p.Role, p.Name, p.Ref)}
	if p.Lost != "" {
		return r, problem(NotInteractable, "%s did not keep the focus; it went to %s", named(p.Role, p.Name, p.Ref), p.Lost)
	}
	switch {
	case p.Kind == "script":
		r.Did = "Set " + named(p.Role, p.Name, p.Ref) + " by script"
		r.reads(w, p)
	case p.Kind == "stepped":
		err = t.stepTo(ctx, f, w.Text, p, &r)
	case (p.Kind == "rich" || p.Kind == "drawn") && !w.Keys:
		err = t.edit(ctx, f, w, p, &r)
	default:
		r.reads(w, p)
		if err = t.write(ctx, f, w, p, focused); errors.Is(err, errDialog) {
			err = nil // what follows tells
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
func (t *tab) write(ctx context.Context, f *frame, w Typing, p prepared, focused focusing) error {
	n := utf8.RuneCountInString(w.Text)
	over := p.Max > 0 && n > p.Max // boxes that hand on what is over
	if w.Keys || n <= keyedLimit && p.Kind == "text" && (over || focused.hearsKeys(ctx, p)) {
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

// focusing finds the field that has the focus in the page's own world.
type focusing struct {
	t  *tab
	f  *frame
	ch <-chan answer // nil until it was asked
}

const focusGroup = "focused"

// focusedField finds what has the focus, in open shadow roots too.
const focusedField = "(()=>{let a=document.activeElement;while(a&&a.shadowRoot&&a.shadowRoot.activeElement)a=a.shadowRoot.activeElement;return a})()"

// ask sends the question, which only the first document of a session can answer.
func (g *focusing) ask() {
	g.t.mu.Lock()
	up := g.t.frames[g.f.parent]
	first, session := g.f.no == 0 || up != nil && up.session != g.f.session, g.f.session
	g.t.mu.Unlock()
	if first {
		g.ch = g.t.r.p.conn.send(session, "Runtime.evaluate", map[string]any{"expression": focusedField, "objectGroup": focusGroup})
	}
}

func (g *focusing) release() {
	if g.ch != nil {
		g.t.r.p.conn.send(g.f.session, "Runtime.releaseObjectGroup", map[string]any{"objectGroup": focusGroup})
	}
}

// object is the field that was prepared.
func (g *focusing) object(ctx context.Context, p prepared) (string, error) {
	if g.ch != nil && p.Open {
		var got struct{ Result struct{ ObjectID string } }
		if err := g.t.await(ctx, g.ch, "Runtime.evaluate", &got); err == nil && got.Result.ObjectID != "" {
			return got.Result.ObjectID, nil
		}
	}
	_, id, err := g.t.locate(p.Ref)
	if err != nil {
		return "", err
	}
	object, _, err := g.t.object(ctx, g.f, id, true)
	return object, err
}

// hearsKeys tells whether the field itself listens to keys, as masks do.
func (g *focusing) hearsKeys(ctx context.Context, p prepared) bool {
	object, err := g.object(ctx, p)
	if err != nil {
		return false
	}
	var got struct{ Listeners []struct{ Type string } }
	if g.t.call(ctx, g.f.session, "DOMDebugger.getEventListeners", map[string]any{"objectId": object}, &got) != nil {
		return false
	}
	for _, l := range got.Listeners {
		if l.Type == "keydown" || l.Type == "keypress" || l.Type == "keyup" {
			return true
		}
	}
	return false
}

// reads has the field read back, and says what it holds, once the page has
// done what the text made it do.
func (r *Report) reads(w Typing, p prepared) {
	want := w.Text
	if w.Append {
		want = p.Old + w.Text
	}
	r.typed, r.echo = w.Text, func(back held) {
		told(r, back, p.Secret, same(back.Raw, want))
		if n := len(r.Changes) - 1; !p.Secret && !same(back.Raw, want) && want != "" && strings.HasSuffix(bare(back.Raw), bare(want)) {
			r.Changes[n] = strings.Replace(r.Changes[n], ", which differs from what was typed", ", as the field writes it", 1)
		}
	}
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
