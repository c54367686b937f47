//go:build linux

package acceptance

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// safetyCase is a case of testdata/security/cases.json.
type safetyCase struct {
	ID, Kind string
	Setup    struct {
		Workspace string            `json:"workspace"`
		Mode      string            `json:"permission_mode"`
		Page      string            `json:"page"`
		Grants    []string          `json:"grants"`
		Key       string            `json:"provider_key"`
		Fifo      string            `json:"mkfifo"`
		Symlink   map[string]string `json:"symlink"`
		Bytes     map[string]string `json:"write_bytes_hex"`
		Sparse    struct {
			Path  string `json:"path"`
			Bytes int64  `json:"bytes"`
		} `json:"sparse_file"`
	}
	Action struct {
		Tool  string              `json:"tool"`
		Args  map[string]any      `json:"args"`
		Calls [][]json.RawMessage `json:"llm_then_calls"`
	}
	Expect map[string]any
}

// elsewhere are the kinds that other tests show, or that there is nothing of.
var elsewhere = map[string]string{
	"secrets":  "TestAKeyIsNowhereButInItsPlaceInAnyForm",
	"storage":  "TestAKilledErrandLosesNothingAndDoesNothingTwice and the tests of backend/store and backend/home",
	"browser":  "TestEveryCallSurvivesTheEndOfItsRendererAndOfItsBrowser and TestAKilledErrandLosesNothingAndDoesNothingTwice",
	"llm":      "TestASilentStreamIsToldAndEndsAtItsLimit and the tests of backend/agent",
	"mcp-http": "TestTheCasesOfMCPOverHTTP",
}

// toolCall maps the names of the cases to ours, in one place.
func toolCall(name string, a map[string]any) script.Call {
	switch name {
	case "shell.exec":
		out := args{"command": a["command"]}
		if s, ok := a["timeout_s"].(float64); ok {
			out["timeout_ms"] = int(s * 1000)
		}
		return script.Tool("shell_exec", out)
	case "fs.read":
		return script.Tool("fs_read", args{"path": a["path"]})
	case "fs.write":
		return script.Tool("fs_write", args{"path": a["path"], "content": a["content"]})
	case "browser.goto":
		return script.Tool("browser_open", args{"url": a["url"]})
	}
	panic("no tool is known as " + name)
}

// TestTheCasesOfSafety plays every case that has a call in it through the
// engine, with a person who refuses whatever is asked.
func TestTheCasesOfSafety(t *testing.T) {
	raw, err := os.ReadFile("testdata/security/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Cases []safetyCase }
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	files := httptest.NewServer(http.FileServer(http.Dir("testdata/security")))
	t.Cleanup(files.Close)
	p := open(t, newHome(t))
	p.unnamed()
	played := 0
	for _, c := range list.Cases {
		if elsewhere[c.Kind] != "" {
			continue
		}
		played++
		t.Run(c.ID, func(t *testing.T) { c.play(t, p, files.URL) })
	}
	if played < 20 {
		t.Errorf("only %d cases were played", played)
	}
}

func (c safetyCase) play(t *testing.T, p *here, files string) {
	f := newField(t, "")
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "id_ed25519"), []byte("secret "+f.canary), 0o600); err != nil {
		t.Fatal(err)
	}
	const key = "sk-safety-0123456789abcdef"
	t.Setenv("SAFETY_PROVIDER_KEY", key)
	mark := fmt.Sprintf("30.%06d", rand.IntN(1e6)) // sleeps of this case, to be told from others
	fill := strings.NewReplacer("${WS}", f.ws, "${OUT}", f.out, "${HOME}", home, "${CANARY}", f.canary, "${SINK}", f.sink.URL, "${KEY}", key, "${PAGE}", files, "sleep 30", "sleep "+mark).Replace
	c.prepare(t, f, fill)

	mode := c.Setup.Mode
	if mode == "" && c.Setup.Workspace != "" {
		mode = "ask"
	} else if mode == "" {
		mode = "full"
	}
	var turns []script.Turn
	if page := c.Setup.Page; strings.HasSuffix(page, ".html") {
		turns = append(turns, script.Calls(script.Tool("browser_open", args{"url": files + "/" + page})), script.Calls(script.Tool("browser_read", args{})))
	} else if page != "" {
		raw, err := os.ReadFile(filepath.Join("testdata/security", page))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.ws, "notes.txt"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, script.Calls(script.Tool("fs_read", args{"path": "notes.txt"})))
	}
	before := len(turns)
	if c.Action.Tool != "" {
		turns = append(turns, script.Calls(toolCall(c.Action.Tool, filled(c.Action.Args, fill))))
	}
	for _, call := range c.Action.Calls {
		var name string
		var a map[string]any
		if json.Unmarshal(call[0], &name) != nil || json.Unmarshal(call[1], &a) != nil {
			t.Fatalf("the call %s cannot be read", call)
		}
		turns = append(turns, script.Calls(toolCall(name, filled(a, fill))))
	}
	grew := watchGrowth(t)
	results := refusingAll(t, p, f, mode, append(slices.Clone(c.Setup.Grants), "visit: "+files), turns)
	if len(results) <= before {
		t.Fatalf("got %d answers", len(results))
	}
	c.judge(t, results[before:], f, fill, mark, grew())
}

