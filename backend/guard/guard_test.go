package guard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gofer/backend/tool"
)

// place is a guard over a workspace, with a folder beside it and the app's own.
type place struct {
	t            *testing.T
	g            *Guard
	ws, out, app string
}

func newPlace(t *testing.T, always ...Grant) *place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, ws: filepath.Join(top, "ws"), out: filepath.Join(top, "out"), app: filepath.Join(top, "app")}
	for _, dir := range []string{p.ws, p.out, filepath.Join(p.app, "downloads")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.g = New(Options{Protected: []string{p.app}, Shared: []string{filepath.Join(p.app, "downloads")}, Always: always, Sandbox: func() bool { return true }})
	return p
}

func (p *place) check(mode Mode, claims ...tool.Claim) Verdict {
	return p.g.Check(Request{Session: "s", Mode: mode, Workspace: p.ws, Claims: claims})
}

func claim(class tool.Class, object string) tool.Claim {
	return tool.Claim{Class: class, Object: object}
}

func TestTheTableOfModes(t *testing.T) {
	p := newPlace(t)
	in, out, app := filepath.Join(p.ws, "a.txt"), filepath.Join(p.out, "a.txt"), filepath.Join(p.app, "gofer.db")
	for _, c := range []struct {
		claim                 tool.Claim
		plan, ask, auto, full Decision
	}{
		{claim(tool.ReadFile, in), Allow, Allow, Allow, Allow},
		{claim(tool.ReadFile, out), Ask, Ask, Allow, Allow},
		{claim(tool.ReadFile, filepath.Join(p.ws, ".env")), Ask, Ask, Ask, Allow},
		{claim(tool.ReadFile, app), Deny, Deny, Deny, Deny},
		{claim(tool.ReadFile, filepath.Join(p.app, "downloads", "x")), Allow, Allow, Allow, Allow},
		{claim(tool.WriteFile, in), Deny, Ask, Allow, Allow},
		{claim(tool.WriteFile, out), Deny, Ask, Ask, Allow},
		{claim(tool.WriteFile, app), Deny, Deny, Deny, Deny},
		{claim(tool.DeleteFile, in), Deny, Ask, Allow, Allow},
		{claim(tool.DeleteFile, p.app), Deny, Deny, Deny, Deny},
		{claim(tool.RunCommand, "make test"), Deny, Ask, Ask, Allow}, // in no folder that is known
		{claim(tool.RunCommand, "cat "+app), Deny, Deny, Deny, Deny},
		{claim(tool.Visit, "https://example.org/"), Ask, Ask, Allow, Allow},
		{claim(tool.Visit, "about:blank"), Allow, Allow, Allow, Allow},
		{claim(tool.Visit, "file://"+in), Ask, Ask, Ask, Allow},
		{claim(tool.Visit, "file://"+app), Deny, Deny, Deny, Deny},
		{claim(tool.Visit, "FILE:/"+strings.ReplaceAll(app, "g", "%67")), Deny, Deny, Deny, Deny},
		{claim(tool.Visit, "view-source:file://localhost"+app), Deny, Deny, Deny, Deny},
		{claim(tool.Visit, "chrome://settings"), Ask, Ask, Ask, Allow},
		{claim(tool.Visit, "data:text/html,x"), Ask, Ask, Ask, Allow},
		{claim(tool.Visit, "http://127.0.0.1:8080/"), Ask, Ask, Ask, Allow},
		{claim(tool.Send, "https://example.org/"), Deny, Ask, Ask, Allow},
		{claim(tool.RunScript, "https://example.org/"), Deny, Ask, Ask, Allow},
		{claim("launch_rocket", "moon"), Deny, Ask, Ask, Allow},
	} {
		for mode, want := range map[Mode]Decision{ModePlan: c.plan, ModeAsk: c.ask, ModeAuto: c.auto, ModeFull: c.full, "something new": c.ask} {
			v := p.check(mode, c.claim)
			if v.Decision != want {
				t.Errorf("%s: %s %s is %s, want %s", mode, c.claim.Class, c.claim.Object, v.Decision, want)
			}
			if v.Decision != Allow && (v.Why == "" || v.Missing == "") {
				t.Errorf("%s %s: no reason in %+v", c.claim.Class, c.claim.Object, v)
			}
		}
	}
	if v := p.check(ModeAsk); v.Decision != Allow {
		t.Errorf("a call without claims is %s", v.Decision)
	}
}

