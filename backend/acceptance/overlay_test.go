//go:build linux

package acceptance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// twentyCalls is a loop with a picture, a retry before and one within a reply,
// and a place to stop at.
func twentyCalls(page string) script.Script {
	counted := &script.Usage{Input: 900, Output: 30, Cached: 100, Reasoning: 4}
	turn := func(text string, calls ...script.Call) script.Turn {
		return script.Turn{Reasoning: []string{"I think ", "first."}, Text: script.Words(text), Calls: calls, Usage: counted}
	}
	write := func(n int) script.Call {
		return script.Tool("fs_write", args{"path": fmt.Sprintf("note-%d.txt", n), "content": fmt.Sprintf("This is note number %d: \"quoted\" — and über long, so that its arguments come in several pieces.", n)})
	}
	reads := func(n int) script.Call { return script.Tool("fs_read", args{"path": fmt.Sprintf("note-%d.txt", n)}) }
	turns := []script.Turn{
		turn("I open the page and look.", script.Tool("browser_open", args{"url": page})),
		turn("", script.Tool("browser_screenshot", args{})),
	}
	for n := range 6 {
		turns = append(turns, turn("I write a note.", write(n)))
	}
	turns = append(turns,
		turn("I read three at once.", reads(0), reads(1), reads(2)),
		turn("And the others.", reads(3), reads(4), reads(5)),
		turn("", script.Tool("fs_list", args{"path": "."}), script.Tool("fs_list", args{"path": "."})),
		script.Turn{Text: []string{"Now I ", "wait."}, Hold: "stop here", After: 2, Usage: counted},
		turn("I go on.", write(6), write(7)),
		turn("", reads(6), reads(7)),
		turn("All done."),
	)
	turns[3].Fail = []script.Failure{{Status: 503, Times: 1}}
	turns[8].Fail = []script.Failure{{Kind: script.FailReset, After: 4, Times: 1}}
	return script.Script{Model: "gpt-4o-scripted", Turns: turns}
}

// rows is everything that was stored of a session, without what differs from
// run to run: ids, times, bytes of a picture.
func (r record) rows(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	write := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, string(raw))
	}
	r.messages = slices.Clone(r.messages)
	for from := 0; from < len(r.messages); from++ { // calls that read end in any order
		to := from
		for to < len(r.messages) && r.messages[to].Result != nil {
			to++
		}
		slices.SortStableFunc(r.messages[from:to], func(a, b chat.Message) int { return strings.Compare(a.Result.Title, b.Result.Title) })
		from = max(from, to-1)
	}
	for i, m := range r.messages {
		m.Seq = int64(i + 1)
		for i := range m.Calls {
			m.Calls[i].WireID = ""
		}
		if m.Result != nil && m.Result.Name == "browser_open" { // a page tells of itself in its own time
			result := *m.Result
			result.Text, result.Outcome, m.Result = "", "", &result
		}
		m.Replay = nil // names the server, whose port is another each time
		write(m)
	}
	for _, run := range r.runs {
		write(run)
	}
	var types []string
	for _, e := range r.events {
		if e.Type != "browser.changed" {
			types = append(types, e.Type)
		}
	}
	write(types)
	text := out.String()
	for _, v := range varying {
		text = v.find.ReplaceAllString(text, v.with)
	}
	return text
}

var varying = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`[0-9a-f]{64}`), "BLOB"},
	{regexp.MustCompile(`key [0-9a-f]{12}`), "key KEY"},
	{regexp.MustCompile(`\d+ bytes`), "N bytes"},
	{regexp.MustCompile(`"(size|createdAt|CreatedAt|StartedAt|FinishedAt|CancelAt|elapsedMs)":\d+`), `"$1":0`},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "HOST"},
	{regexp.MustCompile(`/tmp/[^\s"]*/work`), "WORK"},
	{regexp.MustCompile(`loaded in \d+ ms|\d+ ms`), "MS"},
}

func TestALoopStoresTheSameRowsWhateverTheServersWays(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>Door</title><h1 style="color:#a00">A red door</h1><button>Open it</button>`)
	}))
	t.Cleanup(site.Close)
	dir := newHome(t)
	p := open(t, dir)
	ways := []string{""}
	for name := range script.Overlays {
		ways = append(ways, name)
	}
	slices.Sort(ways)
	played := make([]string, len(ways))
	t.Run("play", func(t *testing.T) {
		for i, way := range ways {
			t.Run(way, func(t *testing.T) {
				t.Parallel()
				played[i] = p.twenty(t, way, site.URL)
			})
		}
	})
	sessions := map[string]string{}
	for i, way := range ways {
		sessions[way] = played[i]
	}
	p.end()
	plain := read(t, dir, sessions[""])
	want := plain.rows(t)
	plain.check(t)
	for _, way := range ways[1:] {
		t.Run("stored/"+way, func(t *testing.T) {
			r := read(t, dir, sessions[way])
			r.check(t)
			if got := r.rows(t); got != want {
				t.Error(firstDifference(got, want))
			}
		})
	}
}

// twenty plays the loop with one way of a server.
func (p *here) twenty(t *testing.T, way, page string) (sessionID string) {
	m := llmtest.Serve(t, twentyCalls(page))
	m.Overlay = script.Overlays[way]
	s := p.session(engine.SessionSpec{Mode: "full", Workspace: t.TempDir() + "/work", Endpoint: &engine.Endpoint{BaseURL: m.URL, Model: "gpt-4o-scripted"}})
	first := p.send(s.ID, "Go round.")
	select {
	case <-m.Reached("stop here"):
	case <-time.After(60 * time.Second):
		t.Fatal("the place to stop at was not reached")
	}
	began := time.Now()
	if err := p.Stop(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("stopping took %v", took)
	}
	if end := p.finished(s.ID, first, 5*time.Second); end.State != event.RunIsCancelled || end.Calls != 16 {
		t.Errorf("the first run ended %s after %d calls, want cancelled after 16", end.State, end.Calls)
	}
	next, err := p.Continue(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if end := p.finished(s.ID, next, 30*time.Second); end.State != event.RunIsCompleted || end.Calls != 4 {
		t.Errorf("the second run ended %s (%+v) after %d calls, want completed after 4", end.State, end.Error, end.Calls)
	}
	retries := 0
	for _, e := range p.told(s.ID) {
		if e.Type == "route.retrying" {
			retries++
		}
	}
	pictures, left := 0, 0
	for _, r := range m.Requests() {
		if strings.Contains(string(r.Body), "data:image/jpeg;bytes=") {
			pictures++
		}
		if r.Left {
			left++
		}
	}
	if requests := len(m.Requests()); retries != 2 || pictures != requests-2 || left != 1 {
		t.Errorf("%d retries, %d of %d requests with the picture, %d connections closed early; want 2, all after the screenshot, 1", retries, pictures, requests, left)
	}
	return s.ID
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("row %d: got\n%.2000s\nwant\n%.2000s", i, g[i], w[i])
		}
	}
	return fmt.Sprintf("got %d rows, want %d", len(g), len(w))
}
