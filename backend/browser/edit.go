package browser

import (
	"context"
	"errors"
	"net/url"
	"runtime"
	"slices"
	"strings"
)

// edit writes into an editor: rich text, or code that the editor draws itself.
// It inserts the text as one piece. Where the editor made something else of it,
// closing brackets or indenting by itself, the whole text is selected again and
// handed over as a paste, which editors leave as it is.
func (t *tab) edit(ctx context.Context, f *frame, w Typing, p prepared, r *Report) error {
	old := ""
	if w.Append {
		old = p.Old
		if p.Kind == "drawn" {
			if err := t.selectAll(ctx); err != nil {
				return err
			}
			if all, ok := t.copied(ctx, f); ok {
				old = all
			}
		}
	}
	want := old + w.Text
	ways := []func(context.Context, *frame, string) error{t.insert, t.paste}
	if strings.Contains(w.Text, "\n") {
		switch {
		case p.Kind == "drawn":
			slices.Reverse(ways)
		case w.Append: // breaks inside a paragraph can confuse what renders it
			ways[0] = t.lines
		}
	}
	var back held
	for i, way := range ways {
		text := want
		if w.Append && i == 0 {
			text = w.Text
			end := stroke{namedKeys["end"], command()}
			if err := t.await(ctx, t.stroke(t.session, end), "Input.dispatchKeyEvent", nil); err != nil {
				return err
			}
		} else if err := t.selectAll(ctx); err != nil {
			return err
		}
		if err := way(ctx, f, text); err != nil {
			if errors.Is(err, errDialog) {
				return nil
			}
			return err
		}
		before := back.Raw
		if i == 0 {
			before = p.Old
		}
		for try := 0; ; try++ {
			var exact bool
			var err error
			if back, exact, err = t.holds(ctx, f, p, want); err != nil || exact {
				told(r, back, false, true)
				return err
			}
			if back.Raw != before || try == 10 {
				break
			}
			// Some editors take a paste and write it a little later.
			if err := t.js(ctx, f, "settle", args{"quiet": noneWindow.Milliseconds()}, nil); err != nil {
				return err
			}
		}
	}
	told(r, back, false, false)
	return nil
}

// command is the modifier of the platform's editing keys.
func command() int {
	if runtime.GOOS == "darwin" {
		return 4
	}
	return 2
}

func (t *tab) selectAll(ctx context.Context) error {
	k, _, _ := keyOf('a')
	return t.await(ctx, t.stroke(t.session, stroke{k, command()}), "Input.dispatchKeyEvent", nil)
}

// insert replaces the selection as the keyboard of a phone does, in one piece.
func (t *tab) insert(ctx context.Context, _ *frame, text string) error {
	if text == "" {
		return t.keyed(ctx, "", true)
	}
	return t.await(ctx, t.r.p.conn.send(t.session, "Input.insertText", map[string]any{"text": text}), "Input.insertText", nil)
}

// lines inserts line by line, with Enter between them.
func (t *tab) lines(ctx context.Context, f *frame, text string) error {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			if err := t.await(ctx, t.stroke(t.session, stroke{namedKeys["enter"], 0}), "Input.dispatchKeyEvent", nil); err != nil {
				return err
			}
		}
		if line == "" {
			continue
		}
		if err := t.insert(ctx, f, line); err != nil {
			return err
		}
	}
	return nil
}

// paste hands the text over as a paste, or inserts it where nobody takes one.
func (t *tab) paste(ctx context.Context, f *frame, text string) error {
	if text == "" {
		return t.keyed(ctx, "", true)
	}
	defer t.unasked(ctx, f)()
	var got struct{ Taken bool }
	if err := t.js(ctx, f, "pasted", args{"text": text}, &got); err != nil || got.Taken {
		return err
	}
	return t.insert(ctx, f, text)
}

// unasked keeps an editor from asking the person for the clipboard: some look
// there too when something is pasted, and wait for the answer before they write.
func (t *tab) unasked(ctx context.Context, f *frame) func() {
	t.mu.Lock()
	address := f.url
	if f.no == 0 {
		address = t.url
	}
	t.mu.Unlock()
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return func() {}
	}
	_ = t.r.p.conn.call(ctx, "", "Browser.setPermission", map[string]any{
		"permission": map[string]any{"name": "clipboard-read"}, "setting": "denied", "origin": u.Scheme + "://" + u.Host,
	}, nil)
	return func() {
		_ = t.js(ctx, f, "settle", args{"quiet": noneWindow.Milliseconds()}, nil)
		_ = t.r.p.conn.call(t.s.life, "", "Browser.resetPermissions", nil, nil)
	}
}

// holds tells whether an editor holds exactly the wanted text. What is drawn may
// be only a part, so the editor is asked for a copy of all of it when in doubt.
func (t *tab) holds(ctx context.Context, f *frame, p prepared, want string) (held, bool, error) {
	if err := t.js(ctx, f, "settle", args{"frame": true}, nil); err != nil {
		return held{}, false, err
	}
	back, err := t.readBack(ctx, f, want)
	if err != nil || p.Kind == "rich" && same(back.Raw, want) {
		return back, err == nil, err
	}
	if err := t.selectAll(ctx); err != nil {
		return back, false, err
	}
	all, ok := t.copied(ctx, f)
	right := stroke{namedKeys["arrowright"], 0} // the caret to the end
	if err := t.await(ctx, t.stroke(t.session, right), "Input.dispatchKeyEvent", nil); err != nil {
		return back, false, err
	}
	if ok && (p.Kind == "drawn" || same(all, want)) {
		back.Value, back.Raw = all, all
	}
	return back, same(back.Raw, want), nil
}

func (t *tab) copied(ctx context.Context, f *frame) (string, bool) {
	var got struct {
		Text  string
		Given bool
	}
	err := t.js(ctx, f, "copied", nil, &got)
	return got.Text, err == nil && got.Given
}
