package browse_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
	"gofer/backend/tool"
	"gofer/backend/tools/browse"
)

// withRef are calls on a ref, REF, for every tool that takes one.
var withRef = map[string][]string{
	"browser_snapshot":    {`{"ref":"REF"}`, `{"after":"REF"}`},
	"browser_read":        {`{"ref":"REF"}`},
	"browser_extract":     {`{"rows":"REF","fields":{"a":"text"}}`},
	"browser_click":       {`{"ref":"REF"}`},
	"browser_type":        {`{"ref":"REF","text":"x"}`, `{"ref":"REF","text":"x","keys":true}`},
	"browser_fill":        {`{"fields":[{"ref":"REF","value":"x"}]}`},
	"browser_select":      {`{"ref":"REF","values":["x"]}`},
	"browser_press":       {`{"ref":"REF","key":"a"}`},
	"browser_hover":       {`{"ref":"REF"}`},
	"browser_drag":        {`{"from":"REF","to":"e1"}`, `{"from":"e1","to":"REF"}`},
	"browser_scroll":      {`{"ref":"REF"}`, `{"ref":"REF","direction":"down"}`},
	"browser_select_text": {`{"ref":"REF"}`},
	"browser_screenshot":  {`{"ref":"REF"}`},
	"browser_upload":      {`{"ref":"REF","paths":["FILE"]}`},
	"browser_eval":        {`{"ref":"REF","expression":"el=>el.tagName"}`},
}

// lab is a session with all tools and a file.
type lab struct {
	t   *testing.T
	s   *browser.Session
	box *tool.Box
	dir string
}

func newLab(t *testing.T, html string) *lab {
	s := browsertest.Page(t, html)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &lab{t, s, tool.NewBox(browse.AllWith(func(context.Context) (*browser.Session, error) { return s, nil }, browse.Options{Files: folder(dir)})...), dir}
}

func (l *lab) run(name, args string) tool.Result {
	l.t.Helper()
	return run(l.t, l.box, name, strings.ReplaceAll(args, "FILE", filepath.Join(l.dir, "file.txt")))
}

// ends runs a call that is to fail in a class, with words and a next step.
func (l *lab) ends(name, args, want, words string) {
	l.t.Helper()
	r := l.run(name, args)
	if got, _, _ := strings.Cut(r.Text, ": "); !r.Failed || got != want || !strings.Contains(r.Text, words) {
		l.t.Errorf("%s %s: got %q (failed: %v), want %s with %q", name, args, r.Text, r.Failed, want, words)
	}
}

// tick changes the page, so that a failure is no repeated one.
func (l *lab) tick() {
	l.t.Helper()
	l.run("browser_eval", `{"expression":"document.body.dataset.tick=Math.random()"}`)
}

// refTools are the tools whose schema names a ref, with their calls.
func refTools(t *testing.T, l *lab) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, x := range l.box.All() {
		takes := strings.Contains(string(x.Schema), `"ref"`) || strings.Contains(string(x.Schema), `"from"`)
		switch list := withRef[x.Name]; {
		case list != nil:
			out[x.Name] = list
		case takes && x.Name != "browser_wait": // which waits for refs to come and go
			t.Errorf("%s takes a ref and has no call in withRef", x.Name)
		}
	}
	return out
}

func TestARefThatIsNoRefOrNeverWasOrIsGoneIsRefusedByEveryTool(t *testing.T) {
	l := newLab(t, `<button>First</button><button id=b>Second</button><input id=i aria-label=Name>`)
	l.run("browser_snapshot", `{}`)
	l.run("browser_eval", `{"expression":"b.remove()"}`)
	for name, list := range refTools(t, l) {
		for _, args := range list {
			l.tick()
			bad := func(ref string) string { return strings.ReplaceAll(args, "REF", ref) }
			if name != "browser_extract" && name != "browser_drag" { // rows may be a selector too, ends of a drag a text
				l.ends(name, bad("Second"), "invalid_request", "is no ref")
			}
			if !strings.Contains(args, "after") { // its places are no elements of the list
				l.ends(name, bad("e2"), "detached", "no longer on the page")
			}
			l.ends(name, bad("e99"), "stale", "")
			l.ends(name, bad("f7e1"), "detached", "frame")
		}
	}
}

