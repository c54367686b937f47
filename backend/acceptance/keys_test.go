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
)

// leaks lists the forms of a key that stand in a text.
func leaks(key, text string) []string {
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
	var found []string
	for name, form := range forms {
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
			// the child's own environment, and that of the app as any program of the person could read it
			command := `env; a=environ; tr '\0' '\n' < /proc/$PPID/$a`
			args, _ := json.Marshal(map[string]string{"command": command})
			reply, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{
				"message": map[string]any{"content": "I look.", "tool_calls": []any{map[string]any{"id": "1", "type": "function", "function": map[string]any{"name": "shell_exec", "arguments": string(args)}}}},
			}}})
			_, _ = w.Write(reply)
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
			line := []string{"run", "--json", "--headless", "--mode", "full", "look"}
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
			for e := range c.events {
				s.stdin = e.SessionID
			}
			session := s.stdin
			s.stdin = ""
			if hidden := strings.Contains(c.stdout(), "A_KEY=[redacted]"); hidden != (way == "environment") {
				t.Errorf("the app's own environment shows its key: %v", !hidden)
			}
			texts := map[string]string{"standard output": c.stdout(), "standard error": c.stderr()}
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
			after := leaksIn(t, s.home, key)
			t.Logf("looked at %d files during the run and %d after it", during, after)
		})
	}
}