func TestTheStrictestClaimWins(t *testing.T) {
	p := newPlace(t)
	free, asks, never := claim(tool.ReadFile, filepath.Join(p.ws, "a")), claim(tool.Visit, "https://example.org/x"), claim(tool.ReadFile, p.app)
	if v := p.check(ModeAsk, free, asks, free); v.Decision != Ask {
		t.Errorf("got %s", v.Decision)
	}
	if v := p.check(ModeFull, asks, never); v.Decision != Deny {
		t.Errorf("got %s", v.Decision)
	}
	v := p.check(ModeAsk, asks, claim(tool.WriteFile, filepath.Join(p.ws, "b")))
	if len(v.Grants) != 2 || v.Missing != "visit: https://example.org, write: "+p.ws {
		t.Errorf("got %+v", v)
	}
	// What cannot be granted keeps the whole from being granted.
	if v := p.check(ModeAsk, asks, claim(tool.Visit, "chrome://flags")); len(v.Grants) != 0 || v.Words != "" || v.Decision != Ask {
		t.Errorf("got %+v", v)
	}
}

func TestASessionGrantCoversWhatItsWordsSay(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		given      tool.Claim
		words      string
		free, asks []tool.Claim
	}{
		{
			claim(tool.WriteFile, filepath.Join(p.ws, "a")), "Write files in " + p.ws,
			[]tool.Claim{claim(tool.WriteFile, filepath.Join(p.ws, "deep", "b"))},
			[]tool.Claim{
				claim(tool.WriteFile, filepath.Join(p.out, "a")), claim(tool.DeleteFile, filepath.Join(p.ws, "a")), claim(tool.WriteFile, p.ws+"2/a"),
				claim(tool.WriteFile, filepath.Join(p.ws, ".git", "hooks", "pre-commit")), claim(tool.WriteFile, filepath.Join(p.ws, ".env")),
				claim(tool.WriteFile, filepath.Join(p.ws, ".vscode", "tasks.json")),
			},
		},
		{
			claim(tool.ReadFile, filepath.Join(p.out, "a")), "Read files in " + p.out,
			[]tool.Claim{claim(tool.ReadFile, filepath.Join(p.out, "b"))},
			[]tool.Claim{claim(tool.ReadFile, filepath.Join(p.out, "id_rsa")), claim(tool.WriteFile, filepath.Join(p.out, "a")), claim(tool.Visit, "file://"+p.out+"/a")},
		},
		{
			claim(tool.Visit, "https://www.example.co.uk/x?y"), "Read all pages of https://example.co.uk",
			[]tool.Claim{claim(tool.Visit, "https://mail.example.co.uk:443/"), claim(tool.Visit, "HTTPS://EXAMPLE.CO.UK./")},
			[]tool.Claim{
				claim(tool.Visit, "http://example.co.uk/"), claim(tool.Visit, "https://example.co.uk:8443/"), claim(tool.Visit, "https://other.co.uk/"),
				claim(tool.Visit, "https://example.co.uk@evil.org/"), claim(tool.Visit, "https://example.co.uk\\@evil.org/"), claim(tool.Visit, "https:/example.co.uk/"),
				claim(tool.Send, "https://example.co.uk/"), claim(tool.RunScript, "https://example.co.uk/"), claim(tool.Visit, "https://example.co.uk.evil.org/"),
			},
		},
		{
			claim(tool.Visit, "http://127.0.0.1:4711/"), "http://127.0.0.1:4711",
			[]tool.Claim{claim(tool.Visit, "http://127.0.0.1:4711/x")},
			[]tool.Claim{claim(tool.Visit, "http://127.0.0.1:4712/"), claim(tool.Visit, "http://localhost:4711/"), claim(tool.Visit, "http://127.1:4711/"), claim(tool.Visit, "http://x.127.1:4711/")},
		},
		{
			claim(tool.Send, "https://example.org/form"), "Send data to https://example.org",
			[]tool.Claim{claim(tool.Send, "https://example.org/other")},
			[]tool.Claim{claim(tool.Send, "https://example.com/"), {Class: tool.Send, Object: "https://example.org/", Fields: []tool.Field{{Label: "Password", Secret: true}}}},
		},
		{
			tool.Claim{Class: tool.RunCommand, Object: "make test", Detail: p.ws},
			"Run exactly this command again in " + p.ws,
			[]tool.Claim{{Class: tool.RunCommand, Object: "make test", Detail: p.ws}},
			[]tool.Claim{
				{Class: tool.RunCommand, Object: "make test", Detail: p.out},
				{Class: tool.RunCommand, Object: "make test all", Detail: p.ws},
				{Class: tool.RunCommand, Object: "make test; rm x", Detail: p.ws},
			},
		},
		{
			claim(tool.RunScript, "https://example.org/a"), "Run scripts on pages of https://example.org",
			[]tool.Claim{claim(tool.RunScript, "https://www.example.org/")},
			[]tool.Claim{claim(tool.RunScript, "https://example.net/")},
		},
	} {
		v := p.check(ModeAsk, c.given)
		if v.Decision != Ask || len(v.Grants) != 1 || !strings.Contains(v.Words, c.words) {
			t.Errorf("%s: got %+v", c.given.Object, v)
			continue
		}
		p.g.Grant("s", v.Grants...)
		for _, f := range append(c.free, c.given) {
			if v := p.check(ModeAsk, f); v.Decision != Allow {
				t.Errorf("with %s, %s %s is %s", c.words, f.Class, f.Object, v.Decision)
			}
		}
		for _, a := range c.asks {
			if v := p.check(ModeAsk, a); v.Decision != Ask {
				t.Errorf("with %s, %s %s is %s", c.words, a.Class, a.Object, v.Decision)
			}
		}
		other := p.g.Check(Request{Session: "other", Mode: ModeAsk, Workspace: p.ws, Claims: []tool.Claim{c.given}})
		if other.Decision != Ask {
			t.Errorf("%s holds in another session", c.words)
		}
		p.g.Forget("s")
		if v := p.check(ModeAsk, c.given); v.Decision != Ask {
			t.Errorf("%s holds after Forget", c.words)
		}
	}
}

