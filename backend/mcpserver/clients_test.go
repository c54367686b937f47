package mcpserver

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gofer/backend/fault"
)

func newClients(t *testing.T) Clients { return OpenClients(filepath.Join(t.TempDir(), "mcp")) }

// client makes a client and returns its token.
func client(t *testing.T, c Clients, x Client) string {
	t.Helper()
	x, err := c.Save(x, false)
	if err != nil || x.Fault != nil {
		t.Fatalf("save %s: %v, %v", x.Name, err, x.Fault)
	}
	return token(t, x)
}

func token(t *testing.T, x Client) string {
	t.Helper()
	raw, err := os.ReadFile(x.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}

func TestAClientHasATokenOfItsOwnThatNobodyElseCanRead(t *testing.T) {
	c := newClients(t)
	one, two := client(t, c, Client{Name: "one"}), client(t, c, Client{Name: "two", Mode: "ask", Allow: []string{"visit: *"}})
	if len(one) != 43 || one == two { // 256 bits in letters that are safe in a header
		t.Errorf("got the tokens %q and %q", one, two)
	}
	for token, want := range map[string]Client{one: {Name: "one", Mode: "plan"}, two: {Name: "two", Mode: "ask", Allow: []string{"visit: *"}}} {
		got, ok := c.find(token)
		if !ok || got.Name != want.Name || got.Mode != want.Mode || strings.Join(got.Allow, ",") != strings.Join(want.Allow, ",") {
			t.Errorf("got %+v, %v, want %+v", got, ok, want)
		}
	}
	for _, wrong := range []string{"", one[:42], one + "A", strings.ToUpper(one), one + two} {
		if got, ok := c.find(wrong); ok {
			t.Errorf("%q opened the client %s", wrong, got.Name)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	files, _ := filepath.Glob(filepath.Join(c.dir, "*"))
	if len(files) != 4 {
		t.Errorf("got the files %v, want two for each client", files)
	}
	for _, file := range append(files, c.dir) {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v, want it to be the user's alone", file, info.Mode(), err)
		}
	}
}

func TestATokenOthersCouldReadOpensNothingUntilItIsMadeAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are elsewhere on Windows")
	}
	for name, spoil := range map[string]func(path string) error{
		"others may read it": func(path string) error { return os.Chmod(path, 0o644) },
		"it is short":        func(path string) error { return os.WriteFile(path, []byte("c2hvcnQ\n"), 0o600) },
		"it is empty":        func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"it is a link": func(path string) error {
			if err := os.Rename(path, path+".elsewhere"); err != nil {
				return err
			}
			return os.Symlink(path+".elsewhere", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClients(t)
			old := client(t, c, Client{Name: "one"})
			x, _ := c.Client("one")
			if err := spoil(x.TokenFile); err != nil {
				t.Fatal(err)
			}
			if got, ok := c.find(old); ok {
				t.Errorf("the token still opens %s", got.Name)
			}
			list, err := c.List()
			if err != nil || len(list) != 1 || list[0].Fault == nil || !strings.Contains(list[0].Fault.Error(), "--renew") {
				t.Errorf("got %+v, %v, want the client with the way on", list, err)
			}
			x, err = c.Save(x, true)
			if err != nil || x.Fault != nil {
				t.Fatalf("renew: %v, %v", err, x.Fault)
			}
			if _, ok := c.find(old); ok || token(t, x) == old {
				t.Error("the old token opens the client")
			}
			if _, ok := c.find(token(t, x)); !ok {
				t.Error("the new token opens nothing")
			}
		})
	}
}

func TestWhatAClientMayDoIsNotGuessed(t *testing.T) {
	for name, text := range map[string]string{"cut off": `{"mode":"fu`, "no mode": `{"mode":"everything"}`, "gone": ""} {
		c := newClients(t)
		tok := client(t, c, Client{Name: "one", Mode: "full"})
		err := os.WriteFile(c.path("one", rulesEnd), []byte(text), 0o600)
		if text == "" {
			err = os.Remove(c.path("one", rulesEnd))
		}
		if err != nil {
			t.Fatal(err)
		}
		x, known := c.Client("one")
		if _, ok := c.find(tok); ok || !known || x.Mode != "plan" || fault.From(x.Fault).Code != fault.Broken {
			t.Errorf("%s: got %+v, opened %v, want a fault and plan", name, x, ok)
		}
	}
}

func TestAClientIsKeptAndTakenBack(t *testing.T) {
	c := newClients(t)
	if list, err := c.List(); err != nil || len(list) != 0 {
		t.Errorf("before the first: %v, %v", list, err)
	}
	before := client(t, c, Client{Name: "one"})
	if after := client(t, c, Client{Name: "one", Mode: "auto"}); after != before {
		t.Error("a change of mode made another token")
	}
	if err := c.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.find(before); ok {
		t.Error("the token opens a client that was taken back")
	}
	if left, _ := os.ReadDir(c.dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := c.Remove("one"); fault.From(err).Code != fault.NotFound {
		t.Errorf("got %v, want that it is not known", err)
	}
	for _, name := range []string{"", "Big", "../up", "a/b", "a.b", "-", strings.Repeat("x", 41), "a\nb"} {
		if _, err := c.Save(Client{Name: name}, false); fault.From(err).Code != fault.Invalid {
			t.Errorf("%q: got %v, want a refusal", name, err)
		}
		if _, known := c.Client(name); known {
			t.Errorf("%q is known", name)
		}
	}
}

func TestNoClientIsLiftedAboveTheServer(t *testing.T) {
	for _, x := range [][3]string{
		{"plan", "full", "plan"},
		{"full", "plan", "plan"},
		{"ask", "auto", "ask"},
		{"full", "full", "full"},
		{"auto", "ask", "ask"},
		{"", "full", "plan"},
		{"full", "", "plan"},
		{"root", "full", "plan"},
	} {
		if got := lower(x[0], x[1]); got != x[2] {
			t.Errorf("%q under %q: got %s, want %s", x[0], x[1], got, x[2])
		}
	}
}

func TestOnlyThisComputerCanReachTheServer(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:0": "127.0.0.1:0", "0": "127.0.0.1:0", "8000": "127.0.0.1:8000", "localhost:80": "127.0.0.1:80",
		"127.0.0.1": DefaultAddress, "[::1]:0": "[::1]:0", "::1": "[::1]:4637", "[::1]": "[::1]:4637",
	} {
		if got, err := loopback(address); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", address, got, err, want)
		}
	}
	for _, address := range []string{
		"", ":8000", "0.0.0.0:8000", "[::]:8000", "*:8000", "192.168.1.2:80", "example.org:80", "127.0.0.2:80", "127.1:80", "2130706433:80",
		"0x7f000001:80", "[::ffff:127.0.0.1]:80", "[::1%lo]:80", "127.0.0.1:70000", "127.0.0.1:http", "127.0.0.1:-1", "localhost.evil.test:80", "70000",
	} {
		if ln, err := Listen(address); fault.From(err) == nil || fault.From(err).Code != fault.Invalid {
			t.Errorf("%q: got %v, %v, want a refusal", address, ln, err)
		}
	}
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := Listen(ln.Addr().String()); fault.From(err).Code != fault.Busy {
		t.Errorf("a port in use: got %v", err)
	}
}
