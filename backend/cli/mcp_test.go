package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gofer/backend/engine"
	"gofer/backend/home"
	"gofer/backend/host/hosttest"
)

func TestTheToolsAreServedOverHTTPToWhoeverHasAToken(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(home.EnvDir, dir)
	fake := &hosttest.Fake{On: on{"OpenCaller": func(context.Context, ...any) (any, error) { return "c", nil }}}
	x := newTerminal(t, fake, "mcp", "--http=0", "--allow", "visit: https://example.org", "--workspace", "w")
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- x.runIn(ctx) }()
	x.out.waitFor(t, "/mcp\n")
	url := strings.TrimSpace(x.out.String())
	raw, err := os.ReadFile(filepath.Join(dir, "mcp", "client-default.token"))
	if err != nil {
		t.Fatal(err)
	}
	token, session := strings.TrimSpace(string(raw)), ""
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode >= 300 {
			t.Fatalf("%s: %s", body, resp.Status)
		}
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
	}
	stop()
	x.want(<-code, ExitDone, url+"\n", "default: mode plan, no grants, token in "+dir, "--mode plan")
	if strings.Contains(x.err.String(), token) {
		t.Error("the token was printed")
	}
	opened := fake.Calls("OpenCaller")
	if len(opened) != 1 {
		t.Fatalf("%d callers were opened, want 1", len(opened))
	}
	if got := opened[0].Args[0].(engine.CallerSpec); got.Name != "default" || got.Mode != "plan" || got.Workspace != "/desk/w" || len(got.Allow) != 1 {
		t.Errorf("the caller is %+v", got)
	}
	if x.closed != 1 || len(fake.Calls("CloseCaller")) != 1 {
		t.Errorf("the home was closed %d times, callers %d", x.closed, len(fake.Calls("CloseCaller")))
	}
}

func TestTokensAreMadeListedAndTakenBack(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(home.EnvDir, dir)
	file := func(name string) string { return filepath.Join(dir, "mcp", "client-"+name+".token") }
	last := ""
	for _, step := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{nil, ExitDone, "", "no client yet"},
		{[]string{"lab"}, ExitDone, file("lab") + "\n", "lab: mode plan, no grants"},
		{[]string{"lab", "--mode", "ask", "--allow", "visit: https://a.test", "--allow", "send: https://a.test"}, ExitDone, file("lab") + "\n", "mode ask, visit: https://a.test; send: https://a.test"},
		{[]string{"lab", "--renew"}, ExitDone, file("lab") + "\n", "mode ask, visit"},
		{[]string{"lab", "--allow", ""}, ExitDone, file("lab") + "\n", "mode ask, no grants"},
		{[]string{"ed"}, ExitDone, file("ed") + "\n", "ed: mode plan"},
		{nil, ExitDone, file("ed") + "\n" + file("lab") + "\n", "Client lab: mode ask"},
		{[]string{"lab", "--revoke"}, ExitDone, "", "Taken back."},
		{[]string{"lab", "--revoke"}, ExitFailed, "", "no client \"lab\""},
		{[]string{"Big"}, ExitFailed, "", "small letters"},
		{nil, ExitDone, file("ed") + "\n", "Client ed"},
	} {
		x := newTerminal(t, &hosttest.Fake{}, append([]string{"mcp", "token"}, step.args...)...)
		x.want(x.run(), step.code, step.out, step.err)
		raw, _ := os.ReadFile(file("lab"))
		if token := strings.TrimSpace(string(raw)); token != "" {
			if strings.Contains(x.err.String()+x.out.String(), token) {
				t.Errorf("%q printed the token", step.args)
			}
			if renewed := last != "" && token != last; renewed != (len(step.args) > 1 && step.args[1] == "--renew") {
				t.Errorf("%q: another token: %v", step.args, renewed)
			}
			last = token
		}
	}
	if runtime.GOOS == "windows" {
		return // permissions are elsewhere
	}
	if err := os.Chmod(file("ed"), 0o644); err != nil {
		t.Fatal(err)
	}
	x := newTerminal(t, &hosttest.Fake{}, "mcp", "token", "ed")
	x.want(x.run(), ExitFailed, "", "other users may use", "--renew")
	x = newTerminal(t, &hosttest.Fake{}, "mcp", "token", "ed", "--renew")
	x.want(x.run(), ExitDone, file("ed")+"\n")
}