func TestAGrantForOnceIsUsedUp(t *testing.T) {
	p := newPlace(t)
	site, file := Grant{Class: tool.Visit, Object: "https://example.org/x", Until: Once}, claim(tool.WriteFile, filepath.Join(p.ws, "a"))
	p.g.Grant("s", site)
	visit := claim(tool.Visit, "https://example.org/")
	if v := p.check(ModeAsk, visit, file); v.Decision != Ask || len(p.g.GrantsOf("s")) != 1 {
		t.Fatalf("a call that asks used the grant up: %+v", v)
	}
	if v := p.check(ModeAsk, visit); v.Decision != Allow {
		t.Fatalf("got %+v", v)
	}
	if v := p.check(ModeAsk, visit); v.Decision != Ask || len(p.g.GrantsOf("s")) != 0 {
		t.Fatalf("got %+v", v)
	}
}

func TestDenyBeatsAllow(t *testing.T) {
	p := newPlace(t, Grant{Class: tool.Visit, Object: "*"}, Grant{Class: tool.RunCommand, Object: "*"})
	p.g.Grant("s", Grant{Class: tool.Visit, Object: "https://evil.org", Deny: true}, Grant{Class: tool.RunCommand, Object: "git push", Prefix: true, Deny: true})
	for _, c := range []struct {
		claim tool.Claim
		want  Decision
	}{
		{claim(tool.Visit, "https://www.evil.org/"), Deny},
		{claim(tool.Visit, "https://good.org/"), Allow},
		{claim(tool.RunCommand, "git push -f"), Deny},
		{claim(tool.RunCommand, "true && (git push)"), Deny},
		{claim(tool.RunCommand, "x=$(git push)"), Deny},
		{claim(tool.RunCommand, "git pull"), Allow},
		{claim(tool.RunCommand, "'"), Deny},
	} {
		if v := p.check(ModeAsk, c.claim); v.Decision != c.want {
			t.Errorf("%s is %s, want %s", c.claim.Object, v.Decision, c.want)
		}
	}
	if v := p.check(ModeFull, claim(tool.RunCommand, "git push")); v.Decision != Allow {
		t.Errorf("in full mode it is %s", v.Decision)
	}
	p.g.Revoke("s", Grant{Class: tool.Visit, Object: "https://evil.org", Deny: true})
	if v := p.check(ModeAsk, claim(tool.Visit, "https://evil.org/")); v.Decision != Allow {
		t.Errorf("after revoking it is %s", v.Decision)
	}
}

