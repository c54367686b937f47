package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/config"
	"gofer/backend/egress"
	"gofer/backend/guard"
	"gofer/backend/home"
	"gofer/backend/tool"
)

// court is the judge with lanes that were set up by hand.
func court(lanes map[string]*course, grants map[string][]string) *ways {
	g := guard.New(guard.Options{})
	for owner, list := range grants {
		for _, text := range list {
			grant, err := guard.ParseGrant(text)
			if err != nil {
				panic(err)
			}
			g.Grant(owner, grant)
		}
	}
	return &ways{guard: g, lanes: lanes, tabs: func(string) *browser.Session { return nil }} // without tabs a lane counts as it is
}

func TestWhereConnectionsMayLead(t *testing.T) {
	type lanes = map[string]*course
	quiet := func() *course { return &course{} }
	carrying := func(beside ...string) *course {
		c := &course{carrying: true, beside: map[string]bool{}}
		for _, b := range beside {
			c.beside[b] = true
		}
		return c
	}
	for _, c := range []struct {
		name   string
		lanes  lanes
		grants map[string][]string
		way    string
		want   string // open, internet, or a part of why it is closed
	}{
		{"no lane, the internet", nil, nil, "a.example:443", "internet"},
		{"no lane, this computer", nil, nil, "127.0.0.1:80", "this computer"},
		{"a name of the network", lanes{"s": quiet()}, nil, "printer:80", "this computer"},
		{"a granted port", lanes{"s": quiet()}, map[string][]string{"s": {"visit: http://127.0.0.1:8080"}}, "127.0.0.1:8080", "open"},
		{"the port beside it", lanes{"s": quiet()}, map[string][]string{"s": {"visit: http://127.0.0.1:8080"}}, "127.0.0.1:8081", "this computer"},
		{"every site granted is no port", lanes{"s": quiet()}, map[string][]string{"s": {"visit: *"}}, "127.0.0.1:8080", "this computer"},
		{"a grant of a lane that is gone", lanes{"s": quiet()}, map[string][]string{"other": {"visit: http://127.0.0.1:8080"}}, "127.0.0.1:8080", "this computer"},
		{"a new host", lanes{"s": quiet()}, nil, "new.example:443", "internet"},
		{"a new host while a lane carries", lanes{"s": carrying()}, nil, "new.example:443", "only reach sites"},
		{"a host beside the page", lanes{"s": carrying("cdn.example:443")}, nil, "cdn.example:443", "internet"},
		{"another port of it", lanes{"s": carrying("cdn.example:443")}, nil, "cdn.example:8443", "only reach sites"},
		{"a host beside one page only", lanes{"s": carrying("cdn.example:443"), "t": carrying()}, nil, "cdn.example:443", "only reach sites"},
		{"a site granted to another lane", lanes{"s": carrying(), "t": quiet()}, map[string][]string{"t": {"send: https://shop.example"}}, "www.shop.example:443", "open"},
		{"every site granted while a lane carries", lanes{"s": carrying()}, map[string][]string{"s": {"visit: *"}}, "new.example:443", "only reach sites"},
		{"a site opened", lanes{"s": {carrying: true, opened: map[string]bool{"shop.example": false}}}, nil, "shop.example:443", "internet"},
		{"Full alone", lanes{"s": {full: true, carrying: true}}, nil, "127.0.0.1:80", "open"},
		{"Full beside one that carries", lanes{"s": {full: true}, "t": carrying()}, nil, "new.example:443", "only reach sites"},
		{"Full opens this computer", lanes{"s": {full: true}, "t": quiet()}, nil, "127.0.0.1:80", "open"},
		{"a denied site", lanes{"s": quiet()}, map[string][]string{"s": {"deny visit: https://bad.example"}}, "bad.example:443", "denies"},
		{"a denied site that another lane may visit", lanes{"s": quiet(), "t": quiet()}, map[string][]string{"s": {"deny visit: https://bad.example"}, "t": {"visit: https://bad.example"}}, "bad.example:443", "denies"},
	} {
		host, port, _ := strings.Cut(c.way, ":")
		v := court(c.lanes, c.grants).judge(egress.Way{Host: host, Port: port, Secure: true})
		got := "open"
		switch {
		case v.Closed != "":
			got = v.Closed
		case v.Inside != "":
			got = "internet"
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWhenALaneBeginsToCarry plays calls of a lane without a page.
func TestWhenALaneBeginsToCarry(t *testing.T) {
	typing := tool.New("browser_type", "", tool.Acts, nilRun, tool.Putting(func(struct{}) bool { return true }))
	click := tool.New("browser_click", "", tool.Acts, nilRun)
	open := tool.New("browser_open", "", tool.Acts, nilRun)
	history := tool.New("browser_history", "", tool.Acts, nilRun)
	visit := []tool.Claim{{Class: tool.Visit, Object: "https://shop.example/"}}
	file := []tool.Claim{{Class: tool.ReadFile, Object: "/a"}}
	eval := []tool.Claim{{Class: tool.RunScript, Object: "https://shop.example/"}}
	read := noted(nil, "/notes.txt")
	for _, c := range []struct {
		name  string
		calls []deed
		want  bool
		alone bool // no other host is beside the page any more
	}{
		{"typing what nobody has read", []deed{{tool: typing}}, false, false},
		{"typing after a file", []deed{{tool: typing, read: read}}, true, false},
		{"a click after a file", []deed{{tool: click, read: read}}, false, false},
		{"a file given to the page", []deed{{tool: typing, claims: file}}, true, false},
		{"a script after a file", []deed{{tool: typing, read: read, claims: eval}}, true, true},
		{"Full", []deed{{tool: typing, read: read, full: true}}, false, false},
		{"then the page is sent elsewhere", []deed{{tool: typing, read: read}, {tool: open, claims: visit}}, false, false},
		{"and back again", []deed{{tool: typing, read: read}, {tool: open, claims: visit}, {tool: history}}, true, false},
		{"back without", []deed{{tool: open, claims: visit}, {tool: history}}, false, false},
		{"another tab is no end of it", []deed{{tool: typing, read: read}, {tool: click, claims: visit}}, true, false},
	} {
		w := court(map[string]*course{}, nil)
		p, err := w.start()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.calls {
			d.owner, d.args = "s", []byte(`{}`)
			w.before(t.Context(), d)
		}
		got := w.lanes["s"]
		if alone := got.carrying && got.beside == nil; got.carrying != c.want || alone != c.alone {
			t.Errorf("%s: carrying %v beside %v", c.name, got.carrying, got.beside)
		}
		_ = p.Close()
	}
}

func TestWhereTextCameFromIsKept(t *testing.T) {
	read := noted(nil, "https://www.shop.example/a")
	read = noted(noted(read, "http://shop.example/b"), "about:blank")
	if len(read) != 1 || !read["shop.example"] {
		t.Errorf("got %v", read)
	}
	if more := noted(read, "output of ls"); len(more) != 2 || len(read) != 1 {
		t.Errorf("got %v and %v", more, read)
	}
}

func nilRun(context.Context, struct{}) (tool.Result, error) { return tool.Result{}, nil }

func TestTheSettingsSayWhichBrowserIsFiltered(t *testing.T) {
	t.Setenv("GOFER_KEYRING", "off")
	h, err := home.Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := Build(h, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for i, c := range []struct {
		filter, attach string
		headless, want bool
	}{{config.Off, "", true, false}, {config.On, "127.0.0.1:9222", false, false}, {config.On, "127.0.0.1:9222", true, true}} {
		s := e.settings.Settings()
		s.BrowserFilter, s.BrowserAttach = c.filter, c.attach
		if _, err := e.SaveSettings(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if _, err := e.browsers.lane(fmt.Sprint(i), c.headless, false); err != nil {
			t.Fatal(err)
		}
		if got := e.ways.proxy != nil; got != c.want {
			t.Errorf("%+v: filtered %v", c, got)
		}
	}
}
