package browser_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func click(t *testing.T, s *browser.Session, ref string) browser.Report {
	t.Helper()
	r, err := s.Click(context.Background(), browser.Click{Target: browser.Target{Ref: ref}})
	if err != nil {
		t.Fatalf("click %s: %v", ref, err)
	}
	return r
}

func says(t *testing.T, r browser.Report, want string) {
	t.Helper()
	if got := r.Did + "\n" + strings.Join(r.Changes, "\n"); !strings.Contains(got, want) {
		t.Errorf("report does not say %q:\n%s", want, got)
	}
}

func fails(t *testing.T, err error, code browser.Code, words string) {
	t.Helper()
	var p *browser.Problem
	if !errors.As(err, &p) || p.Code != code || !strings.Contains(p.Message, words) {
		t.Errorf("got %v, want %s with %q", err, code, words)
	}
}

func TestClickTellsWhatChangedWithRefs(t *testing.T) {
	s := browsertest.Page(t, `<button onclick="d.insertAdjacentHTML('beforeend','<p role=alert>Saved</p><button>Undo</button>')">Save</button><div id=d></div>`)
	snap(t, s, browser.Query{})
	r := click(t, s, "e1")
	says(t, r, `Clicked button "Save" e1`)
	says(t, r, `Saved`)
	says(t, r, `+ button "Undo" [ref=e2]`)
}

func TestClickThatDoesNothingSaysSo(t *testing.T) {
	s := browsertest.Page(t, `<button>Idle</button>`)
	snap(t, s, browser.Query{})
	says(t, click(t, s, "e1"), "no visible change")
}

func TestClickRefusesWhatItWouldNotReach(t *testing.T) {
	s := browsertest.Page(t, `<button>Order</button><button disabled>Off</button><div style="position:fixed;inset:0;background:#0008">We use cookies <button onclick="this.parentNode.remove()">Accept</button></div>`)
	ctx := context.Background()
	snap(t, s, browser.Query{})
	_, err := s.Click(ctx, browser.Click{Target: browser.Target{Ref: "e1"}})
	fails(t, err, browser.Covered, `holds button "Accept" [ref=e3]`)
	_, err = s.Click(ctx, browser.Click{Target: browser.Target{Ref: "e2"}})
	fails(t, err, browser.NotInteractable, "disabled")
	click(t, s, "e3")
	click(t, s, "e1")
}

func TestClickRefusesARecycledElement(t *testing.T) {
	s := browsertest.Page(t, `<ul id=l><li><button>Delete alpha</button></ul><button onclick="l.querySelector('button').textContent='Delete omega'">Swap</button>`)
	snap(t, s, browser.Query{})
	click(t, s, "e2")
	_, err := s.Click(context.Background(), browser.Click{Target: browser.Target{Ref: "e1"}})
	fails(t, err, browser.Stale, `was button "Delete alpha", now it is button "Delete omega" e3`)
}

func TestRefsOfAnEarlierPageAreRefused(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<a href="/two">Next</a>`, "/two": `<title>Two</title><button>Danger</button>`})
	s := browsertest.Session(t)
	browsertest.Open(t, s, site.URL)
	snap(t, s, browser.Query{})
	r := click(t, s, "e1")
	says(t, r, `page changed: /two "Two"`)
	if got := snap(t, s, browser.Query{}); !strings.Contains(got, "[ref=e2]") {
		t.Errorf("refs begin anew on a new page:\n%s", got)
	}
	_, err := s.Click(context.Background(), browser.Click{Target: browser.Target{Ref: "e1"}})
	fails(t, err, browser.Stale, "earlier page")
	back, err := s.History(context.Background(), "back")
	if err != nil {
		t.Fatal(err)
	}
	says(t, back, "Went back to "+site.URL)
	snap(t, s, browser.Query{})
}

func TestClickByTextNamesTheCandidates(t *testing.T) {
	s := browsertest.Page(t, `<table><tr><td>A<td><button>Delete</button></tr><tr><td>B<td><button>Delete</button></tr></table><button onclick="this.textContent='done'">Only one</button>`)
	ctx := context.Background()
	_, err := s.Click(ctx, browser.Click{Target: browser.Target{Text: "delete"}})
	fails(t, err, browser.Ambiguous, `[ref=e2]`)
	r, err := s.Click(ctx, browser.Click{Target: browser.Target{Text: "only"}})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, "done")
	_, err = s.Click(ctx, browser.Click{Target: browser.Target{Text: "nowhere"}})
	fails(t, err, browser.NotFound, "nothing on the page says")
}

func TestNewTabsAreFollowed(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<a href="/b" target=_blank>Open</a>`, "/b": `<title>Second</title>hello`})
	s := browsertest.Session(t)
	browsertest.Open(t, s, site.URL)
	snap(t, s, browser.Query{})
	r := click(t, s, "e1")
	says(t, r, `new tab t2 "Second"`)
	if got := snap(t, s, browser.Query{}); !strings.Contains(got, "hello") {
		t.Errorf("the new tab is not current:\n%s", got)
	}
	if tabs := s.Tabs(context.Background()); len(tabs) != 2 || !tabs[1].Current || tabs[1].Title != "Second" {
		t.Errorf("tabs %+v", tabs)
	}
	if _, cur, err := s.CloseTab(context.Background(), "t2"); err != nil || cur != "t1" {
		t.Errorf("close: %q %v", cur, err)
	}
}