func TestTheTourNeedsItsGrantsOnly(t *testing.T) {
	p := newPlace(t)
	p.g.Grant("s", Grant{Class: tool.Visit, Object: "http://127.0.0.1:5000"}, Grant{Class: tool.Send, Object: "http://127.0.0.1:5000/"}, Grant{Class: tool.WriteFile, Object: p.ws})
	for _, c := range []tool.Claim{
		claim(tool.Visit, "http://127.0.0.1:5000/news"), claim(tool.Send, "http://127.0.0.1:5000/order"), claim(tool.WriteFile, filepath.Join(p.ws, "report.md")),
	} {
		if v := p.check(ModeAsk, c); v.Decision != Allow {
			t.Errorf("%s is %s", c.Object, v.Decision)
		}
	}
	if v := p.check(ModeAsk, claim(tool.Visit, "http://127.0.0.1:5001/")); v.Decision != Ask {
		t.Errorf("another port is %s", v.Decision)
	}
}

func TestGrantsAreReadAndWrittenAlike(t *testing.T) {
	for text, want := range map[string]Grant{
		"visit: https://www.example.org/x": {Class: tool.Visit, Object: "https://example.org", Until: Session},
		"shell: go test":                   {Class: tool.RunCommand, Object: "go test", Prefix: true, Until: Session},
		"deny send: *":                     {Class: tool.Send, Object: "*", Deny: true, Until: Session},
		"write:/":                          {Class: tool.WriteFile, Object: "/", Until: Session},
	} {
		got, err := ParseGrant(text)
		if err != nil || got != want {
			t.Errorf("%q gives %+v, %v", text, got, err)
		}
		if again, err := ParseGrant(got.String()); err != nil || again != got {
			t.Errorf("%q gives %+v, %v", got.String(), again, err)
		}
	}
	for _, text := range []string{"", "shell", "shell:", "visit: example.org", "read: relative", "fly: moon", "visit: file:///x"} {
		if g, err := ParseGrant(text); err == nil {
			t.Errorf("%q gives %+v", text, g)
		}
	}
}

func TestWhatIsMissingCanBeGrantedByItsOwnText(t *testing.T) {
	p := newPlace(t)
	for _, c := range []tool.Claim{
		claim(tool.ReadFile, filepath.Join(p.out, "a")), claim(tool.WriteFile, filepath.Join(p.ws, "a")), claim(tool.DeleteFile, filepath.Join(p.out, "a")),
		{Class: tool.RunCommand, Object: "make all && echo $HOME > x", Detail: p.ws},
		claim(tool.Visit, "https://example.org/"),
		claim(tool.Send, "https://example.org/"), claim(tool.RunScript, "https://example.org/"), claim(tool.ReadFile, filepath.Join(p.ws, ".env")),
		claim(tool.WriteFile, filepath.Join(p.ws, ".git", "config")), claim(tool.ReadFile, "/"),
	} {
		g, err := ParseGrant(p.check(ModeAsk, c).Missing)
		if err != nil {
			t.Errorf("%s: %v", c.Object, err)
			continue
		}
		free := New(Options{Protected: []string{p.app}, Always: []Grant{g}})
		if v := free.Check(Request{Mode: ModeAsk, Workspace: p.ws, Claims: []tool.Claim{c}}); v.Decision != Allow {
			t.Errorf("%s is %s with %q", c.Object, v.Decision, g.String())
		}
	}
}

func TestAWorkspaceBehindALinkIsTheSame(t *testing.T) {
	p := newPlace(t)
	link := filepath.Join(filepath.Dir(p.ws), "link")
	if err := os.Symlink(p.ws, link); err != nil {
		t.Fatal(err)
	}
	v := p.g.Check(Request{Mode: ModeAsk, Workspace: link, Claims: []tool.Claim{claim(tool.ReadFile, filepath.Join(p.ws, "a"))}})
	if v.Decision != Allow {
		t.Errorf("got %+v", v)
	}
	app := filepath.Join(p.ws, "app")
	if err := os.Symlink(p.app, app); err != nil {
		t.Fatal(err)
	}
	if v := p.check(ModeFull, claim(tool.ReadFile, filepath.Join(app, "gofer.db"))); v.Decision != Deny {
		t.Errorf("through a link: %+v", v)
	}
}