func TestATargetThatFailedTwiceOnAnUnchangedPageIsARepeatedFailure(t *testing.T) {
	l := newLab(t, `<button>First</button><button id=b>Second</button><p id=clock>0</p><input aria-label=Name id=n>`)
	l.run("browser_snapshot", `{}`)
	l.run("browser_eval", `{"expression":"b.remove()"}`)
	for name, list := range refTools(t, l) {
		if x, _ := l.box.Get(name); x.Effect == tool.Reads || name == "browser_eval" {
			continue // looking again costs nothing
		}
		args := strings.ReplaceAll(list[0], "REF", "e2")
		fresh := func(change string) {
			t.Helper()
			l.run("browser_eval", `{"expression":"`+change+`"}`) // by the page, with no action of ours
			for range 2 {
				l.ends(name, args, "detached", "")
			}
		}
		for _, change := range []string{"clock.textContent=Math.random()", "document.body.className='x'+Math.random()", "n.value=Math.random()"} {
			fresh(change)
		}
		l.ends(name, args, "repeated_failure", "failed 3 times on an unchanged page")
		l.ends(name, args, "repeated_failure", "failed 4 times")
		fresh("clock.textContent=Math.random()")
	}
}

func TestEachWayToFailHasItsClassAndSaysWhatToDo(t *testing.T) {
	for html, cases := range map[string][][4]string{
		`<button disabled>Off</button><input disabled aria-label=Name><select disabled aria-label=Zone><option>UTC</select><button>On</button><p id=p>text</p><button style="pointer-events:none">Ghost</button>`: {
			{"browser_click", `{"ref":"e1"}`, "not_interactable", "disabled"},
			{"browser_type", `{"ref":"e2","text":"x"}`, "not_interactable", "disabled"},
			{"browser_fill", `{"fields":[{"ref":"e2","value":"x"}]}`, "not_interactable", "disabled"},
			{"browser_select", `{"ref":"e3","values":["UTC"]}`, "not_interactable", "disabled"},
			{"browser_press", `{"ref":"e1","key":"Enter"}`, "not_interactable", "focus"},
			{"browser_upload", `{"ref":"e4","paths":["FILE"]}`, "not_interactable", "did not ask for a file"},
			{"browser_click", `{"text":"Ghost"}`, "not_interactable", "takes no clicks"},
			{"browser_click", `{"text":"Nobody"}`, "not_found", `nothing on the page says "Nobody"`},
			{"browser_upload", `{"ref":"e4","paths":["/nowhere"]}`, "not_found", "there is no file"},
			{"browser_history", `{"go":"back"}`, "not_found", "no page to go back to"},
			{"browser_history", `{"go":"forward"}`, "not_found", "no page to go forward to"},
			{"browser_dialog", `{"accept":true}`, "not_found", "no dialog is open"},
			{"browser_extract", `{"rows":".no","fields":{"a":"text"}}`, "not_found", "no row matches"},
			{"browser_read", `{"part":9}`, "not_found", "the page has 1 parts"},
			{"browser_tabs", `{"action":"select","tab":"t9"}`, "no_tab", `there is no tab "t9"`},
			{"browser_tabs", `{"action":"close","tab":"t9"}`, "no_tab", `there is no tab "t9"`},
			{"browser_open", `{"url":"javascript:alert(1)"}`, "invalid_request", "javascript"},
			{"browser_open", `{"url":""}`, "invalid_request", "empty"},
			{"browser_open", `{"url":"http://127.0.0.1:1/"}`, "unreachable", "browsers do not connect to that port"},
			{"browser_tabs", `{"action":"open","url":"http://nowhere.invalid"}`, "unreachable", "no host of the name"},
		},
		`<button>Order</button><div style="position:fixed;inset:0;background:#0008">We use cookies <button>Accept</button></div>`: {
			{"browser_click", `{"ref":"e1"}`, "covered", `holds button "Accept" [ref=e2]`},
			{"browser_click", `{"text":"Order"}`, "covered", "covered by"},
			{"browser_hover", `{"ref":"e1"}`, "covered", "covered by"},
		},
		`<table><tr><td>A<td><button>Delete</button><tr><td>B<td><button>Delete</button></table>`: {
			{"browser_click", `{"text":"Delete"}`, "ambiguous", `button "Delete" [ref=e2] in "B Delete"`},
		},
		`<input type=date aria-label=Day><input aria-label=Name><select aria-label=Zone><option>UTC</select><input type=radio checked aria-label=One>`: {
			{"browser_type", `{"ref":"e1","text":"tomorrow"}`, "invalid_request", "2026"},
			{"browser_select", `{"ref":"e3","values":["Mars"]}`, "not_found", "UTC"},
			{"browser_press", `{"key":"Foo"}`, "invalid_request", `there is no key "Foo"`},
			{"browser_click", `{"ref":"e2","modifiers":["Hyper"]}`, "invalid_request", "is no modifier"},
			{"browser_find", `{"regex":"("}`, "invalid_request", "not a regular expression"},
			{"browser_eval", `{"expression":"nothing.at.all"}`, "invalid_request", "nothing is not defined"},
			{"browser_upload", `{"ref":"e2","paths":["file.txt"]}`, "invalid_request", "is not an absolute path"},
			{"browser_extract", `{"rows":"..","fields":{"a":"text"}}`, "invalid_request", "neither a ref nor a CSS selector"},
			{"browser_fill", `{"fields":[{"ref":"e4","value":"false"}]}`, "invalid_request", "radio"},
			{"browser_wait", `{"text":"never","timeout":1}`, "timeout", `the text "never" did not appear within 1 s`},
			{"browser_wait", `{"url":"/never","timeout":1}`, "timeout", "did not come to hold"},
			{"browser_wait", `{"ref":"e2","state":"gone","timeout":1}`, "timeout", "did not become gone"},
			{"browser_eval", `{"expression":"setTimeout(()=>alert('Hi'),0)"}`, "", ""},
			{"browser_snapshot", `{}`, "dialog_open", `alert "Hi"`},
		},
	} {
		l := newLab(t, html)
		l.run("browser_snapshot", `{}`)
		for _, c := range cases {
			if c[2] == "" {
				l.run(c[0], c[1])
				time.Sleep(50 * time.Millisecond) // for the dialog; nothing tells of it
				continue
			}
			if c[2] != "dialog_open" {
				l.tick()
			}
			l.ends(c[0], c[1], c[2], c[3])
			if r := l.run(c[0], c[1]); !strings.Contains(r.Text, "browser_") && !strings.Contains(r.Text, ". ") && c[2] != "invalid_request" {
				t.Errorf("%s %s does not say what to do next: %q", c[0], c[1], r.Text)
			}
		}
	}
}