func TestTypeWorksOnFieldsMasksAndEditors(t *testing.T) {
	s := browsertest.Page(t, `<input aria-label=Plain value=old><input aria-label=Mask id=m><div contenteditable aria-label=Rich><p>old</p></div><input type=date aria-label=Day><input maxlength=3 aria-label=Short>
<script>let d='';m.addEventListener('keydown',e=>{if(/^\d$/.test(e.key)){d+=e.key;e.preventDefault();m.value=d.replace(/(.{4})(?=.)/g,'$1 ')}})</script>`)
	ctx := context.Background()
	snap(t, s, browser.Query{})
	for _, c := range []struct{ ref, text, want string }{
		{"e1", "new text", `value now "new text"`},
		{"e2", "12345678", `value now "1234 5678"`},
		{"e3", "line one", `value now "line one"`},
		{"e4", "2026-01-31", `value now "2026-01-31"`},
		{"e5", "abcdef", `value now "abc", which differs`},
	} {
		r, err := s.Type(ctx, browser.Typing{Target: browser.Target{Ref: c.ref}, Text: c.text})
		if err != nil {
			t.Errorf("type into %s: %v", c.ref, err)
			continue
		}
		says(t, r, c.want)
	}
	_, err := s.Type(ctx, browser.Typing{Target: browser.Target{Ref: "e4"}, Text: "tomorrow"})
	fails(t, err, browser.InvalidRequest, "2026-01-31")
}

