package script

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// talk is a tiny client that keeps a history as an agent would.
type talk struct {
	t        *testing.T
	url      string
	model    string
	messages []map[string]any
	tools    []any
}

func newTalk(t *testing.T, s *Server, prompt string, tools ...string) *talk {
	k := &talk{t: t, url: s.URL, model: "m"}
	for _, name := range tools {
		k.tools = append(k.tools, map[string]any{"type": "function", "function": map[string]any{
			"name": name, "parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		}})
	}
	k.say(prompt)
	return k
}

func (k *talk) say(text string) {
	k.messages = append(k.messages, map[string]any{"role": "user", "content": text})
}

type reply struct {
	status int
	text   string
	calls  []wireCall
	body   string
}

func (k *talk) post() reply {
	k.t.Helper()
	body, _ := json.Marshal(map[string]any{"model": k.model, "messages": k.messages, "tools": k.tools})
	req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, k.url+"/chat/completions", bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer sk-secret")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		k.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	out := reply{status: res.StatusCode, body: string(raw)}
	if res.StatusCode != http.StatusOK {
		return out
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		k.t.Fatal(err)
	}
	msg := at(list(v["choices"])[0], "message")
	out.text = contentText(at(msg, "content"))
	for _, c := range list(at(msg, "tool_calls")) {
		out.calls = append(out.calls, wireCall{at(c, "id").(string), at(c, "function", "name").(string), at(c, "function", "arguments").(string)})
	}
	k.messages = append(k.messages, msg.(map[string]any))
	return out
}

func (k *talk) result(id, text string) {
	k.messages = append(k.messages, map[string]any{"role": "tool", "tool_call_id": id, "content": text})
}

// answer posts, answers every call with do, and returns the calls as name args.
func (k *talk) answer(do func(name, args string) string) (said []string, r reply) {
	k.t.Helper()
	r = k.post()
	if r.status != http.StatusOK {
		k.t.Fatalf("got status %d: %s", r.status, r.body)
	}
	for _, c := range r.calls {
		said = append(said, c.name+" "+c.args)
		k.result(c.id, do(c.name, c.args))
	}
	return said, r
}

func serve(t *testing.T, scripts ...Script) *Server {
	t.Helper()
	s, err := Serve(scripts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var readAll = Script{
	Model: "m", Prompt: "read everything",
	Turns: []Turn{
		Calls(Call{Name: "list", As: "index"}),
		{Each: &Each{From: "index|inside", Find: `\[([^\]]+)\]\(([^)]+)\)`, As: "link"}, Do: []Turn{
			{Let: []Let{{Name: "url", From: "link.2|abs:prompt"}}, Calls: []Call{{Name: "read", Args: map[string]any{"url": "${url}"}}}},
			Calls(Call{Name: "write", Args: map[string]any{"path": "${link.1|slug}.md", "content": "${read|inside|sentences:1}"}}),
		}},
		Says("I read ${count:read} pages."),
	},
}

func pages(name, args string) string {
	if name == "list" {
		return "<outside from=\"x\">\n[First Page](/a) and [Second](/b), again [Second](/b)\n</outside>"
	}
	return "ok\n<outside from=\"x\">\n# Title\n\nThis is " + args + ". More.\n</outside>"
}

func TestLoopsWorkFromResults(t *testing.T) {
	for _, by := range []By{ByOrder, ByHistory} {
		s := readAll
		s.By = by
		srv := serve(t, s)
		k := newTalk(t, srv, "Please read everything on http://127.0.0.1:9/x/", "list", "read", "write")
		var got []string
		for range 10 {
			said, r := k.answer(pages)
			got = append(got, said...)
			if len(said) == 0 {
				got = append(got, r.text)
				break
			}
		}
		want := []string{
			`list {}`,
			`read {"url":"http://127.0.0.1:9/a"}`,
			`write {"content":"This is {\"url\":\"http://127.0.0.1:9/a\"}.","path":"first-page.md"}`,
			`read {"url":"http://127.0.0.1:9/b"}`,
			`write {"content":"This is {\"url\":\"http://127.0.0.1:9/b\"}.","path":"second.md"}`,
			`I read 2 pages.`,
		}
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Errorf("%s: got\n%s\nwant\n%s", by, g, w)
		}
		if p := srv.Problems(); len(p) > 0 {
			t.Errorf("problems: %v", p)
		}
	}
}

func TestAKilledClientGoesOnWithAFreshServer(t *testing.T) {
	s := readAll
	s.By = ByHistory
	k := newTalk(t, serve(t, s), "read everything on http://h/", "list", "read", "write")
	for range 3 {
		k.answer(pages)
	}
	k.url = serve(t, s).URL // neither side remembers
	said, _ := k.answer(pages)
	if got, want := strings.Join(said, ""), `read {"url":"http://h/b"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAFoldedHistoryIsFilledFromMemory(t *testing.T) {
	s := readAll
	s.By = ByHistory
	k := newTalk(t, serve(t, s), "read everything on http://h/", "list", "read", "write")
	for range 3 {
		k.answer(pages)
	}
	k.messages = append([]map[string]any{{"role": "user", "content": "Summary of what was folded."}}, k.messages[len(k.messages)-2:]...)
	said, _ := k.answer(pages)
	if got, want := strings.Join(said, ""), `read {"url":"http://h/b"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheSameErrandAskedAgainStartsAnew(t *testing.T) {
	s := readAll
	s.By = ByHistory
	k := newTalk(t, serve(t, s), "read everything on http://h/", "list", "read", "write")
	first := map[string]bool{}
	for {
		_, r := k.answer(pages)
		if len(r.calls) == 0 {
			break
		}
		first[r.calls[0].id] = true
	}
	k.say("read everything on http://h/")
	said, r := k.answer(pages)
	if len(said) != 1 || said[0] != "list {}" || first[r.calls[0].id] {
		t.Errorf("got %v, want list {} with a new id", said)
	}
}

func TestAnUnknownOutcomeIsLookedAtBeforeItIsRepeated(t *testing.T) {
	press := Call{
		Name: "press", Args: map[string]any{"what": "Order"},
		Look: []Call{{Name: "look"}}, Done: `ordered: 1`,
	}
	for _, c := range []struct{ shown, want string }{
		{"ordered: 1", "press,look,end"},
		{"ordered: 0", "press,look,press,end"},
	} {
		srv := serve(t, Script{Model: "m", By: ByHistory, Turns: []Turn{Calls(press), Says("end")}})
		k := newTalk(t, srv, "go", "press", "look")
		var got []string
		for range 6 {
			said, r := k.answer(func(name, _ string) string {
				switch {
				case name == "look":
					return c.shown
				case len(got) == 0:
					return "Outcome unknown: the app ended during the call. Look first."
				}
				return "pressed"
			})
			if len(said) == 0 {
				got = append(got, r.text)
				break
			}
			got = append(got, r.calls[0].name)
		}
		if g := strings.Join(got, ","); g != c.want {
			t.Errorf("with %q: got %s, want %s", c.shown, g, c.want)
		}
	}
}

func TestABadRequestIsRefusedAndReported(t *testing.T) {
	srv := serve(t, Script{Model: "m", Turns: []Turn{Calls(Tool("look", nil)), Says("end")}})
	k := newTalk(t, srv, "go", "look")
	k.post() // leaves its call unanswered
	k.say("and now?")
	r := k.post()
	if r.status != http.StatusTeapot || !strings.Contains(r.body, "tool_calls_answered") {
		t.Errorf("got %d %s, want 418 naming tool_calls_answered", r.status, r.body)
	}
	if len(srv.Problems()) != 1 {
		t.Errorf("got problems %v, want one", srv.Problems())
	}
	if got := srv.Requests()[0].Header.Get("Authorization"); got != "Bearer ***" {
		t.Errorf("recorded key %q, want it masked", got)
	}
}

func TestARequestBeyondTheScriptIsAProblem(t *testing.T) {
	srv := serve(t, Script{Turns: []Turn{Says("one")}})
	k := newTalk(t, srv, "a")
	k.post()
	k.say("b")
	if r := k.post(); r.status != http.StatusTeapot {
		t.Errorf("got %d, want 418", r.status)
	}
}

func TestFailuresComeFirstAndDoNotUseTheTurn(t *testing.T) {
	srv := serve(t, Script{Turns: []Turn{{Text: []string{"fine"}, Fail: []Failure{{Status: 429, RetryAfter: "1", Times: 2}}}}})
	k := newTalk(t, srv, "a")
	var got []int
	for range 3 {
		got = append(got, k.post().status)
	}
	if fmt.Sprint(got) != "[429 429 200]" {
		t.Errorf("got %v", got)
	}
}

func TestSideRequestsUseNoTurn(t *testing.T) {
	srv := serve(t, Script{Turns: []Turn{Calls(Tool("look", nil))}, Side: []Side{{Match: "title", Text: "A title"}}})
	k := newTalk(t, srv, "make a title")
	if r := k.post(); r.text != "A title" {
		t.Errorf("got %q", r.text)
	}
	if r := newTalk(t, srv, "go", "look").post(); len(r.calls) != 1 {
		t.Errorf("got %+v, want the first turn", r)
	}
}

func TestAGateHoldsAReplyUntilItIsReleased(t *testing.T) {
	srv := serve(t, Script{Turns: []Turn{{Text: []string{"a", "b"}, Hold: "go", After: 2}}})
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`
	res, err := http.Post(srv.URL+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	<-srv.Reached("go")
	srv.Release("go")
	raw, err := io.ReadAll(res.Body)
	if err != nil || !strings.HasSuffix(string(raw), "data: [DONE]\n\n") {
		t.Errorf("got %q, %v", raw, err)
	}
}

func TestTheSameRequestsGiveTheSameBytes(t *testing.T) {
	var got [2]string
	for i := range got {
		srv := serve(t, Script{Turns: []Turn{{Text: []string{"a"}, Calls: []Call{Tool("f", map[string]any{"b": 1, "a": "ü"})}}}})
		k := newTalk(t, srv, "x", "f")
		got[i] = k.post().body
	}
	if got[0] != got[1] {
		t.Errorf("got different bytes\n%s\n%s", got[0], got[1])
	}
}

func TestScriptsAreJSON(t *testing.T) {
	want, _ := json.Marshal(readAll)
	var s Script
	if err := json.Unmarshal(want, &s); err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(s); !bytes.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestExpressions(t *testing.T) {
	e := &env{vars: map[string]string{"base": "http://h/a/b", "md": "Own words.\n<outside from=\"http://h\">\n# [Head](c) ![pic](p.png)\n\n[![i](p.png) In](/d \"t\") [c](c)\n\nIt is 3.5 km long. Really! Yes.\n</outside>"}, labels: map[string][]string{"read": {"one", "two"}}}
	for expr, want := range map[string]string{
		"md|links:base":           "http://h/a/c Head\nhttp://h/d In\nhttp://h/a/c c",
		"md|inside|sentences:2":   "It is 3.5 km long. Really!",
		"md|outside":              "Own words.",
		"read":                    "two",
		"all:read":                "one\ntwo",
		"count:read":              "2",
		"last:read|cut:1":         "t",
		"base|base":               "b",
		"md|inside|lines:1|slug":  "head-c-pic-p-png",
		"md|inside|lines:1|quote": `# \[Head\]\(c\) !\[pic\]\(p\.png\)`,
	} {
		if got, err := e.eval(expr); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", expr, got, err, want)
		}
	}
	for _, expr := range []string{"nothing", "base|nonesuch", "base|abs:nothing"} {
		if got, err := e.eval(expr); err == nil {
			t.Errorf("%s: got %q, want an error", expr, got)
		}
	}
}
