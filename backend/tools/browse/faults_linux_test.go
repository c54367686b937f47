package browse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
	"gofer/backend/tool"
	"gofer/backend/tools/browse"
)

// The matrix: every call of every tool, under every fault, ends in time with
// the right class, and the next call works. It takes minutes, so that all of it
// is run when GOFER_LONG is set; without, every tool meets one fault and every
// fault some of the tools, turn by turn.

// long tells whether the whole matrix is run.
var long = os.Getenv("GOFER_LONG") != ""

// share is the part of the calls that is tried at a turn.
func share(all []call, turn, turns int) []call {
	if long {
		return all
	}
	var out []call
	for i, c := range all {
		if i%turns == turn {
			out = append(out, c)
		}
	}
	return out
}

const faultyPage = `<title>Page</title><a href="/next">Next</a><button>Press</button><form action="/next"><input name=q aria-label=Name></form>
<select aria-label=Zone><option>UTC<option>CET</select><input type=file aria-label=File><ul><li>one<li>two</ul>`

// faulty serves faultyPage and what hangs.
func faulty(t *testing.T) *httptest.Server {
	stop := make(chan struct{})
	hang := func(r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "no-store")
		switch r.URL.Path {
		case "/hang":
			hang(r)
		case "/headers", "/half":
			if r.URL.Path == "/half" {
				fmt.Fprint(w, faultyPage)
			}
			w.(http.Flusher).Flush()
			hang(r)
		case "/picture":
			w.Header().Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><circle r="9" cx="20" cy="20"/><text y="60">Press</text></svg>`)
		case "/next":
			fmt.Fprint(w, `<title>After</title>Next page`)
		default:
			fmt.Fprint(w, faultyPage)
		}
	}))
	t.Cleanup(func() { close(stop); site.Close() })
	return site
}

// fault is one way a page can be in when a call comes.
type fault struct {
	name   string
	script string // brings it about and returns at once
	dialog bool   // it stays until it is answered
	// wants are the classes a call may end in, by what it needs; "" is success.
	wants map[kind][]string
	but   map[string][]string // by tool, where it differs
}

var dialogs = map[kind][]string{page: {"dialog_open"}, leaves: {"dialog_open"}, past: {"", "dialog_open"}}

// hold keeps the page busy with what no order can end.
const hold = `setTimeout(()=>{const x=new XMLHttpRequest();x.open('GET','/hang',false);x.send()},0)`

var faults = []fault{
	{"none", `1`, false, map[kind][]string{page: {""}, leaves: {""}, past: {""}}, nil},
	{"endless script", `setTimeout(()=>{for(;;){}},0)`, false, map[kind][]string{page: {"timeout"}, leaves: {""}, past: {""}}, nil},
	{"request that holds the page", hold, false, map[kind][]string{page: {"timeout"}, leaves: {""}, past: {""}}, nil},
	{"load without an answer", `setTimeout(()=>{location.href='/hang'},0)`, false, map[kind][]string{page: {""}, leaves: {""}, past: {""}}, map[string][]string{"browser_wait": {"timeout"}}},
	{"load without an end", `setTimeout(()=>{location.href='/half'},0)`, false, map[kind][]string{page: {"", "stale"}, leaves: {"", "not_found"}, past: {""}}, nil},
	{"document that is no HTML", `location.href='/picture'`, false, map[kind][]string{page: {"", "stale", "not_found", "invalid_request"}, leaves: {"", "not_found"}, past: {""}}, nil},
	{"alert", `setTimeout(()=>alert('Stop'),0)`, true, dialogs, nil},
	{"confirm", `setTimeout(()=>confirm('Stop'),0)`, true, dialogs, nil},
	{"prompt", `setTimeout(()=>prompt('Stop'),0)`, true, dialogs, nil},
	{"question before leaving", `addEventListener('beforeunload',e=>e.preventDefault());setTimeout(()=>{location.href='/next'},0)`, true, dialogs, nil},
}

// limit is of actions; the shortest there is would be two seconds.
const limit = 3 * time.Second

func faultBrowser(t *testing.T) *browser.Browser {
	return browsertest.Own(t, browser.Options{Limit: limit})
}

// bench is a session on faultyPage, with its tools.
type bench struct {
	s   *browser.Session
	box *tool.Box
	fix *strings.Replacer
}

func newBench(b *browser.Browser, site, dir, name string) *bench {
	s := b.Session(name)
	x := &bench{s: s, fix: strings.NewReplacer("SITE", site, "FILE", filepath.Join(dir, "file.txt"))}
	x.box = tool.NewBox(browse.AllWith(func(context.Context) (*browser.Session, error) { return s, nil }, browse.Options{Files: folder(dir)})...)
	return x
}

// ready shows faultyPage, with pages before and after it for calls that go there.
func (x *bench) ready(c call) error {
	list := []call{{"browser_open", `{"url":"SITE/second"}`, 0}, {"browser_snapshot", `{}`, 0}}
	if strings.Contains(c.args, `"back"`) || strings.Contains(c.args, `"forward"`) {
		list = []call{{"browser_open", `{"url":"SITE/first"}`, 0}, list[0], {"browser_open", `{"url":"SITE/third"}`, 0}, {"browser_history", `{"go":"back"}`, 0}, list[1]}
	}
	for _, c := range list {
		if r, err := x.run(c); err != nil || r.Failed {
			return fmt.Errorf("get ready: %s: %s %w", c.tool, r.Text, err)
		}
	}
	return nil
}

// strike brings a fault about. The press before it gives the page the leave it
// needs to ask before it is left.
func (x *bench) strike(script string) error {
	raw, _ := json.Marshal(map[string]string{"expression": script})
	for _, c := range []call{{tool: "browser_click", args: `{"text":"Press"}`}, {tool: "browser_eval", args: string(raw)}} {
		if r, err := x.run(c); err != nil || r.Failed {
			return fmt.Errorf("bring the fault about: %s %w", r.Text, err)
		}
	}
	time.Sleep(150 * time.Millisecond) // for it to take hold; nothing tells of it
	return nil
}

func (x *bench) run(c call) (tool.Result, error) {
	t, ok := x.box.Get(c.tool)
	if !ok {
		return tool.Result{}, fmt.Errorf("there is no tool %s", c.tool)
	}
	return t.Run(context.Background(), json.RawMessage(x.fix.Replace(c.args)))
}

// class is the error class of a result, "" for success.
func class(r tool.Result) string {
	if !r.Failed {
		return ""
	}
	for line := range strings.SplitSeq(r.Text, "\n") { // notices come before it
		if head, _, ok := strings.Cut(line, ": "); ok && !strings.Contains(head, " ") {
			return head
		}
	}
	return r.Text
}

// nextWorks shows that the session is of use after a fault. With held the
// fault is still there, as the call before did not touch the page.
func (x *bench) nextWorks(held bool) error {
	for range 3 { // answering one dialog may bring up the next
		r, err := x.run(call{tool: "browser_snapshot", args: `{}`})
		switch {
		case err != nil:
			return err
		case class(r) == "dialog_open":
			if r, err := x.run(call{tool: "browser_dialog", args: `{"accept":true}`}); err != nil || r.Failed {
				return fmt.Errorf("browser_dialog: %s %w", r.Text, err)
			}
		case held && (class(r) == "timeout" || class(r) == "browser_gone"):
			held = false
		case class(r) == "no_tab":
			if r, err := x.run(call{tool: "browser_open", args: `{"url":"SITE/next"}`}); err != nil || r.Failed {
				return fmt.Errorf("browser_open: %s %w", r.Text, err)
			}
		case r.Failed:
			return fmt.Errorf("browser_snapshot: %s", r.Text)
		case strings.Contains(r.Text, "Press"), strings.Contains(r.Text, "Next page"), strings.Contains(r.Text, "/picture"):
			return nil
		default:
			return fmt.Errorf("browser_snapshot shows neither page: %s", r.Text)
		}
	}
	return fmt.Errorf("dialogs without end")
}

// together runs a test beside others; the long form has the machine for itself.
func together(t *testing.T) {
	if !long {
		t.Parallel()
	}
}

// slack is what a call may take past its limit: a second, but more on a machine
// that is busy with other tests, as in the short form, or as GOFER_SLACK says.
var slack = func() time.Duration {
	d, err := time.ParseDuration(os.Getenv("GOFER_SLACK"))
	switch {
	case err == nil:
		return d
	case long:
		return time.Second
	}
	return 3 * time.Second
}()

// limitOf is how long a call may take.
func limitOf(c call) time.Duration {
	switch {
	case c.kind == leaves, c.tool == "browser_pdf", c.tool == "browser_downloads":
		return 3 * limit
	case c.tool == "browser_fill", c.tool == "browser_screenshot", c.tool == "browser_drag":
		return 2 * limit
	}
	return limit
}

func TestEveryToolHasACaseInTheFaultMatrix(t *testing.T) {
	known := map[string]bool{}
	for _, c := range calls {
		known[c.tool] = true
	}
	for _, x := range browse.AllWith(nil, browse.Options{Files: folder("")}) {
		if !known[x.Name] {
			t.Errorf("%s has no case in calls", x.Name)
		}
	}
}

// casesOf leaves out the calls of tools that are not there.
func casesOf() []call {
	box := tool.NewBox(browse.AllWith(nil, browse.Options{Files: folder("")})...)
	return slices.DeleteFunc(slices.Clone(calls), func(c call) bool { _, ok := box.Get(c.tool); return !ok })
}

func faultDir(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEveryCallEndsInTimeWithTheTruthUnderEveryFault(t *testing.T) {
	together(t)
	site, dir, b := faulty(t), faultDir(t), faultBrowser(t)
	for turn, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			cases := share(casesOf(), turn, len(faults))
			if f.dialog {
				underDialog(t, newBench(b, site.URL, dir, f.name), f, cases)
				return
			}
			var work sync.WaitGroup
			room := make(chan struct{}, 2)
			for i, c := range cases {
				room <- struct{}{}
				work.Go(func() {
					defer func() { <-room }()
					x := newBench(b, site.URL, dir, fmt.Sprintf("%s-%d", f.name, i))
					defer x.s.Close()
					err := x.ready(c)
					if err == nil {
						err = x.strike(f.script)
					}
					if err == nil {
						err = errors.Join(x.under(f, c), x.nextWorks(f.wants[page][0] == "timeout" && c.kind == past))
					}
					if err != nil {
						t.Errorf("%s %s: %v", c.tool, c.args, err)
					}
				})
			}
			work.Wait()
		})
	}
}

// underDialog makes all calls in one session, since a dialog stays.
func underDialog(t *testing.T, x *bench, f fault, cases []call) {
	defer x.s.Close()
	for _, c := range cases {
		if r, err := x.run(call{tool: "browser_snapshot", args: `{}`}); err != nil || class(r) != "dialog_open" {
			if err := errors.Join(x.ready(call{}), x.strike(f.script)); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.under(f, c); err != nil {
			t.Errorf("%s %s: %v", c.tool, c.args, err)
		}
	}
	if err := x.nextWorks(false); err != nil {
		t.Error(err)
	}
}

// under makes a call under a fault.
func (x *bench) under(f fault, c call) error {
	began := time.Now()
	r, err := x.run(c)
	took := time.Since(began)
	if err != nil {
		return err
	}
	wants := f.wants[c.kind]
	if c.tool == "browser_dialog" && !f.dialog {
		wants = []string{"not_found"}
	}
	if but := f.but[c.tool]; but != nil {
		wants = but
	}
	if os.Getenv("FAULTS_SHOW") != "" {
		fmt.Printf("%-24s %-60s %6d ms %.210q\n", f.name, c.tool+" "+c.args, took.Milliseconds(), r.Text)
	}
	if got := class(r); !slices.Contains(wants, got) {
		err = fmt.Errorf("class %q, want one of %q: %s", got, wants, r.Text)
	}
	if most := limitOf(c) + slack; took > most {
		err = errors.Join(err, fmt.Errorf("took %v, at most %v", took, most))
	}
	return err
}

// Calls that themselves lead to a page that never comes.
func TestCallsThatLeadToALoadThatHangsEndInTime(t *testing.T) {
	together(t)
	site, dir, b := faulty(t), faultDir(t), faultBrowser(t)
	const leading = `<title>Leading</title><a href="TO">Press</a><form action="TO"><input name=q aria-label=Name></form><button onclick="location.href='TO'">Go</button><a href="TO" target=_blank>Aside</a>`
	lead := browsertest.Site(t, map[string]string{"/hang": strings.ReplaceAll(leading, "TO", site.URL+"/hang"), "/headers": strings.ReplaceAll(leading, "TO", site.URL+"/headers")})
	var work sync.WaitGroup
	room := make(chan struct{}, 2)
	for turn, f := range [][2]string{{"/hang", "timeout"}, {"/headers", ""}} {
		path, want := f[0], f[1]
		for i, c := range share([]call{
			{"browser_open", `{"url":"SITE` + path + `"}`, leaves},
			{"browser_open", `{"url":"SITE` + path + `","new_tab":true}`, leaves},
			{"browser_tabs", `{"action":"open","url":"SITE` + path + `"}`, leaves},
			{"browser_click", `{"text":"Press"}`, leaves},
			{"browser_click", `{"text":"Go"}`, leaves},
			{"browser_click", `{"text":"Aside"}`, leaves},
			{"browser_type", `{"ref":"e2","text":"x","submit":true}`, leaves},
			{"browser_fill", `{"fields":[{"ref":"e2","value":"x"}],"submit":true}`, leaves},
			{"browser_press", `{"key":"Enter","ref":"e1"}`, leaves},
			{"browser_eval", `{"expression":"location.href='SITE` + path + `'"}`, leaves},
		}, turn, 3) {
			room <- struct{}{}
			work.Go(func() {
				defer func() { <-room }()
				x := newBench(b, site.URL, dir, fmt.Sprint(path, i))
				defer x.s.Close()
				for _, c := range []call{{tool: "browser_open", args: `{"url":"` + lead.URL + path + `"}`}, {tool: "browser_snapshot", args: `{}`}} {
					if r, err := x.run(c); err != nil || r.Failed {
						t.Error(r.Text, err)
						return
					}
				}
				f := fault{name: "leads to " + path, wants: map[kind][]string{leaves: {want, ""}}}
				if err := x.under(f, c); err != nil {
					t.Errorf("%s %s: %v", c.tool, c.args, err)
				}
				r, err := x.run(call{tool: "browser_snapshot", args: `{}`})
				if err != nil || r.Failed {
					t.Errorf("%s %s: the next call: %s %v", c.tool, c.args, r.Text, err)
				}
				if os.Getenv("FAULTS_SHOW") != "" {
					fmt.Printf("     then %s\n", strings.ReplaceAll(r.Text, "\n", "|"))
				}
			})
		}
	}
	work.Wait()
}