func TestTypeAndSubmitGoesToTheNextPage(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<form action="/found"><input name=q aria-label=Search></form>`, "/found": `<title>Found</title>`})
	s := browsertest.Session(t)
	browsertest.Open(t, s, site.URL)
	snap(t, s, browser.Query{})
	r, err := s.Type(context.Background(), browser.Typing{Target: browser.Target{Ref: "e1"}, Text: "go fer", Submit: true})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, `page changed: /found?q=go+fer "Found"`)
}

func TestFillTellsTheOutcomeOfEachField(t *testing.T) {
	s := browsertest.Page(t, `<form><input aria-label=Name><label><input type=checkbox>News</label><select aria-label=Zone><option>UTC<option>CET</select><input disabled aria-label=Off></form>`)
	snap(t, s, browser.Query{})
	r, err := s.Fill(context.Background(), []browser.Field{{"e1", "Ann"}, {"e2", "true"}, {"e3", "CET"}, {"e4", "x"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Filled 3 of 4", `value now "Ann"`, "checked", `value now "CET"`, "e4 failed, not_interactable"} {
		says(t, r, want)
	}
}

func TestWordsThatGoAreToldWhenNothingComes(t *testing.T) {
	for what, script := range map[string]string{
		"the text of an element":  "o.textContent=''",
		"the data of a text node": "o.firstChild.data=''",
	} {
		s := browsertest.Page(t, `<button onclick="`+script+`">Close</button><p id=o>Saved as draft 88</p>`)
		snap(t, s, browser.Query{})
		r := click(t, s, "e1")
		if !slices.Contains(r.Changes, `gone: "Saved as draft 88"`) {
			t.Errorf("%s: got %q", what, r.Changes)
		}
	}
	s := browsertest.Page(t, `<button onclick="o.textContent='New'">Close</button><p id=o>Old</p>`)
	snap(t, s, browser.Query{})
	if r := click(t, s, "e1"); len(r.Changes) != 1 || strings.Contains(r.Changes[0], "Old") {
		t.Errorf("words in their place: got %q", r.Changes)
	}
}

func TestABoxThatStaysAsItWasFailsAndIsNotSent(t *testing.T) {
	s := browsertest.Page(t, `<form onsubmit="document.title='sent';event.preventDefault()"><input aria-label=Name onchange="n.textContent='kept'"><p id=n></p><label><input type=checkbox onclick="event.preventDefault()">Agree</label><button>Order</button></form>`)
	snap(t, s, browser.Query{})
	r, err := s.Fill(context.Background(), []browser.Field{{"e1", "Ann"}, {"e2", "true"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Filled 1 of 2", `e2 failed, not_interactable: checkbox "Agree" e2 was pressed and is off as before`, "kept", "not submitted"} {
		says(t, r, want)
	}
}

func TestDialogsEndTheCallAndAreAnswered(t *testing.T) {
	s := browsertest.Page(t, `<button onclick="this.textContent=confirm('Sure?')?'yes':'no'">Ask</button>`)
	ctx := context.Background()
	snap(t, s, browser.Query{})
	says(t, click(t, s, "e1"), `confirm "Sure?"`)
	_, err := s.Snapshot(ctx, browser.Query{})
	fails(t, err, browser.DialogOpen, `confirm "Sure?"`)
	if _, err := s.Dialog(ctx, true, ""); err != nil {
		t.Fatal(err)
	}
	if got := snap(t, s, browser.Query{}); !strings.Contains(got, `button "yes"`) {
		t.Errorf("the answer did not arrive:\n%s", got)
	}
}

func TestCancelEndsEveryWaitAtOnce(t *testing.T) {
	s := browsertest.Page(t, `<button onclick="for(;;){}">Spin</button>`)
	snap(t, s, browser.Query{})
	for name, call := range map[string]func(context.Context) error{
		"endless script": func(ctx context.Context) error {
			_, err := s.Click(ctx, browser.Click{Target: browser.Target{Ref: "e1"}})
			return err
		},
		"endless eval": func(ctx context.Context) error { _, err := s.Eval(ctx, "for(;;){}", ""); return err },
		"wait":         func(ctx context.Context) error { _, err := s.Wait(ctx, browser.Await{Text: "never"}); return err },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		began := time.Now()
		err := call(ctx)
		cancel()
		if took := time.Since(began); took > time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: ended after %v with %v", name, took, err)
		}
	}
	if got := snap(t, s, browser.Query{}); !strings.Contains(got, "Spin") {
		t.Errorf("the page does not answer afterwards:\n%s", got)
	}
}

func TestOpenTellsStatusAndUnreachable(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": "hi"})
	s := browsertest.Session(t)
	ctx := context.Background()
	r, err := s.Open(ctx, site.URL+"/nothing", false)
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, "HTTP 404")
	_, err = s.Open(ctx, "http://127.0.0.1:1/", false)
	var p *browser.Problem
	if !errors.As(err, &p) || p.Code != browser.Unreachable {
		t.Errorf("got %v", err)
	}
}

func TestReadGivesMarkdownWithAbsoluteLinks(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<title>T</title><nav><a href=/x>Menu</a></nav><main><h1>Head</h1><p>See <a href="/doc">the doc</a> and <img src="/p.png" alt=Pic>.</p><table><tr><th>A<th>B</tr><tr><td>1<td>2</tr></table></main>`})
	s := browsertest.Session(t)
	browsertest.Open(t, s, site.URL)
	a, err := s.Read(context.Background(), "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Head", "[the doc](" + site.URL + "/doc)", "![Pic](" + site.URL + "/p.png)", "| A | B |"} {
		if !strings.Contains(a.Markdown, want) {
			t.Errorf("no %q in\n%s", want, a.Markdown)
		}
	}
	if strings.Contains(a.Markdown, "Menu") {
		t.Errorf("the menu is in the content:\n%s", a.Markdown)
	}
}

func TestFactsTellWhatAPressWouldSend(t *testing.T) {
	s := browsertest.Page(t, `<form action="https://example.org/in" method=post><input name=u aria-label=User value=ann><input type=password aria-label=Pass value=hush><button>Log in</button></form><a href="https://example.com/x">Away</a>`)
	ctx := context.Background()
	snap(t, s, browser.Query{})
	f, err := s.Facts(ctx, browser.Target{Ref: "e3"}, false)
	if err != nil || !f.Submit || f.Action != "https://example.org/in" || f.Method != "post" || len(f.Fields) != 2 || f.Fields[0].Value != "ann" || !f.Fields[1].Secret || f.Fields[1].Value != "" {
		t.Errorf("%+v %v", f, err)
	}
	if f, err = s.Facts(ctx, browser.Target{Ref: "e4"}, false); err != nil || f.Href != "https://example.com/x" {
		t.Errorf("%+v %v", f, err)
	}
	if f, err = s.Facts(ctx, browser.Target{Ref: "e1"}, true); err != nil || !f.Submit {
		t.Errorf("%+v %v", f, err)
	}
}

