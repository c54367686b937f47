package browser_test

import (
	"context"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func TestSnapshotTellsOnlyWhatChanged(t *testing.T) {
	s := browsertest.Page(t, `<title>List</title><nav aria-label=Menu><a href="/a">A</a><a href="/b">B</a><a href="/c">C</a></nav>
<label>Name <input></label><button>Save</button><button id=gone>Remove me</button><ul aria-label=Items id=items><li>one<button>Edit one</button></li><li>two<button>Edit two</button></li></ul>`+strings.Repeat("<p>Some words that stay as they are.</p>", 10))
	first := snap(t, s, browser.Query{View: "changes"})
	if !strings.HasSuffix(first, "(no earlier snapshot of this page to compare with; this is all of it)") || !strings.Contains(first, "Edit two") {
		t.Errorf("first:\n%s", first)
	}
	if got, want := snap(t, s, browser.Query{View: "changes"}), "page \"List\"\n(no change since the last snapshot)"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	script := `document.querySelector('input').value='Ann';gone.remove();items.insertAdjacentHTML('beforeend','<li>three<button>Edit three</button></li>')`
	if _, err := s.Eval(context.Background(), script, ""); err != nil {
		t.Fatal(err)
	}
	want := `page "List", changes since the last snapshot
~ textbox "Name" [ref=e4] value="Ann"
in list "Items" [ref=e9]:
+ listitem
  + three
  + button "Edit three" [ref=e10]
gone: button "Remove me" [ref=e6]`
	if got := snap(t, s, browser.Query{View: "changes"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := s.Eval(context.Background(), `document.body.innerHTML='<p>new</p>'`, ""); err != nil {
		t.Fatal(err)
	}
	if got, want := snap(t, s, browser.Query{View: "changes"}), "page \"List\"\n- new\n(most of the page changed; this is all of it)"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSnapshotFoldsWhatIsNestedDeeper(t *testing.T) {
	s := browsertest.Page(t, `<title>Deep</title><nav aria-label=Menu><ul><li><a href="/a">A</a><li><a href="/b">B</a></ul></nav>
<main><h1>Top</h1><section aria-label=Part><p>Words.</p><button>Go</button></section></main>`)
	got := snap(t, s, browser.Query{Depth: 1})
	_, ref, _ := strings.Cut(got, "- main\n  … 4 lines inside (ref=")
	ref, _, _ = strings.Cut(ref, ")")
	if ref == "" || strings.Contains(got, "Words") {
		t.Fatalf("got\n%s", got)
	}
	got = snap(t, s, browser.Query{Ref: ref, Depth: 2})
	if !strings.Contains(got, `heading "Top"`) || strings.Contains(got, "Words") || !strings.Contains(got, "2 lines inside") {
		t.Errorf("inside\n%s", got)
	}
	if got := snap(t, s, browser.Query{Depth: 9}); !strings.Contains(got, "Words") || strings.Contains(got, "inside") {
		t.Errorf("all\n%s", got)
	}
}
