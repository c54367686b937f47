//go:build linux

package acceptance

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/event"
)

// formsOf are the forms of a key that can be turned back.
func formsOf(key string) map[string]string {
	backwards := []rune(key)
	slices.Reverse(backwards)
	forms := map[string]string{
		"plain": key, "hex": hex.EncodeToString([]byte(key)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(key))),
		"address": url.QueryEscape(key), "path": url.PathEscape(key), "backwards": string(backwards),
	}
	for shift := range 3 { // where the key may stand within a longer text
		for name, enc := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 of addresses": base64.RawURLEncoding} {
			whole := enc.EncodeToString([]byte(strings.Repeat(" ", shift) + key))
			forms[fmt.Sprint(name, shift)] = whole[(shift*8+5)/6 : (shift+len(key))*8/6]
		}
	}
	return forms
}

// leaks lists the forms of a key that stand in a text.
func leaks(key, text string) []string {
	var found []string
	for name, form := range formsOf(key) {
		if strings.Contains(text, form) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// leaksIn looks through every file of a folder.
func leaksIn(t *testing.T, dir string, keys ...string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, key := range keys {
			if found := leaks(key, string(raw)); found != nil {
				t.Errorf("%s holds the key %s", path, strings.Join(found, ", "))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// gossip is a model server that repeats the key it got, in every form, in
// errors, and has the model look at the environment of a child.
type gossip struct {
	*httptest.Server
	asked atomic.Int32
	got   atomic.Value
	open  chan struct{}
}

func newGossip(t *testing.T) *gossip {
	g := &gossip{open: make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		g.got.Store(key)
		backwards := []rune(key)
		slices.Reverse(backwards)
		switch g.asked.Add(1) {
		case 1: // retried
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintf(w, `{"error":{"message":"busy; your key is %s, %s"}}`, key, base64.StdEncoding.EncodeToString([]byte(key)))
		case 2:
			// the child's own environment, and that of the app as any program of
			// the person could read it; then the key in every form, whole and in
			// two pieces
			command := `env; a=environ; tr '\0' '\n' < /proc/$PPID/$a; cat notes.txt; printf %s "$(head -c 9 key.txt)"; sleep 0.3; tail -c +10 key.txt`
			args, _ := json.Marshal(map[string]string{"command": command})
			w.Header().Set("Content-Type", "text/event-stream")
			say := func(delta map[string]any, finish any) {
				chunk, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
				fmt.Fprintf(w, "data: %s\n\n", chunk)
				w.(http.Flusher).Flush()
			}
			for _, field := range []string{"reasoning_content", "content"} {
				for _, form := range formsOf(key) {
					for _, letter := range "It is " + form + " then. " {
						say(map[string]any{field: string(letter)}, nil)
					}
				}
			}
			say(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "1", "type": "function", "function": map[string]any{"name": "shell_exec", "arguments": string(args)}}}}, nil)
			say(map[string]any{}, "tool_calls")
			fmt.Fprint(w, "data: [DONE]\n\n")
		default: // fatal
			<-g.open
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"wrong key %s, that is %s or %s or %s"}}`, key, hex.EncodeToString([]byte(key)), url.QueryEscape(key), string(backwards))
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func TestAKeyIsNowhereButInItsPlaceInAnyForm(t *testing.T) {
	if found := leaks("a key+1", base64.StdEncoding.EncodeToString([]byte("xxa key+1!"))+" "+hex.EncodeToString([]byte("a key+1"))); len(found) != 3 {
		t.Fatalf("the search itself finds %v, want base64 of both kinds and hex", found)
	}
	for _, way := range []string{"provider", "environment"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			const key = "sk+test/4711=Zq9vWx-aB3dE5fG7hJ"
			g := newGossip(t)
			s := spec{home: newHome(t), cwd: t.TempDir(), env: []string{"GOFER_KEYRING=off"}}
			var notes strings.Builder
			for name, form := range formsOf(key) {
				fmt.Fprintf(&notes, "note %s: %s\n", name, form)
			}
			put(t, filepath.Join(s.cwd, "notes.txt"), notes.String())
			put(t, filepath.Join(s.cwd, "key.txt"), key+"\n")
			line := []string{"run", "--json", "--headless", "--mode", "full", "look at " + key}
			if way == "provider" {
				s.stdin = key + "\n"
				if code, _, stderr := gofer(t, s, "providers", "add", "--name", "Gossip", "--base-url", g.URL+"/v1", "--model", "m", "--key-stdin", "--default"); code != 0 {
					t.Fatalf("adding the provider ended with %d\n%s", code, stderr)
				}
				s.stdin = ""
			} else {
				s.env = append(s.env, "A_KEY="+key)
				line = append(line, "--base-url", g.URL+"/v1", "--model", "m", "--api-key-env", "A_KEY")
			}
			c := start(t, s, line...)
			until(t, 30*time.Second, "the last request", func() bool { return g.asked.Load() >= 3 })
			during := leaksIn(t, s.home, key) // the log of the database is still open
			if _, err := os.Stat(s.home + "/gofer.db-wal"); err != nil {
				t.Errorf("there is no WAL to look at: %v", err)
			}
			close(g.open)
			if code := c.code(t, 30*time.Second); code != 1 {
				t.Errorf("got exit code %d, want 1", code)
			}
			if g.got.Load() != key {
				t.Errorf("the server got the key %v", g.got.Load())
			}
			// What a face puts together from the pieces it is sent.
			session, told := "", map[string]string{}
			for e := range c.events {
				session = e.SessionID
				switch d := e.Data.(type) {
				case event.MessageDelta:
					told["streamed "+d.Kind+" "+d.MessageID] += d.Text
				case event.ToolProgress:
					told["output of "+d.CallID] += d.Text
				}
			}
			if hidden := strings.Contains(c.stdout(), "A_KEY=[redacted]"); hidden != (way == "environment") {
				t.Errorf("the app's own environment shows its key: %v", !hidden)
			}
			texts := map[string]string{"standard output": c.stdout(), "standard error": c.stderr()}
			for what, text := range told {
				if !strings.Contains(text, "[redacted]") && !strings.Contains(what, " call ") {
					t.Errorf("%s shows nothing hidden: %q", what, text)
				}
				texts[what] = text
			}
			if len(told) < 3 {
				t.Errorf("only %d texts came in pieces", len(told))
			}
			for _, format := range []string{"markdown", "json"} {
				code, stdout, stderr := gofer(t, s, "sessions", "export", session, "--format", format)
				if code != 0 || !strings.Contains(stdout, "PATH=") {
					t.Errorf("the export as %s ended with %d, %s and does not hold what the child saw:\n%.800s", format, code, stderr, stdout)
				}
				texts["export as "+format] = stdout
			}
			_, texts["doctor"], _ = gofer(t, s, "doctor")
			_, texts["list"], _ = gofer(t, s, "providers", "list", "--json")
			for what, text := range texts {
				if found := leaks(key, text); found != nil {
					t.Errorf("%s holds the key %s", what, strings.Join(found, ", "))
				}
			}
			if way == "provider" {
				texts := askedByMCP(t, s)
				for what, text := range texts {
					if found := leaks(key, text); found != nil {
						t.Errorf("%s over MCP holds the key %s", what, strings.Join(found, ", "))
					}
				}
			}
			after := leaksIn(t, s.home, key)
			t.Logf("%d forms of the key: looked at %d files during the run and %d after it, and at %d texts", len(formsOf(key)), during, after, len(texts))
		})
	}
}

// askedByMCP has another program look for the key: in a file, by a command, and
// in the app's own data, which it is refused.
func askedByMCP(t *testing.T, s spec) map[string]string {
	t.Helper()
	c := connect(t, s.home, "curious", "--workspace", s.cwd)
	out := map[string]string{
		"a file":    c.must("fs_read", map[string]any{"path": "notes.txt"}),
		"a command": c.must("shell_exec", map[string]any{"command": "cat notes.txt"}),
	}
	for what, text := range out {
		if !strings.Contains(text, "note hex: [redacted]") {
			t.Errorf("%s over MCP does not show what was hidden: %s", what, text)
		}
	}
	for name, args := range map[string]map[string]any{
		"fs_read":   {"path": filepath.Join(s.home, "settings.json")},
		"fs_list":   {"path": s.home},
		"fs_search": {"path": s.home, "pattern": "key"},
		"fs_write":  {"path": filepath.Join(s.home, "settings.json"), "content": "{}"},
		"fs_delete": {"path": filepath.Join(s.home, "gofer.db")},
	} {
		text, ok := c.call(name, args)
		if ok || !strings.Contains(text, "app itself") && !strings.Contains(text, "Gofer") {
			t.Errorf("%s in the app's own data: %v, %s", name, ok, text)
		}
	}
	return out
}