func TestANameThatCountsIsToldAndKeepsItsRef(t *testing.T) {
	s := browsertest.Page(t, `<button onclick="this.textContent='Count '+(++n)">Count 0</button><script>n=0</script>`)
	snap(t, s, browser.Query{})
	says(t, click(t, s, "e1"), `~ now button "Count 1" [ref=e1]`)
	says(t, click(t, s, "e1"), `~ now button "Count 2" [ref=e1]`)
}

func TestWhatIsJustGoingAwayIsWaitedFor(t *testing.T) {
	s := browsertest.Page(t, `<button onclick="this.textContent='Sent'">Send</button><div id=c style="position:fixed;inset:0;background:#eee;transition:opacity .6s" ontransitionend="this.remove()">Closing</div>
<script>requestAnimationFrame(()=>{getComputedStyle(c).opacity;c.style.opacity=0.02})</script>`)
	// It has begun to go once its first frame was drawn.
	if _, err := s.Eval(context.Background(), "new Promise(d=>{const f=()=>!document.contains(c)||getComputedStyle(c).opacity<1?d(1):requestAnimationFrame(f);f()})", ""); err != nil {
		t.Fatal(err)
	}
	r, err := s.Click(context.Background(), browser.Click{Target: browser.Target{Text: "Send"}})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, "Sent")
}

func TestFillSendsTheFormWithItsOwnButton(t *testing.T) {
	s := browsertest.Page(t, `<form onsubmit="event.preventDefault();o.textContent='sent by '+(event.submitter||{}).textContent"><input aria-label=Name><textarea aria-label=Notes></textarea><button type=button>Other</button><button>Order</button></form><p id=o></p>`)
	snap(t, s, browser.Query{})
	r, err := s.Fill(context.Background(), []browser.Field{{"e1", "Ann"}, {"e2", "two\nlines"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, `Filled 2 of 2 fields, clicked button "Order"`)
	says(t, r, "sent by Order")
}

func TestWhereThePageScrolledToIsToldOnceItStands(t *testing.T) {
	s := browsertest.Page(t, `<style>html{scroll-behavior:smooth}</style><body style="height:4000px"><a href="#far">Far</a><p id=far style="position:absolute;top:2000px">There</p>`)
	snap(t, s, browser.Query{})
	at := func() string {
		raw, err := s.Eval(context.Background(), "Math.round(scrollY)+' px above'", "")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Trim(string(raw), `"`)
	}
	click(t, s, "e1")
	if _, err := s.Press(context.Background(), "End", ""); err != nil {
		t.Fatal(err)
	}
	r, err := s.Scroll(context.Background(), browser.Scroll{Direction: "up"})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, at())
}

func TestADoubleClickOnALinkOfAPageThatAsksLeavesNoDialogBehind(t *testing.T) {
	site := browsertest.Site(t, map[string]string{
		"/":     `<input aria-label=Draft><a href="/away">Leave</a><script>addEventListener('beforeunload',e=>{e.preventDefault();e.returnValue=1})</script>`,
		"/away": `<title>Away</title><p>Gone`,
	})
	ctx := context.Background()
	for range 5 {
		s := browsertest.Session(t)
		browsertest.Open(t, s, site.URL)
		snap(t, s, browser.Query{})
		if _, err := s.Type(ctx, browser.Typing{Target: browser.Target{Ref: "e1"}, Text: "x"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Click(ctx, browser.Click{Target: browser.Target{Ref: "e2"}, Count: 2}); err != nil {
			t.Fatal(err)
		}
		for range 3 { // each press may have asked
			if _, err := s.Dialog(ctx, true, ""); err != nil {
				break
			}
		}
		if got := snap(t, s, browser.Query{}); !strings.Contains(got, "Gone") {
			t.Errorf("the page was not left:\n%s", got)
		}
		s.Close()
	}
}

func TestADragWhosePressChangesThePageSaysSo(t *testing.T) {
	s := browsertest.Page(t, `<ul id=l><li onmousedown="l.hidden=true;o.textContent='closed'" tabindex=0>First</li><li tabindex=0>Second</li></ul><p id=o>open</p>`)
	snap(t, s, browser.Query{})
	r, err := s.Drag(context.Background(), "e1", "e2", nil)
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, "not dragged")
	says(t, r, "closed")
}
