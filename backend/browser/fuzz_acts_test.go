package browser_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gofer/backend/browser"
)

var (
	pressed = []string{"button", "link", "checkbox", "radio", "tab", "menuitem", "clickable", "switch", "option", "textbox", "searchbox", "spinbutton"}
	written = []string{"textbox", "searchbox", "spinbutton"}
	texts   = []string{"Ada", "12345678", "zwölf Boxkämpfer", "2026-01-31", "", "a\tb", "7", "Line one\nline two", "#aabbcc", `"quoted" <b>`}
	chords  = []string{"Tab", "Enter", "Escape", "ArrowDown", "a", "Space", "Shift+Tab", "Control+A", "Backspace", "End", "ArrowUp Enter"}
)

func pick[T any](p *player, list []T) T { return list[p.rng.IntN(len(list))] }

// any returns a line of one of the roles, usable or not; nil when there is none.
func (p *player) any(lines []line, usable bool, roles ...string) *line {
	var fit []line
	for _, l := range lines {
		if (len(roles) == 0 || slices.Contains(roles, l.role)) && (!usable || !strings.Contains(l.rest, "disabled")) {
			fit = append(fit, l)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	l := pick(p, fit)
	return &l
}

// choose draws an action: seven of ten are such as a careful reader of the
// snapshot would try.
func (p *player) choose(lines []line) *act {
	if p.rng.IntN(100) >= 72 {
		return p.illegal(lines)
	}
	switch n := p.rng.IntN(100); {
	case n < 34:
		return p.click(p.any(lines, true, pressed...), true)
	case n < 40:
		return p.clickText(p.any(lines, true, "button", "link", "checkbox", "tab"))
	case n < 56:
		return p.write(p.any(lines, true, written...), true)
	case n < 64:
		return p.press(p.any(lines, true, pressed...))
	case n < 70:
		return p.selects(p.any(lines, true, "combobox", "listbox"))
	case n < 76:
		return p.fill(lines)
	case n < 82:
		return p.hover(p.any(lines, true, pressed...))
	case n < 86:
		return p.drag(p.any(lines, true), p.any(lines, true), true)
	case n < 91:
		return p.scroll(p.any(lines, true))
	case n < 96:
		return p.clickAt(p.any(lines, true, pressed...))
	}
	return p.travel()
}

// illegal draws what cannot or should not work.
func (p *player) illegal(lines []line) *act {
	switch p.rng.IntN(8) {
	case 0:
		return p.never(pick(p, []string{"e999999", "f77e1", "e0", "bogus", "f1e99999", "e-1", ""}))
	case 1:
		if len(p.stale) > 0 {
			return p.click(&line{ref: pick(p, p.stale)}, false)
		}
		return p.never("e88888")
	case 2:
		return p.write(p.any(lines, false, "button", "link", "heading", "checkbox", "image", "row"), false)
	case 3:
		return p.click(p.any(lines, false), false)
	case 4:
		l := p.any(lines, false, "button", "textbox", "link", "heading")
		if l == nil || p.rng.IntN(3) > 0 { // it looks for a while before it gives up
			return nil
		}
		return &act{kind: "select wrongly", what: l.ref, refuse: l.role != "combobox" && l.role != "listbox", parts: true, do: func(ctx context.Context) (browser.Report, error) {
			return p.s.Select(ctx, browser.Target{Ref: l.ref}, []string{"no such option"})
		}}
	case 5:
		text := pick(p, []string{"no such words", "", "zzz"})
		return &act{kind: "click text wrongly", what: text, refuse: true, do: func(ctx context.Context) (browser.Report, error) {
			return p.s.Click(ctx, browser.Click{Target: browser.Target{Text: text}})
		}}
	case 6:
		at := pick(p, []browser.Point{{-5, -5}, {9000, 20}, {20, 9000}})
		return &act{kind: "click outside", what: fmt.Sprint(at), refuse: true, do: func(ctx context.Context) (browser.Report, error) { return p.s.ClickAt(ctx, browser.Press{Point: at}) }}
	}
	keys := pick(p, []string{"NoSuchKey", "", "Control+NoKey", "Hyper+a"})
	return &act{kind: "press wrongly", what: keys, refuse: true, do: func(ctx context.Context) (browser.Report, error) { return p.s.Press(ctx, keys, "") }}
}

// never acts on a ref that no snapshot gave.
func (p *player) never(ref string) *act {
	kinds := map[string]func(context.Context) (browser.Report, error){
		"click": func(ctx context.Context) (browser.Report, error) {
			return p.s.Click(ctx, browser.Click{Target: browser.Target{Ref: ref}})
		},
		"type": func(ctx context.Context) (browser.Report, error) {
			return p.s.Type(ctx, browser.Typing{Target: browser.Target{Ref: ref}, Text: "x"})
		},
		"hover": func(ctx context.Context) (browser.Report, error) { return p.s.Hover(ctx, browser.Target{Ref: ref}) },
		"drag":  func(ctx context.Context) (browser.Report, error) { return p.s.Drag(ctx, ref, ref, nil) },
		"fill": func(ctx context.Context) (browser.Report, error) {
			return p.s.Fill(ctx, []browser.Field{{Ref: ref, Value: "x"}}, false)
		},
	}
	kind := pick(p, []string{"click", "type", "hover", "drag", "fill"})
	return &act{kind: kind + " nothing", what: ref, refuse: true, do: kinds[kind]}
}

func has(r browser.Report, words string) bool {
	return strings.Contains(strings.Join(r.Changes, "\n"), words)
}

// told says whether the page's words for an element hold the name of a report.
func named(e element, name string) bool {
	name = strings.TrimSuffix(strings.Join(strings.Fields(name), " "), "…")
	return name == "" || len(e.Words) == 0 || slices.ContainsFunc(e.Words, func(w string) bool {
		return strings.Contains(strings.ToLower(w), strings.ToLower(name)) || strings.Contains(strings.ToLower(name), strings.ToLower(w))
	})
}

func (p *player) click(l *line, legal bool) *act {
	if l == nil {
		return nil
	}
	e, err := p.w.look(l.ref)
	if err != nil && legal {
		p.lied("the snapshot offers %s %q %s, but: %v", l.role, l.name, l.ref, err)
		return nil
	}
	button, count := "left", 1
	switch p.rng.IntN(10) {
	case 0:
		count = 2
	case 1:
		button = pick(p, []string{"right", "middle"})
	}
	return &act{
		kind: "click", what: fmt.Sprintf("%s %q %s %s x%d", l.role, l.name, l.ref, button, count), legal: legal, refuse: err != nil,
		do: func(ctx context.Context) (browser.Report, error) {
			return p.s.Click(ctx, browser.Click{Target: browser.Target{Ref: l.ref}, Button: button, Count: count})
		},
		lie: func(r browser.Report, events []seenEvent) string { return p.pressLie(e, l, r, events, button, count) },
	}
}

// pressLie is what is wrong with a click told as done.
func (p *player) pressLie(e element, l *line, r browser.Report, events []seenEvent, button string, count int) string {
	if e.ID == "" || p.gone(l.ref) {
		return ""
	}
	if m := regexp.MustCompile(`[Cc]licked \w+ ("(?:[^"\\]|\\.)*") `).FindStringSubmatch(r.Did); m != nil {
		if name, err := strconv.Unquote(m[1]); err == nil && !named(e, name) {
			return fmt.Sprintf("it names the element %q, which says %q", name, e.Words)
		}
	}
	if strings.HasSuffix(r.Did, " once, since a dialog opened") {
		count = 1
	}
	on, off := onTarget(deeds(events, "mousedown"), e)
	if has(r, "the press itself reached nothing") && len(on)+len(off) == 0 {
		return ""
	}
	if has(r, "took the element's place") {
		if len(on) > 0 && len(off) == 0 {
			return "the press is told to have gone elsewhere, but it reached the element"
		}
		return ""
	}
	if want := fmt.Sprintf("only %d of %d presses", len(on), count); len(on)+len(off) == count && len(on) > 0 && has(r, want) {
		return ""
	}
	if len(on) != count || len(off) > 0 {
		return fmt.Sprintf("%d presses were told, the element got %d, others %d", count, len(on), len(off))
	}
	kinds := map[string][]string{"left": {"click"}, "right": {"contextmenu"}, "middle": {"auxclick"}}[button]
	if clicks, _ := onTarget(deeds(events, kinds...), e); len(clicks) == 0 && !has(r, "but not the click") {
		return "the press reached the element, the click did not, and that is not told"
	}
	if now := p.w.again(e, l.ref); now != nil && (e.Type == "checkbox" || e.Type == "radio") {
		if now.Checked == e.Checked && has(r, "[ref="+l.ref+"] checked") != e.Checked && has(r, "[ref="+l.ref+"] checked") {
			return "it is told as checked, and is not"
		}
		if now.Checked != e.Checked && has(r, "no visible change") {
			return fmt.Sprintf("checked went from %v to %v, and no change was told", e.Checked, now.Checked)
		}
	}
	return ""
}

// gone is true when the frame of a ref can no longer be asked for its log.
func (p *player) gone(ref string) bool {
	prefix := frameOf.FindString(ref)
	if prefix == "" {
		return false
	}
	_, err := p.w.look(p.w.doors[prefix])
	return err != nil
}

func (p *player) clickText(l *line) *act {
	if l == nil || l.name == "" {
		return nil
	}
	e, err := p.w.look(l.ref)
	same := 0
	for _, x := range p.last {
		if strings.Contains(strings.ToLower(x.name+x.rest), strings.ToLower(l.name)) {
			same++
		}
	}
	if err != nil || same != 1 {
		return nil
	}
	return &act{kind: "click text", what: l.name, legal: true, do: func(ctx context.Context) (browser.Report, error) {
		return p.s.Click(ctx, browser.Click{Target: browser.Target{Text: l.name}})
	}, lie: func(r browser.Report, events []seenEvent) string { return p.pressLie(e, l, r, events, "left", 1) }}
}

var valueNow = regexp.MustCompile(`value now ("(?:[^"\\]|\\.)*")(.*)`)

// valueLie is what is wrong with a value told of an element.
func (p *player) valueLie(e element, ref, told, want string) string {
	now := p.w.again(e, ref)
	m := valueNow.FindStringSubmatch(told)
	if now == nil || m == nil {
		return ""
	}
	value, err := strconv.Unquote(m[1])
	if err != nil {
		return "unreadable " + m[1]
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if cut := strings.TrimSuffix(flat(value), "…"); !strings.HasPrefix(flat(now.Value), cut) || cut == "" && flat(now.Value) != "" {
		return fmt.Sprintf("the value is told as %q, the page holds %q", value, now.Value)
	}
	if want != "" && m[2] == "" && flat(value) != flat(want) && !strings.HasSuffix(flat(value), flat(want)) {
		return fmt.Sprintf("%q was to be written, %q is told as if it were that", want, value)
	}
	return ""
}

func (p *player) write(l *line, legal bool) *act {
	if l == nil {
		return nil
	}
	e, err := p.w.look(l.ref)
	if err != nil {
		return nil
	}
	w := browser.Typing{Target: browser.Target{Ref: l.ref}, Text: pick(p, texts), Append: p.rng.IntN(5) == 0, Keys: p.rng.IntN(4) == 0}
	switch e.Type { // what a careful reader would write there
	case "number", "range":
		w.Text = pick(p, []string{"7", "3"})
	case "date":
		w.Text = "2026-01-31"
	case "color":
		w.Text = "#aabbcc"
	}
	return &act{
		kind: "type", what: fmt.Sprintf("%q into %s %q %s append=%v keys=%v", w.Text, l.role, l.name, l.ref, w.Append, w.Keys), legal: legal, parts: false,
		do: func(ctx context.Context) (browser.Report, error) { return p.s.Type(ctx, w) },
		lie: func(r browser.Report, events []seenEvent) string {
			if p.gone(l.ref) {
				return ""
			}
			if lie := p.valueLie(e, l.ref, strings.Join(r.Changes, "\n"), w.Text); lie != "" {
				return lie
			}
			_, off := onTarget(deeds(events, "input"), e)
			if len(off) > 0 && !slices.ContainsFunc(off, func(x seenEvent) bool { return x.On == "" }) && len(e.Kin) == 0 && !has(r, "differs") && e.ID != "" {
				return fmt.Sprintf("the text went to %s", off[0].On)
			}
			return ""
		},
	}
}

func (p *player) press(l *line) *act {
	keys := pick(p, chords)
	ref := ""
	var e element
	if l != nil && p.rng.IntN(2) == 0 {
		var err error
		if e, err = p.w.look(l.ref); err != nil {
			return nil
		}
		ref = l.ref
	}
	return &act{
		kind: "press", what: keys + " on " + ref, legal: true, do: func(ctx context.Context) (browser.Report, error) { return p.s.Press(ctx, keys, ref) },
		lie: func(r browser.Report, events []seenEvent) string {
			downs := deeds(events, "keydown")
			on, _ := onTarget(downs, e)
			switch {
			case ref == "" && len(p.w.doors) > 0, ref != "" && p.gone(ref):
				return ""
			case len(downs) < len(strings.Fields(keys)):
				return fmt.Sprintf("%d key presses were told, the page got %d", len(strings.Fields(keys)), len(downs))
			case ref != "" && len(on) == 0:
				return "the keys did not reach the element"
			}
			return ""
		},
	}
}

var optionsOf = regexp.MustCompile(`options: ([^\n]*)`)

func (p *player) selects(l *line) *act {
	if l == nil {
		return nil
	}
	m := optionsOf.FindStringSubmatch(l.rest)
	e, err := p.w.look(l.ref)
	if m == nil || err != nil {
		return nil
	}
	value := strings.TrimSpace(pick(p, strings.Split(m[1], " | ")))
	return &act{
		kind: "select", what: fmt.Sprintf("%q in %s %q", value, l.ref, l.name), legal: true, parts: true,
		do: func(ctx context.Context) (browser.Report, error) {
			return p.s.Select(ctx, browser.Target{Ref: l.ref}, []string{value})
		},
		lie: func(r browser.Report, events []seenEvent) string {
			return p.valueLie(e, l.ref, strings.Join(r.Changes, "\n"), "")
		},
	}
}

func (p *player) fill(lines []line) *act {
	var fields []browser.Field
	var looks []element
	for range 1 + p.rng.IntN(3) {
		l := p.any(lines, p.rng.IntN(4) > 0, append(slices.Clone(written), "checkbox", "radio")...)
		if l == nil || slices.ContainsFunc(fields, func(f browser.Field) bool { return f.Ref == l.ref }) {
			continue
		}
		e, err := p.w.look(l.ref)
		if err != nil {
			continue
		}
		value := pick(p, []string{"Ada", "7", "true"})
		if e.Type == "checkbox" || e.Type == "radio" || l.role == "checkbox" {
			value = pick(p, []string{"true", "false"})
		}
		fields, looks = append(fields, browser.Field{Ref: l.ref, Value: value}), append(looks, e)
	}
	if len(fields) == 0 {
		return nil
	}
	return &act{
		kind: "fill", what: fmt.Sprint(fields), legal: true, parts: true, do: func(ctx context.Context) (browser.Report, error) { return p.s.Fill(ctx, fields, false) },
		lie: func(r browser.Report, events []seenEvent) string {
			for i, f := range fields {
				if i >= len(r.Changes) || strings.Contains(r.Changes[i], "failed") || p.gone(f.Ref) {
					continue
				}
				if looks[i].Type == "checkbox" || looks[i].Type == "radio" {
					if now := p.w.again(looks[i], f.Ref); now != nil && now.Checked != (f.Value == "true") && len(fields) == 1 && !strings.Contains(r.Changes[i], "no visible change") {
						return fmt.Sprintf("%s is told as %q, but checked is %v", f.Ref, r.Changes[i], now.Checked)
					}
				} else if lie := p.valueLie(looks[i], f.Ref, r.Changes[i], f.Value); lie != "" {
					return lie
				}
			}
			return ""
		},
	}
}

func (p *player) hover(l *line) *act {
	if l == nil {
		return nil
	}
	e, err := p.w.look(l.ref)
	if err != nil {
		return nil
	}
	return &act{
		kind: "hover", what: l.ref + " " + l.name, legal: true, do: func(ctx context.Context) (browser.Report, error) { return p.s.Hover(ctx, browser.Target{Ref: l.ref}) },
		lie: func(r browser.Report, events []seenEvent) string {
			if on, _ := onTarget(deeds(events, "mousemove", "mouseover"), e); len(on) == 0 && !p.gone(l.ref) && !has(r, "the mouse met something else") {
				return "the mouse never came to the element"
			}
			return ""
		},
	}
}

func (p *player) drag(a, b *line, legal bool) *act {
	if a == nil || b == nil || a.ref == b.ref {
		return nil
	}
	from, err := p.w.look(a.ref)
	if err != nil {
		return nil
	}
	return &act{
		kind: "drag", what: a.ref + " " + a.name + " to " + b.ref, legal: legal, do: func(ctx context.Context) (browser.Report, error) { return p.s.Drag(ctx, a.ref, b.ref, nil) },
		lie: func(r browser.Report, events []seenEvent) string {
			on, off := onTarget(deeds(events, "mousedown"), from)
			switch {
			case p.gone(a.ref), has(r, "took the element's place"):
				return ""
			case len(on) != 1 || len(off) > 0:
				return fmt.Sprintf("a drag was told, the element got %d presses, others %d", len(on), len(off))
			}
			return ""
		},
	}
}

func (p *player) scroll(l *line) *act {
	q := browser.Scroll{Direction: pick(p, []string{"down", "up", "right"})}
	if p.rng.IntN(4) == 0 {
		q = browser.Scroll{To: pick(p, []string{"top", "bottom"})}
	}
	var e element
	if l != nil && p.rng.IntN(2) == 0 {
		var err error
		if e, err = p.w.look(l.ref); err != nil {
			return nil
		}
		q = browser.Scroll{Ref: l.ref}
	}
	return &act{
		kind: "scroll", what: fmt.Sprintf("%+v", q), legal: true, do: func(ctx context.Context) (browser.Report, error) { return p.s.Scroll(ctx, q) },
		lie: func(r browser.Report, events []seenEvent) string {
			if q.Ref != "" {
				if now := p.w.again(e, q.Ref); now != nil && now.Connected && !now.InView && frameOf.FindString(q.Ref) == "" {
					return "the element is told to be in view, and is not"
				}
				return ""
			}
			if at, err := p.w.place(); err == nil && strings.Contains(r.Did, "page") && !has(r, fmt.Sprintf("%.0f px above", math.Round(at.Y))) {
				return fmt.Sprintf("the page is at %.0f", at.Y)
			}
			return ""
		},
	}
}

func (p *player) clickAt(l *line) *act {
	at, err := p.w.place()
	if err != nil {
		return nil
	}
	point := browser.Point{X: float64(p.rng.IntN(int(at.W))), Y: float64(p.rng.IntN(int(at.H)))}
	if l != nil && p.rng.IntN(2) == 0 {
		if e, err := p.w.look(l.ref); err == nil && e.InView && frameOf.FindString(l.ref) == "" && e.X >= 0 && e.Y >= 0 && e.X < at.W && e.Y < at.H {
			point = browser.Point{X: e.X, Y: e.Y}
		}
	}
	return &act{
		kind: "click at", what: fmt.Sprint(point), legal: true, do: func(ctx context.Context) (browser.Report, error) {
			return p.s.ClickAt(ctx, browser.Press{Point: point})
		},
		lie: func(r browser.Report, events []seenEvent) string {
			downs := deeds(events, "mousedown")
			switch {
			case len(downs) == 1 && (len(p.w.doors) > 0 || math.Abs(downs[0].X-point.X) <= 1 && math.Abs(downs[0].Y-point.Y) <= 1):
				return ""
			case len(downs) == 0 && len(p.w.doors) > 0:
				return "" // in a frame that shows nothing with a ref
			}
			return fmt.Sprintf("one press was told, the page got %d", len(downs))
		},
	}
}

// travel goes somewhere else and comes back to the episode's page.
func (p *player) travel() *act {
	where := pick(p, []string{"back", "forward", "reload", "open", "new tab"})
	return &act{
		kind: where, what: p.page, legal: true,
		do: func(ctx context.Context) (browser.Report, error) {
			switch where {
			case "open":
				return p.s.Open(ctx, p.page, false)
			case "new tab":
				return p.s.Open(ctx, p.page, true)
			}
			return p.s.History(ctx, where)
		},
		lie: func(r browser.Report, events []seenEvent) string {
			at, err := p.w.place()
			if err == nil && where != "new tab" && r.URL != at.URL && !has(r, "dialog") {
				return fmt.Sprintf("the page is told as %s and is %s", r.URL, at.URL)
			}
			return ""
		},
	}
}
