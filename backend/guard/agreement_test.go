package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/tool"
)

func (p *place) propose(mode Mode, w Wish) ([]Grant, error) {
	return p.g.Propose(Request{Session: "s", Mode: mode, Workspace: p.ws}, w)
}

func TestAProposalIsReadStrictly(t *testing.T) {
	p := newPlace(t)
	home := filepath.Join(p.out, "home", "ann")
	for _, dir := range []string{filepath.Join(home, ".ssh"), filepath.Join(home, "papers"), filepath.Join(p.ws, ".git", "hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	link := filepath.Join(p.ws, "innocent")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	site := func(site string, kinds ...string) Wish { return Wish{Sites: []SiteWish{{site, kinds}}} }
	folder := func(path string, kinds ...string) Wish { return Wish{Folders: []FolderWish{{path, kinds}}} }
	command := func(line string) Wish { return Wish{Commands: []string{line}} }
	for name, c := range map[string]struct {
		wish Wish
		want string
	}{
		"no scheme":        {site("example.org"), "is no site"},
		"any site":         {site("*"), "is no single site"},
		"sites by pattern": {site("https://*.example.org"), "is no single site"},
		"a file":           {site("file:///etc/passwd"), "is no site"},
		"a name within":    {site("https://bank.example@evil.example"), "is no site"},
		"odd characters":   {site("https://a.example\u202e"), "is no site"},
		"an unknown kind":  {site("https://a.example", "pay"), "there are read, script, send"},
		"a relative path":  {folder("papers"), "is no whole path"},
		"a tilde":          {folder("~/papers"), "is no whole path"},
		"folders":          {folder(filepath.Join(home, "*")), "is no single folder"},
		"the home":         {folder(home, "write"), "holds the whole home folder or more"},
		"a way up":         {folder(filepath.Join(home, "papers", "..")), "holds the whole home folder or more"},
		"above the home":   {folder(filepath.Dir(home)), "holds the whole home folder or more"},
		"the root":         {folder("/", "read"), "holds the whole home folder or more"},
		"a link to it":     {folder(link), "holds the whole home folder or more"},
		"keys":             {folder(filepath.Join(home, ".ssh")), "may hold passwords or keys"},
		"the app":          {folder(p.app), "belongs to the app itself"},
		"hooks":            {folder(filepath.Join(p.ws, ".git", "hooks"), "read", "write"), "run later by itself"},
		"a file's place":   {folder(filepath.Join(p.ws, "none")), "is no folder that is there"},
		"a shell":          {command("bash -c"), "runs other programs"},
		"typing":           {command("xdotool key"), "runs other programs"},
		"by its place":     {command("./tool"), "runs other programs"},
		"two commands":     {command("git status; curl"), "no plain beginning"},
		"any command":      {command("*"), "no plain beginning"},
		"no command":       {command(" "), "no plain beginning"},
		"a long command":   {command("echo " + strings.Repeat("a", 400)), "no plain beginning"},
	} {
		if got, err := p.propose(ModeAsk, c.wish); err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\u202e') {
			t.Errorf("%s: got %v, %v; want %q", name, got, err, c.want)
		}
	}
	var many Wish
	for range 30 {
		many.Sites = append(many.Sites, SiteWish{"https://" + strings.Repeat("a", len(many.Sites)+1) + ".example", nil})
	}
	if _, err := p.propose(ModeAsk, many); err == nil || !strings.Contains(err.Error(), "30 lines") {
		t.Errorf("many lines: %v", err)
	}
}

func TestAProposalIsMadeOfLinesAPersonCanRead(t *testing.T) {
	p := newPlace(t)
	p.g.Grant("s", Grant{Class: tool.Visit, Object: "https://known.example"})
	got, err := p.propose(ModeAsk, Wish{
		Sites:    []SiteWish{{"https://www.a.example/list?x=1", []string{"read", "send"}}, {"https://known.example", nil}, {"http://127.0.0.1:8080", nil}},
		Folders:  []FolderWish{{p.out + "/", []string{"read", "write"}}, {p.out, []string{"write"}}},
		Commands: []string{" go test "},
	})
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, g := range got {
		if g.Until != Run {
			t.Errorf("%+v outlives the run", g)
		}
		words = append(words, g.Agreed())
	}
	want := []string{
		"Read all pages of https://a.example.",
		"Send data to https://a.example. Passwords, and what pays, orders, signs or accepts, still ask.",
		"Read all pages of http://127.0.0.1:8080. It is this computer or its network.",
		"Read files in " + p.out + ". Files that may hold secrets still ask.",
		"Write files in " + p.out + ". Deleting, and files that run later or may hold secrets, still ask.",
		"Run plain commands that begin with go test in " + p.ws + ". All others still ask.",
	}
	if strings.Join(words, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %s\nwant %s", strings.Join(words, "\n"), strings.Join(want, "\n"))
	}
}

func TestPlanModeAgreesOnLookingOnly(t *testing.T) {
	p := newPlace(t)
	if _, err := p.propose(ModePlan, Wish{Sites: []SiteWish{{"https://a.example", []string{"send"}}}}); err == nil || !strings.Contains(err.Error(), "Plan mode") {
		t.Errorf("sending in Plan mode: %v", err)
	}
	got, err := p.propose(ModePlan, Wish{Sites: []SiteWish{{"https://a.example", nil}}})
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	p.g.Grant("s", Grant{Class: tool.Send, Object: "https://a.example", Until: Run}, Grant{Class: tool.WriteFile, Object: p.ws, Until: Run})
	for _, c := range []tool.Claim{claim(tool.Send, "https://a.example/"), claim(tool.WriteFile, filepath.Join(p.ws, "a"))} {
		if v := p.check(ModePlan, c); v.Decision != Deny {
			t.Errorf("%s in Plan mode: %s", c.Class, v.Decision)
		}
	}
}

func TestAnAgreementStandsForNothingGrave(t *testing.T) {
	const site = "https://shop.example"
	send := func(detail, label string) tool.Claim {
		return tool.Claim{Class: tool.Send, Object: site + "/form", Detail: detail, Fields: []tool.Field{{Label: label, Value: "x"}}}
	}
	secret := send(`POST button "Go"`, "Code")
	secret.Fields[0].Secret = true
	p := newPlace(t)
	run := []Grant{
		{Class: tool.Visit, Object: site, Until: Run},
		{Class: tool.Send, Object: site, Until: Run},
		{Class: tool.ReadFile, Object: p.out, Until: Run},
		{Class: tool.WriteFile, Object: p.ws, Until: Run},
		{Class: tool.WriteFile, Object: p.out, Until: Run},
	}
	p.g.Grant("s", run...)
	for _, c := range []struct {
		name  string
		claim tool.Claim
		want  Decision
	}{
		{"a search", send(`GET button "Search"`, "Words"), Allow},
		{"a file", claim(tool.WriteFile, filepath.Join(p.out, "a.txt")), Allow},
		{"another site", tool.Claim{Class: tool.Send, Object: "https://evil.example/"}, Ask},
		{"an order", send(`POST button "Place order"`, "Name"), Ask},
		{"a payment", send(`POST button "Go on"`, "Card number"), Ask},
		{"an order in German", send(`POST button "Jetzt bestellen"`, "Name"), Ask},
		{"terms", send(`POST button "I accept"`, "Name"), Ask},
		{"a leave for a program", tool.Claim{Class: tool.Send, Object: site + "/oauth/authorize"}, Ask},
		{"a password", secret, Ask},
		{"a key", claim(tool.ReadFile, filepath.Join(p.out, ".env")), Ask},
		{"a hook", claim(tool.WriteFile, filepath.Join(p.ws, ".git", "hooks", "pre-commit")), Ask},
		{"the app", claim(tool.WriteFile, filepath.Join(p.app, "settings.json")), Deny},
	} {
		v := p.check(ModeAsk, c.claim)
		if v.Decision != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, v.Decision, v.Why, c.want)
		}
		if other := c.name == "another site"; v.Decision == Ask && v.Alone == other {
			t.Errorf("%s: may be added to the agreement: %v", c.name, !v.Alone)
		}
		if v.Decision == Allow && len(v.By) != 1 {
			t.Errorf("%s rests on %v", c.name, v.By)
		}
	}
	// A leave for the session was given to it by name, so it stands as before.
	p.g.Grant("s", Grant{Class: tool.Send, Object: site})
	if v := p.check(ModeAsk, send(`POST button "Place order"`, "Name")); v.Decision != Allow {
		t.Errorf("an order with a grant for the session: %s", v.Decision)
	}
}

