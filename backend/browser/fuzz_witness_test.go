package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gofer/backend/browser"
)

// seenEvent is one line of a page's own log.
type seenEvent struct {
	Kind, On, Key, Answer string
	Trusted               bool
	Path                  []string
	X, Y, At              float64
}

// element is what a page itself says of one of its elements.
type element struct {
	ID, Tag, Type, Value                           string
	Kin, Words                                     []string
	Editable, Checked, Disabled, Connected, InView bool
	X, Y                                           float64
}

func (e element) is(path []string) bool {
	return slices.Contains(path, e.ID) || slices.ContainsFunc(e.Kin, func(k string) bool { return slices.Contains(path, k) })
}

// line is a node of a snapshot that has a ref.
type line struct{ ref, role, name, rest string }

var lineForm = regexp.MustCompile(`- (\w+)(?: "((?:[^"\\]|\\.)*)")? \[ref=(\w+)\](.*)`)

func linesOf(text string) []line {
	var out []line
	for _, m := range lineForm.FindAllStringSubmatch(text, -1) {
		name := m[2]
		_ = json.Unmarshal([]byte(`"`+name+`"`), &name)
		out = append(out, line{m[3], m[1], name, m[4]})
	}
	return out
}

var frameOf = regexp.MustCompile(`^f\d+`)

// witness reads the logs of all frames of the current page, past the tool under
// test but for the evaluation itself.
type witness struct {
	s     *browser.Session
	doors map[string]string // a ref in each frame, by the prefix of its refs
}

// learn notes by which refs the frames can be asked.
func (w *witness) learn(lines []line) {
	w.doors = map[string]string{}
	for _, l := range lines {
		if p := frameOf.FindString(l.ref); p != "" {
			w.doors[p] = l.ref
		}
	}
}

func (w *witness) ask(script, ref string, out any) error {
	raw, err := w.s.Eval(context.Background(), script, ref)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// take returns and empties the logs.
func (w *witness) take() []seenEvent {
	var text string
	for _, ref := range append([]string{""}, sortedValues(w.doors)...) {
		var one string
		script := "window.__probe ? __probe.take() : ''"
		if ref != "" {
			script = "() => " + script
		}
		if w.ask(script, ref, &one) == nil {
			text += one
		}
	}
	var out []seenEvent
	for l := range strings.Lines(text) {
		var e seenEvent
		if json.Unmarshal([]byte(l), &e) == nil {
			out = append(out, e)
		}
	}
	return out
}

func sortedValues(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// look describes the element of a ref and gives it a name in the log.
func (w *witness) look(ref string) (element, error) {
	var e element
	err := w.ask("el => window.__probe ? __probe.state(el) : {}", ref, &e)
	return e, err
}

// again describes an element by the name it got; nil when its document is gone
// or cannot be asked any more.
func (w *witness) again(e element, ref string) *element {
	var now *element
	find := fmt.Sprintf("window.__probe ? __probe.find(%q) : null", e.ID)
	if w.ask(find, "", &now) == nil && now != nil {
		return now
	}
	if door := w.doors[frameOf.FindString(ref)]; door != "" && w.ask("() => "+find, door, &now) == nil {
		return now
	}
	return nil
}

// face is what a page shows, and the time at which it last changed.
type face struct {
	Text string
	At   float64
}

func (w *witness) face() face {
	var f face
	_ = w.ask("window.__probe ? __probe.face() : {}", "", &f)
	return f
}

type place struct {
	URL        string
	X, Y, W, H float64
}

func (w *witness) place() (place, error) {
	var p place
	err := w.ask("({url:location.href,x:scrollX,y:scrollY,w:innerWidth,h:innerHeight})", "", &p)
	return p, err
}

// deeds are the events that only an input of ours can have made.
func deeds(events []seenEvent, kinds ...string) []seenEvent {
	var out []seenEvent
	for _, e := range events {
		if e.Trusted && slices.Contains(kinds, e.Kind) {
			out = append(out, e)
		}
	}
	return out
}

func onTarget(events []seenEvent, e element) (on, off []seenEvent) {
	for _, x := range events {
		if e.is(x.Path) {
			on = append(on, x)
		} else {
			off = append(off, x)
		}
	}
	return on, off
}
