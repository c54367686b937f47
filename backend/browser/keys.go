package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// key is what the browser wants to know about one key.
type key struct {
	key, code, text string
	vk, location    int
}

var namedKeys = map[string]key{
	"enter": {"Enter", "Enter", "\r", 13, 0}, "tab": {"Tab", "Tab", "", 9, 0}, "escape": {"Escape", "Escape", "", 27, 0},
	"backspace": {"Backspace", "Backspace", "", 8, 0}, "delete": {"Delete", "Delete", "", 46, 0}, "space": {" ", "Space", " ", 32, 0},
	"arrowup": {"ArrowUp", "ArrowUp", "", 38, 0}, "arrowdown": {"ArrowDown", "ArrowDown", "", 40, 0},
	"arrowleft": {"ArrowLeft", "ArrowLeft", "", 37, 0}, "arrowright": {"ArrowRight", "ArrowRight", "", 39, 0},
	"home": {"Home", "Home", "", 36, 0}, "end": {"End", "End", "", 35, 0}, "pageup": {"PageUp", "PageUp", "", 33, 0},
	"pagedown": {"PageDown", "PageDown", "", 34, 0}, "insert": {"Insert", "Insert", "", 45, 0},
	"control": {"Control", "ControlLeft", "", 17, 1}, "shift": {"Shift", "ShiftLeft", "", 16, 1},
	"alt": {"Alt", "AltLeft", "", 18, 1}, "meta": {"Meta", "MetaLeft", "", 91, 1}, "contextmenu": {"ContextMenu", "ContextMenu", "", 93, 0},
}

var otherNames = map[string]string{
	"esc": "escape", "return": "enter", "del": "delete", "ctrl": "control", "cmd": "meta", "command": "meta", "win": "meta", "option": "alt",
	"up": "arrowup", "down": "arrowdown", "left": "arrowleft", "right": "arrowright", "spacebar": "space", "pgup": "pageup", "pgdn": "pagedown", "controlormeta": "control",
}

var modifierBits = map[string]int{"alt": 1, "control": 2, "meta": 4, "shift": 8}

// shifted maps what Shift makes of the keys of a US keyboard.
var shifted = map[rune]rune{
	'!': '1', '@': '2', '#': '3', '$': '4', '%': '5', '^': '6', '&': '7', '*': '8', '(': '9', ')': '0',
	'_': '-', '+': '=', '{': '[', '}': ']', '|': '\\', ':': ';', '"': '\'', '<': ',', '>': '.', '?': '/', '~': '`',
}

var punctuation = map[rune]struct {
	code string
	vk   int
}{
	'-': {"Minus", 189}, '=': {"Equal", 187}, '[': {"BracketLeft", 219}, ']': {"BracketRight", 221}, '\\': {"Backslash", 220}, ';': {"Semicolon", 186},
	'\'': {"Quote", 222}, ',': {"Comma", 188}, '.': {"Period", 190}, '/': {"Slash", 191}, '`': {"Backquote", 192}, ' ': {"Space", 32},
}

// keyFor finds a key by its name or the letter on it; shift is true if the
// letter needs it.
func keyFor(name string) (k key, shift, ok bool) {
	low := strings.ToLower(name)
	if o, ok := otherNames[low]; ok {
		low = o
	}
	if k, ok := namedKeys[low]; ok {
		return k, false, true
	}
	var n int
	if _, err := fmt.Sscanf(low, "f%d", &n); err == nil && n >= 1 && n <= 12 && len(low) <= 3 {
		return key{fmt.Sprintf("F%d", n), fmt.Sprintf("F%d", n), "", 111 + n, 0}, false, true
	}
	r, size := utf8.DecodeRuneInString(name)
	if size != len(name) || r == utf8.RuneError {
		return key{}, false, false
	}
	return keyOf(r)
}

func keyOf(r rune) (k key, shift, ok bool) {
	base := r
	if b, ok := shifted[r]; ok {
		base, shift = b, true
	}
	switch {
	case r >= 'A' && r <= 'Z':
		return key{string(r), "Key" + string(r), string(r), int(r), 0}, true, true
	case r >= 'a' && r <= 'z':
		return key{string(r), "Key" + strings.ToUpper(string(r)), string(r), int(r - 32), 0}, false, true
	case base >= '0' && base <= '9':
		return key{string(r), "Digit" + string(base), string(r), int(base), 0}, shift, true
	}
	if p, ok := punctuation[base]; ok {
		return key{string(r), p.code, string(r), p.vk, 0}, shift, true
	}
	return key{}, false, false
}

func modifiers(names []string) (int, error) {
	bits := 0
	for _, n := range names {
		low := strings.ToLower(strings.TrimSpace(n))
		if o, ok := otherNames[low]; ok {
			low = o
		}
		b, ok := modifierBits[low]
		if !ok {
			return 0, problem(InvalidRequest, "%q is no modifier; there are Control, Shift, Alt and Meta", n)
		}
		bits |= b
	}
	return bits, nil
}

type stroke struct {
	key  key
	mods int
}

