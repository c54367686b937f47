package browser_test

import (
	"context"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func selectText(t *testing.T, s *browser.Session, q browser.Stretch) string {
	t.Helper()
	r, err := s.SelectText(context.Background(), q)
	if err != nil {
		t.Fatalf("select %+v: %v", q, err)
	}
	return r.Did + "\n" + strings.Join(r.Changes, "\n")
}

func selection(t *testing.T, s *browser.Session) string {
	t.Helper()
	raw, err := s.Eval(context.Background(), "getSelection().toString()", "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(string(raw), `"`)
}

func TestTextIsSelectedAsWithTheMouse(t *testing.T) {
	s := browsertest.Page(t, `<p id=a>One two <b>three</b>
 four.</p><p>Second paragraph that is long enough to go over the end of its line when the window is narrow, <i>so that</i> it has several lines of text to select in one go, first to last.</p>
<script>document.addEventListener('mouseup',e=>{document.title=e.isTrusted+' '+getSelection()})</script>`)
	if got := selectText(t, s, browser.Stretch{Text: "two three four"}); !strings.Contains(got, `selected "two three four"`) || !strings.Contains(got, `title now "true two three four"`) {
		t.Error(got)
	}
	if got := selection(t, s); got != "two three four" {
		t.Errorf("selected is %q", got)
	}
	selectText(t, s, browser.Stretch{Text: "Second paragraph that is long enough to go over the end of its line when the window is narrow, so that it has several lines of text to select in one go, first to last."})
	if got := selection(t, s); !strings.HasPrefix(got, "Second") || !strings.HasSuffix(got, "last.") {
		t.Errorf("selected is %q", got)
	}
	_, err := s.SelectText(context.Background(), browser.Stretch{Text: "nowhere"})
	fails(t, err, browser.NotFound, `does not say "nowhere"`)
	_, err = s.SelectText(context.Background(), browser.Stretch{Text: "a"})
	fails(t, err, browser.Ambiguous, "more than once")
	_, err = s.SelectText(context.Background(), browser.Stretch{})
	fails(t, err, browser.InvalidRequest, "give a ref")
}

func TestTextOfAFieldAndOfAnElementIsSelected(t *testing.T) {
	s := browsertest.Page(t, `<textarea aria-label=Notes>alpha beta
gamma</textarea><button id=b onclick="1">A button's words</button><div contenteditable aria-label=Rich>Some <b>bold</b> words</div>`)
	snap(t, s, browser.Query{})
	for _, c := range []struct {
		q    browser.Stretch
		want string
	}{
		{browser.Stretch{Ref: "e1", Text: "beta\ngamma"}, `selected "beta\ngamma"`},
		{browser.Stretch{Ref: "e1", Start: 6, End: 10}, `selected "beta"`},
		{browser.Stretch{Ref: "e1"}, "Selected 16 characters"},
		{browser.Stretch{Ref: "e3", Text: "bold words"}, `selected "bold words"`},
		{browser.Stretch{Ref: "e3", Start: 5, End: 9}, `selected "bold"`},
	} {
		if got := selectText(t, s, c.q); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c.q, got)
		}
	}
	_, err := s.SelectText(context.Background(), browser.Stretch{Ref: "e1", Start: 40})
	fails(t, err, browser.InvalidRequest, "has 16 characters")
}

func TestTextInAFrameOfAnotherOriginIsSelected(t *testing.T) {
	inner := browsertest.Site(t, map[string]string{"/": `<p>Words inside the frame</p>`})
	s := browsertest.Page(t, `<p>Outside</p><iframe title=in src="`+strings.Replace(inner.URL, "127.0.0.1", "localhost", 1)+`"></iframe>`)
	snap(t, s, browser.Query{})
	if got := selectText(t, s, browser.Stretch{Text: "inside the"}); !strings.Contains(got, `selected "inside the"`) {
		t.Error(got)
	}
}
