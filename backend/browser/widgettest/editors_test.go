//go:build widgettest

package widgettest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gofer/backend/browser"
)

const code = "function f(a) {\n  if (a[0] === \"x\") {\n    return {b: 'é 😀'}\n  }\n}\n\nend"

// editors are the real ones, with the first words of the line that shows their
// text, and the text they start with.
var editors = []struct{ page, field, old string }{
	{"quill", "textbox", `value="Old text"`},
	{"prosemirror", "textbox", `value="Old title\nOld text"`},
	{"lexical", `textbox "Note"`, `value="Old first\nOld second"`},
	{"slate", `textbox "Note"`, `value="Old first\nOld second"`},
	{"draft", `textbox "Note"`, `value="Old first\nOld second"`},
	{"tinymce", `textbox "Rich Text Area"`, `value="Old text"`},
	{"codemirror5", "textbox", `value="let old = 'text'`},
	{"codemirror6", "textbox", `value="let old = 'text'`},
	{"monaco", `textbox "Editor content"`, `value="let old = 'text'`},
}

func openEditor(t *testing.T, page_, old string) *agent {
	t.Helper()
	a := page(t, page_)
	word, _, _ := strings.Cut(strings.TrimPrefix(old, `value="`), `\n`)
	if _, err := a.s.Wait(context.Background(), browser.Await{Text: strings.Trim(word, `"`)}); err != nil {
		t.Fatal(err)
	}
	a.sees(old)
	return a
}

func TestTypingReplacesTheWholeTextOfEveryEditor(t *testing.T) {
	for _, e := range editors {
		t.Run(e.page, func(t *testing.T) {
			a := openEditor(t, e.page, e.old)
			ref := a.ref(e.field)
			for _, text := range []string{"one line", code, "({[\"'`", "short"} {
				a.typeIn(ref, text, fmt.Sprintf("value now %q", text))
				a.holds(text)
			}
			a.sees(`value="short"`)
		})
	}
}

func TestAppendingKeepsWhatTheEditorHolds(t *testing.T) {
	for _, e := range editors {
		t.Run(e.page, func(t *testing.T) {
			a := openEditor(t, e.page, e.old)
			ref := a.ref(e.field)
			a.typeIn(ref, "if (x) {", "value now")
			r, err := a.s.Type(context.Background(), browser.Typing{Target: browser.Target{Ref: ref}, Text: "\n  go(1)\n}", Append: true})
			a.says(r, err, `value now "if (x) {\n  go(1)\n}"`)
			a.holds("if (x) {\n  go(1)\n}")
		})
	}
}

func TestALongTextIsReplacedThoughOnlyAPartIsDrawn(t *testing.T) {
	var long strings.Builder
	for i := range 200 {
		fmt.Fprintf(&long, "row %d\n", i)
	}
	for _, e := range editors {
		t.Run(e.page, func(t *testing.T) {
			a := openEditor(t, e.page, e.old)
			ref := a.ref(e.field)
			want := strings.TrimSuffix(long.String(), "\n")
			if got := a.typeIn(ref, want, "value now"); strings.Contains(got, "differs") {
				t.Errorf("the read-back is wrong: %s", got)
			}
			a.holds(want)
			a.typeIn(ref, "gone", `value now "gone"`)
			a.holds("gone")
		})
	}
}
