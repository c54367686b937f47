package browser_test

import (
	"context"
	"fmt"
	"regexp"
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

// TestSnapshotLosesNothingOfALongPage reads pages with more than fits, goes on
// where each says there is more, and finds every item.
func TestSnapshotLosesNothingOfALongPage(t *testing.T) {
	item := map[string]func(i int) string{
		"paragraphs": func(i int) string {
			return fmt.Sprintf("<p>item-%d tells <a href=#x>a thing</a> at some length, as prose does.</p>", i)
		},
		"mixed":           func(i int) string { return fmt.Sprintf("loose words <b>item-%d</b> and more<div>item-%d</div>", i, i) },
		"boxes in a line": func(i int) string { return fmt.Sprintf("<div style='display:inline'>item-%d </div><h3>Head</h3>", i) },
		"lists in lists": func(i int) string {
			return fmt.Sprintf("<ul><li>item-%d<ul><li><a href=/%d>one</a><li><a href=/t%d>two</a></ul></ul>", i, i, i)
		},
		"with empty boxes": func(i int) string {
			return fmt.Sprintf("<div></div><div hidden>no</div><section><button>item-%d</button></section>", i)
		},
	}
	for name, of := range item {
		t.Run(name, func(t *testing.T) {
			const items = 130
			var b strings.Builder
			b.WriteString("<title>Long</title><main>")
			for i := range items {
				b.WriteString(of(i))
			}
			b.WriteString("</main><footer>The end</footer>")
			s := browsertest.Page(t, b.String())
			all, open, read := "", []string{""}, map[string]bool{}
			for len(open) > 0 && len(read) < 60 {
				after := open[0]
				open = open[1:]
				if read[after] {
					continue
				}
				read[after] = true
				text := snap(t, s, browser.Query{After: after, Budget: 3000})
				all += text + "\n"
				for _, m := range regexp.MustCompile(`\(after=(\w+)\)`).FindAllStringSubmatch(text, -1) {
					open = append(open, m[1])
				}
			}
			for i := range items {
				if !regexp.MustCompile(fmt.Sprintf(`item-%d\b`, i)).MatchString(all) {
					t.Fatalf("item-%d is in none of %d views:\n%.3000s", i, len(read), all)
				}
			}
			if !strings.Contains(all, "The end") {
				t.Error("the end is missing")
			}
		})
	}
}
