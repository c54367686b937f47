package browser_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

// TestNamesAreThoseOfTheBrowser compares the walker's names with the browser's
// own over a page of cases.
func TestNamesAreThoseOfTheBrowser(t *testing.T) {
	s := browsertest.Page(t, `<title>names</title><style>.b::before{content:"Before "}.c::after{content:"glyph" / "Alt"}.blk{display:block}</style>
<button>Plain</button>
<button aria-label="By label">x</button>
<span id=h hidden>Hidden words</span><button aria-labelledby=h>x</button>
<button id=self aria-label="Mine" aria-labelledby="self h">x</button>
<label for=a>For label</label><input id=a>
<label>Around <input> after</label>
<label>Volume <input type=number value=5> percent</label>
<input placeholder="Place">
<input title="Titled">
<input type=submit>
<input type=reset>
<input type=submit value="Send it">
<input type=image alt="Picture button" src=x>
<button><img alt="Logo" src=x> Home</button>
<a href=/x>Link <b>bold</b><br>next</a>
<a href=/y><span class=blk>One</span><span class=blk>Two</span></a>
<a href=/z title="Link title"></a>
<a href=/i><svg width=20 height=20><title>Svg title</title><rect width=9 height=9 /></svg></a>
<button class=b>Button</button>
<button class=c>Text </button>
<button>A<span style="display:none">hidden</span>B</button>
<button>A<span aria-hidden=true>quiet</span>B</button>
<button>Sum <span style="display:contents"><i>of</i></span> parts</button>
<select aria-label="Pick"><option>One</select>
<textarea aria-labelledby="h"></textarea>
<div role=checkbox tabindex=0 aria-checked=true>Custom <span>check</span></div>
<div role=button tabindex=0><span>Div</span> <span>button</span></div>
<div role=tab tabindex=0 aria-selected=true>Tab <em>one</em></div>
<label><input type=radio name=r> Radio <i>one</i></label>
<input type=checkbox id=q><label for=q>Outer <span>label</span></label>
<label for=w>First</label><label for=w>Second</label><input id=w>`)
	text := snap(t, s, browser.Query{Budget: 20000})
	refs := regexp.MustCompile(`ref=(e\d+)`).FindAllStringSubmatch(text, -1)
	if len(refs) < 30 {
		t.Fatalf("only %d refs in\n%s", len(refs), text)
	}
	for _, r := range refs {
		ours, theirs, err := browser.Names(context.Background(), s, r[1])
		if err != nil {
			t.Fatal(err)
		}
		if norm(ours) != norm(theirs) {
			t.Errorf("%s: %q, the browser says %q", r[1], ours, theirs)
		}
	}
}

func norm(s string) string { return strings.Join(strings.Fields(s), " ") }
