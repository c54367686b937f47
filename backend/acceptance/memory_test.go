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
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// openPages holds the tricky pages the tool bench is developed against.
const openPages = "../../bench/browser/pages"

// The bounds, in MB: of the process at its largest, and of what many more
// snapshots may add to it.
const (
	peakLimit = 60
	growth    = 6
)

// TestServingToolsStaysSmall opens every open page and two very large ones
// through an MCP server in a process of its own, and then reads the large table
// again and again. The process is built as it is shipped: the race detector
// would count.
func TestServingToolsStaysSmall(t *testing.T) {
	early, rounds := 10, 50
	if long() {
		early, rounds = 200, 1000
	}
	dir, binary := t.TempDir(), shipped(t)
	site, pages := largeSite(t)

	cmd := exec.CommandContext(context.Background(), binary, "mcp", "--headless", "--ephemeral", "--mode", "full")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFER_HOME="+filepath.Join(dir, "home"))
	client := mcp.NewClient(&mcp.Implementation{Name: "memory", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Minute}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // it waits for the server, which waits for its browser
	call := func(name string, args map[string]any) string {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil || len(r.Content) == 0 {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if r.IsError {
			t.Fatalf("%s %v: %s", name, args, text)
		}
		return text
	}
	for _, p := range pages {
		call("browser_open", map[string]any{"url": site + p})
		call("browser_snapshot", map[string]any{"view": "full", "budget": 64000})
	}
	call("browser_open", map[string]any{"url": site + "/table"})
	var before int
	for i := 1; i <= rounds; i++ {
		if text := call("browser_snapshot", nil); !strings.Contains(text, "Customer 1 ") {
			t.Fatalf("no table in\n%s", text)
		}
		if i == early {
			before = memory(t, cmd.Process.Pid, "VmRSS")
		}
	}
	after, peak := memory(t, cmd.Process.Pid, "VmRSS"), memory(t, cmd.Process.Pid, "VmHWM")
	t.Logf("%d pages; resident %.1f MB after %d snapshots of 5,000 rows, %.1f MB after %d, peak %.1f MB", len(pages), mb(before), early, mb(after), rounds, mb(peak))
	if mb(peak) > peakLimit {
		t.Errorf("the peak is %.1f MB; %d are the limit", mb(peak), peakLimit)
	}
	if mb(after-before) > growth {
		t.Errorf("it grew by %.1f MB over %d snapshots", mb(after-before), rounds-early)
	}
}

// shipped builds gofer-cli as it is shipped.
func shipped(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "gofer-cli")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", binary, "gofer/backend/cmd/headless")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

func mb(kb int) float64 { return float64(kb) / 1024 }

// memory reads a figure of a process, in KB.
func memory(t *testing.T, pid int, what string) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(raw), what+":")
	var kb int
	if _, err := fmt.Sscan(line, &kb); err != nil {
		t.Fatalf("%s of %d: %v", what, pid, err)
	}
	return kb
}

// largeSite serves the open pages and two large ones, and lists their paths.
func largeSite(t *testing.T) (origin string, paths []string) {
	t.Helper()
	var site *httptest.Server
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/table":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>table</title><h1>Orders</h1><table><tr><th>Id<th>Customer<th>Total</tr>")
			for i := range 5000 {
				fmt.Fprintf(w, "<tr><td>%d<td>Customer %d<td>%d.50</tr>", i, i, i*7%991)
			}
		case "/buttons":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>buttons</title><h1>Board</h1>")
			for i := range 3000 {
				fmt.Fprintf(w, "<button>Item %d</button>", i)
			}
		default:
			body, err := os.ReadFile(filepath.Join(openPages, filepath.Clean(r.URL.Path)))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			if strings.HasSuffix(r.URL.Path, ".html") {
				w.Header().Set("Content-Type", "text/html")
			} else {
				w.Header().Set("Content-Type", "text/javascript")
			}
			other := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
			_, _ = strings.NewReplacer("{{ORIGIN}}", site.URL, "{{XORIGIN}}", other, "{{RUN}}", "r").WriteString(w, string(body))
		}
	}))
	t.Cleanup(site.Close)
	files, err := filepath.Glob(filepath.Join(openPages, "open", "*", "index.html"))
	if err != nil || len(files) < 20 {
		t.Fatalf("the open pages are not at %s: %v", openPages, err)
	}
	for _, f := range files {
		paths = append(paths, "/open/"+filepath.Base(filepath.Dir(f))+"/index.html")
	}
	return site.URL, append(paths, "/buttons", "/table")
}
