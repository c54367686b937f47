package browser_test

import (
	"context"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func snap(t *testing.T, s *browser.Session, q browser.Query) string {
	t.Helper()
	v, err := s.Snapshot(context.Background(), q)
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return v.Text
}

func TestSnapshotShowsControlsWithRefsAndProse(t *testing.T) {
	s := browsertest.Page(t, `<title>Form</title><h1>Sign up</h1><p>Tell us who you are.</p>
<form><label>Email <input type=email required value="a@b.c"></label><label for=p>Password</label><input id=p type=password value=secret>
<label><input type=checkbox checked> News</label><select aria-label=Zone><option>UTC<option selected>CET</select><button disabled>Go</button></form>`)
	got := snap(t, s, browser.Query{})
	want := `page "Form"
- heading "Sign up" level 1
- Tell us who you are.
- textbox "Email" [ref=e1] required email value="a@b.c"
- textbox "Password" [ref=e2] password value="••••••"
- checkbox "News" [ref=e3] checked
- combobox "Zone" [ref=e4] value="CET" options: UTC | CET
- button "Go" [ref=e5] disabled`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSnapshotStaysWithinItsBudgetAndGoesOnBehindIt(t *testing.T) {
	var b strings.Builder
	b.WriteString("<title>Big</title><table><thead><tr><th>No<th>Name</tr></thead><tbody>")
	for range 3000 {
		b.WriteString("<tr><td>row<td>some text in a cell</tr>")
	}
	b.WriteString("</tbody></table>")
	s := browsertest.Page(t, b.String())
	got := snap(t, s, browser.Query{})
	if len(got) > 6300 {
		t.Errorf("snapshot is %d bytes", len(got))
	}
	if !strings.Contains(got, "- header No | Name") || !strings.Contains(got, "more rows (after=") {
		t.Fatalf("no header or no continuation:\n%s", got[max(0, len(got)-300):])
	}
	_, after, _ := strings.Cut(got, "(after=")
	after, _, _ = strings.Cut(after, ")")
	more := snap(t, s, browser.Query{After: after})
	if !strings.Contains(more, "- header No | Name") || !strings.Contains(more, "some text in a cell") {
		t.Errorf("continuation does not read alone:\n%.300s", more)
	}
}

func TestSnapshotLeavesOutWhatNobodySees(t *testing.T) {
	s := browsertest.Page(t, `<title>x</title><p>seen</p><p style="display:none">a</p><p style="opacity:0">b</p><p style="position:absolute;left:-9999px">c</p>
<p style="visibility:hidden">d</p><p style="width:1px;height:1px;overflow:hidden">e</p><button style="display:none">f</button>`)
	want := "page \"x\"\n- seen"
	if got := snap(t, s, browser.Query{}); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSnapshotReachesFramesAndShadowRoots(t *testing.T) {
	other := browsertest.Site(t, map[string]string{"/": `<button onclick="document.title='x';this.textContent='Paid'">Pay</button>`})
	far := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	s := browsertest.Page(t, `<title>Shop</title><div id=h></div><iframe title=pay src="`+far+`/"></iframe><iframe title=near srcdoc="<input aria-label=Code>"></iframe>
<script>h.attachShadow({mode:'open'}).innerHTML='<button>Inside</button>'</script>`)
	got := snap(t, s, browser.Query{})
	for _, want := range []string{`- button "Inside" [ref=e`, `- iframe "pay"`, `  - button "Pay" [ref=f`, `  - textbox "Code" [ref=f`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	r, err := s.Click(context.Background(), browser.Click{Target: browser.Target{Text: "Pay"}})
	if err != nil {
		t.Fatalf("click: %v", err)
	}
	if got := strings.Join(r.Changes, "\n"); !strings.Contains(got, "Paid") {
		t.Errorf("changes %q do not tell of Paid", got)
	}
}