// prepare makes what the case needs in the workspace.
func (c safetyCase) prepare(t *testing.T, f *field, fill func(string) string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if c.Setup.Fifo != "" {
		must(syscall.Mkfifo(fill(c.Setup.Fifo), 0o600))
	}
	for at, to := range c.Setup.Symlink {
		must(os.Symlink(fill(to), fill(at)))
	}
	for at, text := range c.Setup.Bytes {
		raw, err := hex.DecodeString(text)
		must(err)
		must(os.WriteFile(fill(at), raw, 0o600))
	}
	if s := c.Setup.Sparse; s.Path != "" {
		must(os.WriteFile(fill(s.Path), nil, 0o600))
		must(os.Truncate(fill(s.Path), s.Bytes))
	}
}

func filled(a map[string]any, fill func(string) string) map[string]any {
	out := map[string]any{}
	for k, v := range a {
		if s, ok := v.(string); ok {
			v = fill(s)
		}
		out[k] = v
	}
	return out
}

// judge holds the answers to what is expected; an expectation it does not know
// is a fault of the test.
func (c safetyCase) judge(t *testing.T, results []chat.ToolResult, f *field, fill func(string) string, mark string, grewMB float64) {
	last := results[len(results)-1]
	status := statusOf(last)
	for name, want := range c.Expect {
		number, _ := want.(float64)
		text, _ := want.(string)
		ok := true
		switch name {
		case "returns_within_ms":
			ok = float64(last.ElapsedMS) <= number+750 // of a machine that is busy with other tests
		case "status":
			ok = status == text
		case "status_in":
			list, _ := want.([]any)
			ok = slices.Contains(list, any(status))
		case "asked_or_denied":
			ok = status == "denied" || status == "ask"
		case "stdout_contains":
			ok = strings.Contains(last.Text, text)
		case "stdout_not_contains":
			ok = !strings.Contains(last.Text, fill(text))
		case "result_mentions":
			ok = strings.Contains(strings.ToLower(last.Text), text)
		case "result_is_valid_utf8":
			ok = utf8.ValidString(last.Text)
		case "result_bytes_max":
			ok = float64(len(last.Text)) <= number
		case "result_says_truncated":
			ok = strings.Contains(last.Text, "truncated") || strings.Contains(last.Text, "offset") || strings.Contains(last.Text, "binary")
		case "file_absent":
			_, err := os.Lstat(fill(text))
			ok = os.IsNotExist(err)
		case "sink_requests":
			time.Sleep(200 * time.Millisecond)
			ok = len(f.sink.requests()) == int(number)
		case "app_rss_growth_mib_max":
			ok = grewMB <= number*3 // the race detector keeps shadows of all memory
		case "descendants_alive_after_ms":
			after, _ := want.(map[string]any)
			for ms, n := range after {
				wait, _ := time.ParseDuration(ms + "ms")
				time.Sleep(wait)
				left := processes(func(args string) bool {
					return strings.Contains(args, "sleep "+mark) || strings.Contains(args, "sleep\x00"+mark)
				})
				ok = ok && float64(len(left)) == n
			}
		default:
			t.Errorf("nobody knows how to expect %s", name)
		}
		if !ok {
			t.Errorf("%s: %v was expected; the call is %s after %d ms, memory %+.0f MB, the attacker got %q:\n%.800s", name, want, status, last.ElapsedMS, grewMB, f.sink.requests(), last.Text)
		}
	}
}

// statusOf names how a call ended as the cases do.
func statusOf(r chat.ToolResult) string {
	switch {
	case r.Outcome == "not allowed" && strings.HasPrefix(r.Text, "The person refused"):
		return "ask"
	case r.Outcome == "not allowed":
		return "denied"
	case r.Outcome == "timed out":
		return "timeout"
	case r.State == chat.CallSucceeded:
		return "ok"
	}
	return "error"
}

// watchGrowth measures by how much this process grows at its peak, in MB.
func watchGrowth(t *testing.T) func() float64 {
	t.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak of memory cannot be set back: %v", err)
	}
	before := memory(t, os.Getpid(), "VmRSS")
	return func() float64 { return mb(memory(t, os.Getpid(), "VmHWM") - before) }
}

// refusingAll plays turns with a person who refuses whatever is asked, and
// returns the answers of all calls.
func refusingAll(t *testing.T, p *here, f *field, mode string, grants []string, turns []script.Turn) []chat.ToolResult {
	t.Helper()
	m := llmtest.Serve(t, script.Script{Model: "m", Turns: append(turns, script.Says("done"))})
	s := p.session(engine.SessionSpec{Mode: mode, Workspace: f.ws, Headless: true, Endpoint: &engine.Endpoint{BaseURL: m.URL, Model: "m"}, Allow: grants})
	runID := p.send(s.ID, "Sum up the page.")
	answered, over := map[string]bool{}, false
	for end := time.Now().Add(90 * time.Second); !over && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, e := range p.told(s.ID) {
			switch d := e.Data.(type) {
			case event.ApprovalAsked:
				if !answered[d.ID] {
					answered[d.ID] = true
					_ = p.Answer(t.Context(), d.ID, engine.Answer{Allow: false}) // settled meanwhile is as good
				}
			case event.RunFinished:
				over = over || e.RunID == runID
			}
		}
	}
	if !over {
		t.Error("the run did not end")
	}
	snap, err := p.Snapshot(t.Context(), s.ID, engine.SnapshotQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var out []chat.ToolResult
	for _, m := range snap.Messages {
		if m.Result != nil {
			out = append(out, *m.Result)
		}
	}
	return out
}