func TestSites(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.b.example.com/x": "https://example.com", "http://user.github.io": "http://user.github.io", "https://example.org:443": "https://example.org",
		"http://example.org:80/": "http://example.org", "http://example.org:0080/": "http://example.org", "http://localhost:3000": "http://localhost:3000",
		"http://[::1]:80/": "http://[::1]", "http://[::ffff:127.0.0.1]/": "http://127.0.0.1", "https://BÜCHER.example/": "https://xn--bcher-kva.example",
		"https://example。org/": "https://example.org", "blob:https://example.org/1-2": "https://example.org",
		"http://0x7f.1/": "http://0x7f.1", "": "", "javascript:alert(1)": "", "//example.org": "", "http:example.org": "", "http:///x": "", "ftp://a.org": "",
		"http://a.org:x/": "", "http://a b.org": "", "http://a.org/a b": "", "http://a%2eorg/": "", "https://user@a.org": "", "ht\ntp://a.org": "",
	} {
		got, ok := Site(raw)
		if got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	}
}

func TestSecretsAndWhatRunsLater(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/u/.ssh/id_ed25519": true, "/home/u/.ssh": true, "/w/.env": true, "/w/.env.local": true, "/w/.ENV": true, "/w/.env.example": false, "/w/server.pem": true,
		"/w/environment.go": false, "/home/u/.config/google-chrome/Default/Cookies": true, "/etc/shadow": true, "/proc/12/environ": true,
		"/w/keyboard.go": false, "/w/id_rsa.go": false, "/w/.envy": false, "/w/notes.txt": false,
	} {
		if got := Secret(path); got != want {
			t.Errorf("Secret(%s) is %v", path, got)
		}
	}
	t.Setenv("PATH", "/opt/my tools/bin")
	for path, want := range map[string]bool{
		"/w/.git/hooks/pre-commit": true, "/w/.git/config": true, "/home/u/.bashrc": true, "/home/u/.config/autostart/x.desktop": true, "/etc/cron.d/x": true,
		"/w/.vscode/tasks.json": true, "/w/.github/workflows/ci.yml": true, "/opt/my tools/bin/ls": true, "/Users/u/Library/LaunchAgents/x.plist": true,
		"/w/src/main.go": false, "/w/etc/x": false, "/w/git/hooks/x": false, "/w/.gitignore": false,
	} {
		if got := RunsLater(path); got != want {
			t.Errorf("RunsLater(%s) is %v", path, got)
		}
	}
}

func TestNothingHidesFromThePerson(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext é 漢字 🙂": "plain\n\ttext é 漢字 🙂", "a\u202eb": `a\u202eb`, "a\u200bb": `a\u200bb`, "a\x1b[2Kb": `a\x1b[2Kb`, "a\rb": `a\rb`,
		"a\u00a0b": `a\u00a0b`, "a\xffb": `a\xffb`, "\U000e0041": `\U000e0041`, "a\u3164": `a\u3164`, "a\u2028b": `a\u2028b`, "a\x00": `a\x00`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q shows as %q, want %q", in, got, want)
		}
	}
}

func TestTheHomeFolderIsNotGrantedWithAClick(t *testing.T) {
	p := newPlace(t)
	home := filepath.Join(p.out, "home")
	if err := os.MkdirAll(filepath.Join(home, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	for path, want := range map[string]string{home: "", p.out: "", "/": "", filepath.Join(home, "a.txt"): filepath.Join(home, "a.txt"), filepath.Join(home, "docs"): filepath.Join(home, "docs")} {
		v := p.check(ModeAsk, claim(tool.ReadFile, path))
		got := ""
		if len(v.Grants) > 0 {
			got = v.Grants[0].Object
		}
		if v.Decision != Ask || got != want || v.Missing == "" {
			t.Errorf("%s offers %q, want %q: %+v", path, got, want, v)
		}
	}
}

func TestGrantsAreAPlainListWithoutDoubles(t *testing.T) {
	g := New(Options{})
	one := Grant{Class: tool.Visit, Object: "https://www.example.org"}
	g.Grant("s", one, one, Grant{Class: tool.Visit, Object: "https://example.org/", Until: Session})
	if got := g.GrantsOf("s"); !slices.Equal(got, []Grant{{Class: tool.Visit, Object: "https://example.org", Until: Session}}) {
		t.Errorf("got %+v", got)
	}
}
