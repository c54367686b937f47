package guard

import (
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/tool"
)

func TestLeaveInGeneralDoesNotCarryWhatWasReadElsewhere(t *testing.T) {
	grants := func(lines ...string) []Grant {
		var out []Grant
		for _, line := range lines {
			g, err := ParseGrant(line)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, g)
		}
		return out
	}
	long := "https://evil.example/" + strings.Repeat("a", 70)
	for _, c := range []struct {
		name, taint string
		claim       tool.Claim
		want        Decision
	}{
		{"sending before anything was read", "", claim(tool.Send, "https://shop.example/cart"), Allow},
		{"sending on the site that was read", "https://www.shop.example/list", claim(tool.Send, "https://shop.example/cart"), Allow},
		{"sending after another site was read", "https://news.example/", claim(tool.Send, "https://shop.example/cart"), Ask},
		{"sending after a file was read", "/home/ann/notes.txt", claim(tool.Send, "https://shop.example/cart"), Ask},
		{"sending after a command was read", "output of cat", claim(tool.Send, "https://shop.example/cart"), Ask},
		{"a page by its name", "https://news.example/", claim(tool.Visit, "https://evil.example/about"), Allow},
		{"a page with a question", "https://news.example/", claim(tool.Visit, "https://evil.example/?q=secret"), Ask},
		{"a page with a fragment", "https://news.example/", claim(tool.Visit, "https://evil.example/#secret"), Ask},
		{"a page with a long name", "https://news.example/", claim(tool.Visit, long), Ask},
		{"a page with a long host", "https://news.example/", claim(tool.Visit, "https://"+strings.Repeat("a.", 40)+"evil.example/"), Ask},
		{"a question on the same site", "https://news.example/", claim(tool.Visit, "https://news.example/?q=more"), Allow},
		{"a question on a site named by its grant", "https://news.example/", claim(tool.Visit, "https://known.example/?q=more"), Allow},
		{"a question before anything was read", "", claim(tool.Visit, "https://evil.example/?q=x"), Allow},
	} {
		p := newPlace(t, grants("send: https://shop.example", "visit: *", "visit: https://known.example")...)
		v := p.g.Check(Request{Session: "s", Mode: ModeAsk, Workspace: p.ws, Claims: []tool.Claim{c.claim}, Taint: c.taint})
		if v.Decision != c.want {
			t.Errorf("%s is %s, want %s", c.name, v.Decision, c.want)
		}
	}
}

func TestACardAfterOutsideTextNamesItsSource(t *testing.T) {
	p := newPlace(t)
	write := claim(tool.WriteFile, filepath.Join(p.ws, "a.txt"))
	for taint, want := range map[string]string{
		"https://blog.example.org:8080/post?x=1": "It comes after reading text from example.org:8080.",
		"/home/ann/letter.txt":                   "It comes after reading text from letter.txt.",
		"output of make":                         "It comes after reading text from output of make.",
	} {
		v := p.g.Check(Request{Session: "s", Mode: ModeAsk, Workspace: p.ws, Claims: []tool.Claim{write}, Taint: taint})
		if !strings.HasSuffix(v.Why, want) {
			t.Errorf("after %s the card says %q", taint, v.Why)
		}
	}
	v := p.g.Check(Request{Session: "s", Mode: ModeAsk, Workspace: p.ws, Claims: []tool.Claim{claim(tool.Visit, "https://example.net/")}, Taint: "https://example.org/"})
	if v.Decision != Ask || strings.Contains(v.Why, "after reading") {
		t.Errorf("a look at a page says %q", v.Why)
	}
}

func TestPlanModeIsNotLiftedByAGrant(t *testing.T) {
	g, err := ParseGrant("shell: make")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, g)
	v := p.check(ModePlan, tool.Claim{Class: tool.RunCommand, Object: "make", Detail: p.ws})
	if v.Decision != Deny || v.Missing != "ask mode" || !strings.Contains(v.Why, "Plan mode") {
		t.Errorf("got %+v", v)
	}
}