func TestAnAgreementKeepsTheRulesForTaintAndDenial(t *testing.T) {
	p := newPlace(t)
	p.g.Grant("s", Grant{Class: tool.Send, Object: "https://a.example", Until: Run}, Grant{Class: tool.Visit, Object: "https://a.example", Until: Run})
	after := func(taint string, c tool.Claim) Verdict {
		return p.g.Check(Request{Session: "s", Mode: ModeAsk, Workspace: p.ws, Claims: []tool.Claim{c}, Taint: taint})
	}
	send := claim(tool.Send, "https://a.example/find")
	if v := after("", send); v.Decision != Allow {
		t.Errorf("before anything was read: %s", v.Decision)
	}
	if v := after("https://a.example/", send); v.Decision != Allow {
		t.Errorf("after the site itself: %s", v.Decision)
	}
	v := after("https://evil.example/", send)
	if v.Decision != Ask || !v.Alone || !strings.Contains(v.Why, "after reading text from evil.example") {
		t.Errorf("after another site: %+v; adding it again would change nothing", v)
	}
	p.g.Grant("s", Grant{Class: tool.Visit, Object: "https://a.example", Deny: true})
	if v := after("", claim(tool.Visit, "https://a.example/")); v.Decision != Deny {
		t.Errorf("a denied site that was agreed on: %s", v.Decision)
	}
}

func TestWhatIsAllowedForARunEndsWithIt(t *testing.T) {
	p := newPlace(t)
	p.g.Grant("s", Grant{Class: tool.Visit, Object: "https://a.example", Until: Run}, Grant{Class: tool.Visit, Object: "https://b.example"})
	for _, site := range []string{"https://a.example/", "https://b.example/"} {
		if v := p.check(ModeAsk, claim(tool.Visit, site)); v.Decision != Allow {
			t.Errorf("%s in the run: %s", site, v.Decision)
		}
	}
	p.g.EndRun("s")
	if v := p.check(ModeAsk, claim(tool.Visit, "https://a.example/")); v.Decision != Ask {
		t.Errorf("after the run: %s", v.Decision)
	}
	if v := p.check(ModeAsk, claim(tool.Visit, "https://b.example/")); v.Decision != Allow {
		t.Errorf("for the session, after the run: %s", v.Decision)
	}
	if used := p.g.Used("s"); len(used) != 1 {
		t.Errorf("counted %v", used)
	}
}
