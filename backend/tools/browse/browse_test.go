package browse_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
	"gofer/backend/tool"
	"gofer/backend/tools/browse"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

func box(s *browser.Session) *tool.Box {
	return tool.NewBox(browse.All(func(context.Context) (*browser.Session, error) { return s, nil })...)
}

func run(t *testing.T, b *tool.Box, name, args string) tool.Result {
	t.Helper()
	x, ok := b.Get(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	r, err := x.Run(context.Background(), json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return r
}

func claims(t *testing.T, b *tool.Box, name, args string) []tool.Claim {
	t.Helper()
	x, _ := b.Get(name)
	c, err := x.Claims(context.Background(), json.RawMessage(args))
	if err != nil {
		t.Fatalf("claims of %s: %v", name, err)
	}
	return c
}

func TestToolsReadActAndTellFailures(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/": `<title>Shop</title><label>Name <input></label><button onclick="o.textContent='Thanks'">Order</button><output id=o></output>`})
	b := box(browsertest.Session(t))
	if r := run(t, b, "browser_snapshot", `{}`); !r.Failed || !strings.HasPrefix(r.Text, "no_tab: ") || !strings.Contains(r.Text, "browser_open") {
		t.Errorf("without a page: %+v", r)
	}
	if r := run(t, b, "browser_open", `{"url":"`+site.URL+`"}`); r.Failed || !strings.Contains(r.Text, "HTTP 200") || !strings.Contains(r.Text, `"Shop"`) {
		t.Errorf("open: %+v", r)
	}
	r := run(t, b, "browser_snapshot", `{}`)
	want := "<outside from=\"" + site.URL + "/\">\npage \"Shop\"\n- textbox \"Name\" [ref=e1]\n- button \"Order\" [ref=e2]\n</outside>"
	if r.Text != want || r.Origin != site.URL+"/" {
		t.Errorf("got\n%s\nwant\n%s", r.Text, want)
	}
	if r := run(t, b, "browser_type", `{"ref":"e1","text":"Ann"}`); !strings.Contains(r.Text, `value now "Ann"`) {
		t.Errorf("type: %s", r.Text)
	}
	if r := run(t, b, "browser_click", `{"ref":"e2"}`); !strings.Contains(r.Text, "Thanks") {
		t.Errorf("click: %s", r.Text)
	}
	if r := run(t, b, "browser_click", `{"ref":"e99"}`); !r.Failed || !strings.HasPrefix(r.Text, "stale: ") || !strings.Contains(r.Text, "browser_snapshot") {
		t.Errorf("click on a wrong ref: %+v", r)
	}
	if r := run(t, b, "browser_eval", `{"expression":"({a:1})"}`); r.Text != `{"a":1}` {
		t.Errorf("eval: %s", r.Text)
	}
	if r := run(t, b, "browser_tabs", `{"action":"list"}`); r.Text != "t1: Shop "+site.URL+"/ (current)" {
		t.Errorf("tabs: %s", r.Text)
	}
	r = run(t, b, "browser_screenshot", `{}`)
	if len(r.Files) != 1 || r.Files[0].Width < 100 || len(r.Files[0].Bytes) < 1000 || !strings.Contains(r.Text, "pixels") {
		t.Errorf("screenshot: %s, %d files", r.Text, len(r.Files))
	}
}

func TestClaimsSayWhatACallIsAboutToDo(t *testing.T) {
	s := browsertest.Page(t, `<a href="https://example.com/x">Away</a><a href="/near">Near</a><form action="https://example.org/in" method=post><label>User <input value=ann></label><label>Pass <input type=password value=hush></label><button>Log in</button></form>`)
	b := box(s)
	page, _, _ := s.Page()
	run(t, b, "browser_snapshot", `{}`)
	if c := claims(t, b, "browser_open", `{"url":"example.net"}`); len(c) != 1 || c[0].Class != tool.Visit || c[0].Object != "https://example.net" {
		t.Errorf("open: %+v", c)
	}
	if c := claims(t, b, "browser_snapshot", `{}`); len(c) != 1 || c[0].Class != tool.Visit || c[0].Object != page {
		t.Errorf("snapshot: %+v", c)
	}
	if c := claims(t, b, "browser_click", `{"text":"Away"}`); len(c) != 2 || c[1].Class != tool.Visit || c[1].Object != "https://example.com/x" {
		t.Errorf("click on a link to another site: %+v", c)
	}
	if c := claims(t, b, "browser_click", `{"text":"Near"}`); len(c) != 1 || c[0].Object != page {
		t.Errorf("click on a link within the site: %+v", c)
	}
	for name, args := range map[string]string{"browser_click": `{"text":"Log in"}`, "browser_press": `{"key":"Enter","ref":"e3"}`} {
		c := claims(t, b, name, args)
		if len(c) != 1 || c[0].Class != tool.Send || c[0].Object != "https://example.org/in" || len(c[0].Fields) != 2 {
			t.Errorf("%s: %+v", name, c)
			continue
		}
		if f := c[0].Fields; f[0] != (tool.Field{Label: "User", Value: "ann"}) || f[1] != (tool.Field{Label: "Pass", Secret: true}) {
			t.Errorf("%s: fields %+v", name, f)
		}
	}
	c := claims(t, b, "browser_type", `{"ref":"e3","text":"bob","submit":true}`)
	if len(c) != 1 || c[0].Class != tool.Send || c[0].Fields[0].Value != "bob" {
		t.Errorf("type and submit: %+v", c)
	}
	if c := claims(t, b, "browser_eval", `{"expression":"1+1"}`); len(c) != 1 || c[0].Class != tool.RunScript || c[0].Text != "1+1" || c[0].Object != page {
		t.Errorf("eval: %+v", c)
	}
	x, _ := b.Get("browser_click")
	if got := x.Title(json.RawMessage(`{"ref":"e5"}`)); got != "Log in" {
		t.Errorf("title %q", got)
	}
}

func TestTheToolListStaysSmall(t *testing.T) {
	total := 0
	for _, x := range browse.AllWith(nil, browse.Options{Files: folder("")}) {
		raw, err := json.Marshal(map[string]any{"name": x.Name, "description": x.About, "inputSchema": x.Schema})
		if err != nil {
			t.Fatal(err)
		}
		total += len(raw)
	}
	if total > 11400 { // an MCP client is sent up to 600 bytes more around them
		t.Errorf("the list is %d bytes", total)
	}
}