// strokes reads a sequence of chords such as "Control+A Delete".
func strokes(s string) ([]stroke, error) {
	if s == " " {
		s = "Space"
	}
	var out []stroke
	for chord := range strings.FieldsSeq(s) {
		parts := strings.Split(chord, "+")
		if strings.HasSuffix(chord, "+") && len(chord) > 0 { // the plus key itself
			parts = append(strings.Split(strings.TrimSuffix(strings.TrimSuffix(chord, "+"), "+"), "+"), "+")
			if chord == "+" {
				parts = []string{"+"}
			}
		}
		mods, err := modifiers(parts[:len(parts)-1])
		if err != nil {
			return nil, err
		}
		k, shift, ok := keyFor(parts[len(parts)-1])
		if !ok {
			return nil, problem(InvalidRequest, "there is no key %q; keys are named Enter, Tab, Escape, ArrowDown, a, Control+K", parts[len(parts)-1])
		}
		if shift && mods&^8 == 0 {
			mods |= 8
		}
		if mods&^8 != 0 && len(k.key) == 1 && mods&8 == 0 {
			k.key = strings.ToLower(k.key)
		}
		out = append(out, stroke{k, mods})
	}
	if len(out) == 0 {
		return nil, problem(InvalidRequest, "no key was given")
	}
	return out, nil
}

// stroke sends one key press; all messages go out at once, in order.
func (t *tab) stroke(session string, s stroke) <-chan answer {
	send := t.r.p.conn.send
	text := s.key.text
	if s.mods&^8 != 0 {
		text = ""
	}
	kind := "keyDown"
	if text == "" {
		kind = "rawKeyDown"
	}
	down := map[string]any{"type": kind, "key": s.key.key, "code": s.key.code, "windowsVirtualKeyCode": s.key.vk, "modifiers": s.mods, "location": s.key.location}
	if text != "" {
		down["text"], down["unmodifiedText"] = text, text
	}
	if s.mods == 2 || s.mods == 4 { // editing commands a headless browser does not bind itself
		if c := map[string]string{"a": "selectAll", "End": "moveToEndOfDocument", "c": "copy", "x": "cut", "v": "paste", "z": "undo", "y": "redo"}[s.key.key]; c != "" {
			down["commands"] = []string{c}
		}
	}
	held := []struct {
		bit int
		key key
	}{{2, namedKeys["control"]}, {8, namedKeys["shift"]}, {1, namedKeys["alt"]}, {4, namedKeys["meta"]}}
	mods := 0
	for _, h := range held {
		if s.mods&h.bit != 0 && s.key.text == "" || s.mods&h.bit != 0 && h.bit != 8 {
			mods |= h.bit
			send(session, "Input.dispatchKeyEvent", map[string]any{"type": "rawKeyDown", "key": h.key.key, "code": h.key.code, "windowsVirtualKeyCode": h.key.vk, "modifiers": mods, "location": 1})
		}
	}
	send(session, "Input.dispatchKeyEvent", down)
	last := send(session, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": s.key.key, "code": s.key.code, "windowsVirtualKeyCode": s.key.vk, "modifiers": s.mods, "location": s.key.location})
	for i := len(held) - 1; i >= 0; i-- {
		if h := held[i]; mods&h.bit != 0 {
			mods &^= h.bit
			last = send(session, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": h.key.key, "code": h.key.code, "windowsVirtualKeyCode": h.key.vk, "modifiers": mods, "location": 1})
		}
	}
	return last
}

// Press sends keys, to the element of a ref or to what has the focus.
func (s *Session) Press(ctx context.Context, keys, ref string) (Report, error) {
	list, err := strokes(keys)
	if err != nil {
		return Report{}, err
	}
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Report{}, err
	}
	defer done()
	r, err := t.press(ctx, list, keys, ref)
	err = s.outcome(ctx, t, &r, err)
	return r, t.remember(Target{Ref: ref}, err)
}

func (t *tab) press(ctx context.Context, list []stroke, keys, ref string) (Report, error) {
	r := Report{Did: "Pressed " + keys}
	var f *frame
	var on struct {
		Focus string
		Frame bool // the keys go to a frame within, whose world hears them
	}
	if ref != "" {
		var id int
		var err error
		if f, id, err = t.locate(ref); err != nil {
			return r, err
		}
		if err := t.js(ctx, f, "focus", args{"ref": id}, &on); err != nil {
			return r, err
		}
	} else {
		f = t.focused(ctx)
		if err := t.js(ctx, f, "arm", args{"focused": true}, &on); err != nil {
			return r, err
		}
	}
	if on.Focus != "" {
		r.Did += " on " + on.Focus
	}
	m := t.mark()
	for _, k := range list {
		if err := t.await(ctx, t.stroke(t.session, k), "Input.dispatchKeyEvent", nil); err != nil && !errors.Is(err, errDialog) {
			return r, err
		}
	}
	if err := t.after(ctx, f, m, &r, false); err != nil || !r.unkeyed || on.Frame || t.root() != f {
		return r, err
	}
	return r, problem(NotInteractable, "the keys did not reach the page; a list or picker of the system may be open, which Escape closes")
}

// focused finds the frame that holds the focus.
func (t *tab) focused(ctx context.Context) *frame {
	root := t.root()
	frames := t.allFrames()
	for i := len(frames) - 1; i > 0; i-- {
		var got struct{ Focus bool }
		if t.js(ctx, frames[i], "hasFocus", nil, &got) == nil && got.Focus {
			return frames[i]
		}
	}
	return root
}