func TestWithoutAPageEveryToolSaysSoOrDoesWithout(t *testing.T) {
	s := browsertest.Session(t)
	box := tool.NewBox(browse.AllWith(func(context.Context) (*browser.Session, error) { return s, nil }, browse.Options{Files: folder(t.TempDir())})...)
	for _, c := range calls {
		if _, ok := box.Get(c.tool); !ok || strings.Contains(c.args, "SITE") {
			continue
		}
		r := run(t, box, c.tool, strings.NewReplacer("FILE", "/dev/null").Replace(c.args))
		does := c.tool == "browser_close" || c.tool == "browser_tabs" && strings.Contains(c.args, "list")
		if got, _, _ := strings.Cut(r.Text, ": "); got != "no_tab" && !does {
			t.Errorf("%s %s: got %q", c.tool, c.args, r.Text)
		}
		if tabs := s.Tabs(context.Background()); len(tabs) > 0 {
			t.Fatalf("%s %s opened %+v", c.tool, c.args, tabs)
		}
	}
}

func TestACancelledCallEndsAtOnceInEveryTool(t *testing.T) {
	l := newLab(t, `<button>Press</button><input aria-label=Name>`)
	spin := func() {
		l.run("browser_eval", `{"expression":"setTimeout(()=>{for(;;){}},0)"}`)
		time.Sleep(20 * time.Millisecond) // for it to spin; nothing tells of it
	}
	for _, c := range []call{
		{"browser_snapshot", `{}`, page},
		{"browser_click", `{"text":"Press"}`, page},
		{"browser_type", `{"ref":"e2","text":"x"}`, page},
		{"browser_wait", `{"text":"never"}`, page},
		{"browser_screenshot", `{}`, page},
		{"browser_eval", `{"expression":"1"}`, page},
		{"browser_pdf", `{"save_as":"a.pdf"}`, page},
		{"browser_history", `{"go":"reload"}`, leaves},
	} {
		spin()
		x, _ := l.box.Get(c.tool)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		began := time.Now()
		_, err := x.Run(ctx, json.RawMessage(c.args))
		if took := time.Since(began); !errors.Is(err, context.Canceled) || took > 2*time.Second {
			t.Errorf("%s: ended after %v with %v", c.tool, took, err)
		}
		if c.kind == leaves { // what was begun goes on
			l.run("browser_wait", `{"text":"Press"}`)
		}
		if r := l.run("browser_snapshot", `{}`); r.Failed || !strings.Contains(r.Text, "Press") {
			t.Errorf("the call after %s: %s", c.tool, r.Text)
		}
	}
}
