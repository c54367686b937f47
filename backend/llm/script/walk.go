package script

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// step is a reply worked out from a turn: which one, and what it says.
type step struct {
	n     int // place among the replies of the conversation, from 0
	turn  Turn
	text  []string
	calls []madeCall
}

// madeCall is a call with its references replaced.
type madeCall struct {
	spec     Call
	id       string
	name     string
	args     string
	key      string // args in canonical form
	label    string
	answered bool // its result already stands in the history
	result   string
}

// errEnd says that every turn of the script was used.
var errEnd = errors.New("the script has no further turn")

// past is what has happened so far, as the request or the server tells it.
type past interface {
	// take fills in the results of the step's calls and reports whether the
	// step lies behind.
	take(s *step) bool
}

// walker plays a script from its start against the past and stops at the first
// step that does not lie behind.
type walker struct {
	script Script
	env    env
	past   past
	salt   string
	doubt  *regexp.Regexp
	n      int
	next   *step
}

// run returns the next step, or errEnd.
func (w *walker) run() (*step, error) {
	if err := w.turns(w.script.Turns); err != nil {
		return nil, err
	}
	if w.next == nil {
		return nil, errEnd
	}
	return w.next, nil
}

func (w *walker) turns(list []Turn) error {
	for _, t := range list {
		if err := w.turn(t); err != nil || w.next != nil {
			return err
		}
	}
	return nil
}

func (w *walker) turn(t Turn) error {
	if t.When != nil {
		ok, err := w.env.holds(*t.When)
		if err != nil || !ok {
			return err
		}
	}
	for _, l := range t.Let {
		if err := w.env.let(l); err != nil {
			return fmt.Errorf("%s%w", prefix(t.Name), err)
		}
	}
	switch {
	case t.Do == nil:
		_, err := w.leaf(t)
		return err
	case t.Each != nil:
		return w.each(t)
	case t.While != nil:
		return w.while(t)
	}
	return w.turns(t.Do)
}

func prefix(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

func (w *walker) each(t Turn) error {
	from, err := w.env.eval(t.Each.From)
	if err != nil {
		return fmt.Errorf("each %s: %w", t.Each.As, err)
	}
	re, err := w.env.known.compile(t.Each.Find)
	if err != nil {
		return fmt.Errorf("each %s: %w", t.Each.As, err)
	}
	seen := map[string]bool{}
	for _, m := range re.FindAllStringSubmatch(from, -1) {
		key := strings.Join(m[min(1, len(m)-1):], "\x00")
		if seen[key] {
			continue
		}
		if seen[key] = true; t.Each.Max > 0 && len(seen) > t.Each.Max {
			break
		}
		for i, group := range m {
			w.env.vars[t.Each.As+"."+strconv.Itoa(i)] = group
		}
		w.env.vars[t.Each.As+".n"] = strconv.Itoa(len(seen))
		if err := w.turns(t.Do); err != nil || w.next != nil {
			return err
		}
	}
	return nil
}

func (w *walker) while(t Turn) error {
	limit := t.While.Max
	if limit == 0 {
		limit = 50
	}
	for range limit {
		ok, err := w.env.holds(*t.While)
		if err != nil || !ok {
			return err
		}
		if err := w.turns(t.Do); err != nil || w.next != nil {
			return err
		}
	}
	return nil
}

// leaf plays one reply. It returns the results of its calls when it lies
// behind; otherwise w.next is set.
func (w *walker) leaf(t Turn) ([]madeCall, error) {
	s := &step{n: w.n, turn: t}
	for _, piece := range t.Text {
		text, err := w.env.expand(piece)
		if err != nil {
			return nil, fmt.Errorf("%s%w", prefix(t.Name), err)
		}
		s.text = append(s.text, text)
	}
	for i, c := range t.Calls {
		m, err := w.make(c, i)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", prefix(t.Name), c.Name, err)
		}
		s.calls = append(s.calls, m)
	}
	if !w.past.take(s) {
		s.calls = slices.DeleteFunc(s.calls, func(m madeCall) bool { return m.answered })
		w.next = s
		return nil, nil
	}
	w.n++
	for i := range s.calls {
		w.learn(s.calls[i])
		if err := w.settle(s.calls[i]); err != nil || w.next != nil {
			return nil, err
		}
	}
	return s.calls, nil
}

// learn makes a result known to later turns.
func (w *walker) learn(m madeCall) {
	w.env.calls++
	w.env.last = m.result
	w.env.labels[m.label] = append(w.env.labels[m.label], m.result)
	if m.label != m.name {
		w.env.labels[m.name] = append(w.env.labels[m.name], m.result)
	}
}

// maxTries is how often a call in doubt is looked at before the script goes on.
const maxTries = 5

// settle finds out about a call whose effect is open, and repeats it only when
// the look does not show the effect.
func (w *walker) settle(m madeCall) error {
	for range maxTries {
		open, err := w.open(m)
		if err != nil || !open {
			return err
		}
		if done, err := w.look(m); err != nil || done || w.next != nil {
			return err
		}
		again := m.spec
		again.Look, again.Good, again.ID = nil, "", ""
		results, err := w.repeat(Turn{Text: []string{"The effect is not there, so I do it again."}, Calls: []Call{again}})
		if err != nil || w.next != nil {
			return err
		}
		spec := m.spec
		m = results[0]
		m.spec = spec
	}
	return nil
}

// repeat plays a leaf without settling its calls in turn.
func (w *walker) repeat(t Turn) ([]madeCall, error) {
	keep := w.doubt
	w.doubt = nil
	defer func() { w.doubt = keep }()
	return w.leaf(t)
}

func (w *walker) look(m madeCall) (done bool, err error) {
	if len(m.spec.Look) == 0 {
		return false, nil
	}
	var last string
	for i, c := range m.spec.Look {
		t := Turn{Calls: []Call{c}}
		if i == 0 {
			t.Text = []string{"It is not clear whether that took effect. I look first."}
		}
		results, err := w.repeat(t)
		if err != nil || w.next != nil {
			return false, err
		}
		last = results[0].result
	}
	pattern, err := w.env.expand(m.spec.Done)
	if err != nil {
		return false, err
	}
	re, err := w.env.known.compile(pattern)
	if err != nil {
		return false, err
	}
	return m.spec.Done != "" && re.MatchString(last), nil
}

// open reports whether the effect of a call is in doubt.
func (w *walker) open(m madeCall) (bool, error) {
	if w.doubt == nil {
		return false, nil
	}
	if w.doubt.MatchString(outside(m.result)) {
		return true, nil
	}
	if m.spec.Good == "" {
		return false, nil
	}
	pattern, err := w.env.expand(m.spec.Good)
	if err != nil {
		return false, err
	}
	re, err := w.env.known.compile(pattern)
	if err != nil {
		return false, err
	}
	return !re.MatchString(m.result), nil
}

func (w *walker) make(c Call, i int) (madeCall, error) {
	m := madeCall{spec: c, id: c.ID, name: c.Name, label: c.As}
	if m.label == "" {
		m.label = c.Name
	}
	if c.Raw != "" {
		m.args, m.key = c.Raw, canonical(c.Raw)
	} else {
		args := c.Args
		if args == nil {
			args = map[string]any{}
		}
		v, err := w.env.resolve(args)
		if err != nil {
			return m, err
		}
		raw, err := encode(v)
		if err != nil {
			return m, err
		}
		m.args, m.key = string(raw), canonical(string(raw))
	}
	if m.id == "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s\x00%s", w.salt, w.n, i, m.name, m.key))
		m.id = "call_" + hex.EncodeToString(sum[:8])
	}
	return m, nil
}
