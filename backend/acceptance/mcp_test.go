//go:build linux

package acceptance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpClient is a client with a gofer-cli mcp of its own.
type mcpClient struct {
	t       *testing.T
	session *mcp.ClientSession
	cmd     *exec.Cmd
}

func connect(t *testing.T, home, name string, args ...string) *mcpClient {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"mcp", "--headless", "--mode", "full"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), envChild+"=cli", "GOFER_HOME="+home, "NO_COLOR=1", "DISPLAY=", "WAYLAND_DISPLAY=")
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() { session.Close() })
	return &mcpClient{t, session, cmd}
}

func (c *mcpClient) call(name string, args map[string]any) (string, bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 90*time.Second)
	defer cancel()
	r, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), false
	}
	text, _ := r.Content[0].(*mcp.TextContent)
	return text.Text, !r.IsError
}

func (c *mcpClient) must(name string, args map[string]any) string {
	c.t.Helper()
	text, ok := c.call(name, args)
	if !ok {
		c.t.Fatalf("%s %v: %s", name, args, text)
	}
	return text
}

func numbered(t *testing.T) string {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><p>this is %s</p>", r.URL.Path, r.URL.Path)
	}))
	t.Cleanup(site.Close)
	return site.URL
}

func TestTwoMCPClientsShareABrowserAndKeepTheirTabs(t *testing.T) {
	home, site := t.TempDir(), numbered(t)
	first := connect(t, home, "first")
	first.must("browser_open", map[string]any{"url": site + "/one"})
	second := connect(t, home, "second")
	second.must("browser_open", map[string]any{"url": site + "/two"})
	for c, want := range map[*mcpClient]string{first: "/one", second: "/two"} {
		if got := c.must("browser_tabs", map[string]any{"action": "list"}); strings.Count(got, "\n") != 0 || !strings.Contains(got, want) {
			t.Errorf("tabs: %s, want one with %s", got, want)
		}
		if got := c.must("browser_snapshot", nil); !strings.Contains(got, "this is "+want) {
			t.Errorf("snapshot: %s", got)
		}
	}
	roots := len(processes(func(args string) bool {
		return strings.Contains(args, "--user-data-dir="+home+"/") && !strings.Contains(args, "--type=")
	}))
	if roots != 1 {
		t.Errorf("%d browsers run, want one that both share", roots)
	}
	// A guest that leaves takes its tabs with it, and nothing of the other.
	if err := second.session.Close(); err != nil {
		t.Errorf("leave: %v", err)
	}
	if got := first.must("browser_snapshot", nil); !strings.Contains(got, "this is /one") {
		t.Errorf("after the other left: %s", got)
	}
	third := connect(t, home, "third", "--ephemeral") // with a profile of its own
	third.must("browser_open", map[string]any{"url": site + "/three"})
	if err := third.session.Close(); err != nil {
		t.Errorf("leave: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "ephemeral", "*")); len(left) > 0 {
		t.Errorf("the throwaway home stayed: %v", left)
	}
	if err := first.session.Close(); err != nil {
		t.Errorf("leave: %v", err)
	}
	noBrowser(t, home)
}

func noBrowser(t *testing.T, home string) {
	t.Helper()
	until(t, 20*time.Second, "no process of a browser is left", func() bool { return len(browsers(home)) == 0 })
}

func TestAnMCPServerThatIsKilledLeavesNothingAndTheOtherGoesOn(t *testing.T) {
	home, site := t.TempDir(), numbered(t)
	host := connect(t, home, "host")
	host.must("browser_open", map[string]any{"url": site + "/one"})
	guest := connect(t, home, "guest")
	guest.must("browser_open", map[string]any{"url": site + "/two"})
	if err := syscall.Kill(host.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	noBrowser(t, home)
	if text, ok := guest.call("browser_snapshot", nil); ok || !strings.Contains(text, "has ended. Start the command again.") {
		t.Errorf("the guest is told %q", text)
	}
	fresh := connect(t, home, "fresh")
	fresh.must("browser_open", map[string]any{"url": site + "/three"})
}

func TestAnMCPShellCallEndsWithItsCancel(t *testing.T) {
	c := connect(t, t.TempDir(), "shell")
	running := func(mark string) int {
		return len(processes(func(args string) bool { return strings.Contains(args, "sleep\x00"+mark) }))
	}
	begin := func(mark string) (cancel func(), ended chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		ended = make(chan error, 1)
		go func() {
			_, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: "shell_exec", Arguments: map[string]any{"command": "(sleep " + mark + " & sleep " + mark + ")"}})
			ended <- err
		}()
		until(t, 20*time.Second, "the command runs", func() bool { return running(mark) == 2 })
		return cancel, ended
	}
	cancel, ended := begin("271.31")
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled call succeeded")
	}
	until(t, 5*time.Second, "the cancelled command has ended", func() bool { return running("271.31") == 0 })
	if text, ok := c.call("shell_exec", map[string]any{"command": "echo still here"}); !ok || !strings.Contains(text, "still here") {
		t.Errorf("afterwards: %s", text)
	}
}

func TestAnMCPServerEndsWithItsInputAndLeavesNoChild(t *testing.T) {
	home := t.TempDir()
	cmd := exec.Command(os.Args[0], "mcp", "--headless", "--mode", "full")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), envChild+"=cli", "GOFER_HOME="+home, "DISPLAY=", "WAYLAND_DISPLAY=")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_open","arguments":{"url":"about:blank"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shell_exec","arguments":{"command":"(sleep 271.32 & sleep 271.32)"}}}`,
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	sleeping := func() int {
		return len(processes(func(args string) bool { return strings.Contains(args, "sleep\x00271.32") }))
	}
	until(t, 20*time.Second, "the command and the browser run", func() bool { return sleeping() == 2 && len(browsers(home)) > 0 })
	began := time.Now()
	in.Close()
	err = cmd.Wait()
	if took := time.Since(began); err != nil || took > 15*time.Second {
		t.Errorf("the server ended after %v with %v", took, err)
	}
	if n := sleeping(); n > 0 {
		t.Errorf("%d processes of the call are left", n)
	}
	noBrowser(t, home)
}
