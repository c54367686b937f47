//go:build linux

package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// recorded is one reply of a server, as the client's own tests hold it.
type recorded struct {
	recordedAnswer
	ID       string           `json:"id"`
	Kind     string           `json:"kind"`
	Steps    []recordedAnswer `json:"steps"`
	HoldMS   int              `json:"hold_ms"`
	AltKinds []string         `json:"alt_kinds"`
	Expect   struct {
		Content   string `json:"content"`
		Reasoning string `json:"reasoning"`
		Finish    string `json:"finish"`
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Invalid   bool            `json:"invalid"`
			Extra     json.RawMessage `json:"extra_content"`
		} `json:"tool_calls"`
		Usage *chat.Usage `json:"usage"`
		Error *struct {
			Kind      string `json:"kind"`
			Retryable bool   `json:"retryable"`
		} `json:"error"`
	} `json:"expect"`
}

type recordedAnswer struct {
	File     string            `json:"file"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Chunking script.Chunking   `json:"chunking"`
}

const recordings = "../llm/openai/testdata"

func recordedReplies(t *testing.T) []recorded {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(recordings, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []recorded }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all.Cases, func(r recorded) bool { return r.Kind != "response" })
}

func (a recordedAnswer) turn(t *testing.T, hold int) script.Turn {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(recordings, a.File))
	if err != nil {
		t.Fatal(err)
	}
	a.Chunking.HoldMS = hold
	return script.Turn{Raw: &script.Raw{Status: a.Status, Headers: a.Headers, Body: string(body), Chunking: a.Chunking}}
}

// attempts is how often the app asks before it gives up.
func (r recorded) attempts() int {
	switch e := r.Expect.Error; {
	case e == nil || !e.Retryable:
		return 1
	case r.Expect.Content+r.Expect.Reasoning != "":
		return 2
	}
	return 3
}

func TestEveryRecordedReplyGivesItsTranscriptAndARightNextRequest(t *testing.T) {
	cases := recordedReplies(t)
	if len(cases) != 60 {
		t.Fatalf("got %d cases, want 60", len(cases))
	}
	dir := newHome(t)
	p := open(t, dir)
	p.unnamed()
	sessions := make([]string, len(cases))
	t.Run("run", func(t *testing.T) {
		for i, r := range cases {
			t.Run(r.ID, func(t *testing.T) {
				t.Parallel()
				sessions[i] = p.replay(t, r)
			})
		}
	})
	p.end()
	for i, r := range cases {
		if sessions[i] == "" {
			continue // its failure was reported
		}
		t.Run("stored/"+r.ID, func(t *testing.T) { r.checkStored(t, read(t, dir, sessions[i])) })
	}
}

// replay runs a case through the command line, and goes on once.
func (p *here) replay(t *testing.T, r recorded) (sessionID string) {
	var turns []script.Turn
	for _, s := range r.Steps {
		turns = append(turns, s.turn(t, 0))
	}
	for range r.attempts() {
		if len(r.Steps) == 0 {
			turns = append(turns, r.turn(t, r.HoldMS))
		}
	}
	answered := len(turns)
	m := llmtest.Serve(t, script.Script{Model: r.ID, Turns: append(turns, script.Says("Done."))})
	from := []string{"--base-url", m.URL, "--model", r.ID}
	if r.Chunking.End == "stall" { // only a provider of the settings has limits of its own
		_, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: r.ID, BaseURL: m.URL, Model: r.ID, Limits: &config.Limits{Silence: 1}})
		if err != nil {
			t.Fatal(err)
		}
		from = []string{"--provider", r.ID}
	}
	code := 0
	c := start(t, spec{home: p.dir}, append([]string{"run", "--json", "--headless", "--mode", "full", "do it"}, from...)...)
	if r.Expect.Error != nil {
		code = 1
	}
	if got := c.code(t, 60*time.Second); got != code {
		t.Fatalf("got exit code %d, want %d\n%s", got, code, c.stderr())
	}
	retries := 0
	for e := range c.events {
		sessionID = e.SessionID
		switch d := e.Data.(type) {
		case event.RouteRetrying:
			retries++
		case event.RunFinished:
			if want := r.Expect.Error; want != nil && (d.Error == nil || d.Error.Code != want.Kind && !slices.Contains(r.AltKinds, d.Error.Code)) {
				t.Errorf("the run ended %s, %+v; want an error of kind %s", d.State, d.Error, want.Kind)
			}
		}
	}
	if want := answered - 1; retries != want {
		t.Errorf("%d retries were told, want %d", retries, want)
	}
	if len(r.Expect.ToolCalls) == 0 {
		if end := p.finished(sessionID, p.send(sessionID, "and then?"), time.Minute); end.State != event.RunIsCompleted {
			t.Fatalf("going on ended %s, %+v", end.State, end.Error)
		}
	}
	requests := m.Requests()
	if len(requests) != answered+1 {
		t.Fatalf("got %d requests, want %d", len(requests), answered+1)
	}
	r.checkRequest(t, requests[answered].Body)
	return sessionID
}

// checkRequest compares the request after the reply with what the reply was.
func (r recorded) checkRequest(t *testing.T, body []byte) {
	t.Helper()
	var req struct {
		Messages []struct {
			Role      string `json:"role"`
			Content   any    `json:"content"`
			ToolCalls []struct {
				ID       string          `json:"id"`
				Extra    json.RawMessage `json:"extra_content"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range req.Messages {
		roles = append(roles, m.Role)
	}
	want := []string{"system", "user"}
	says := r.Expect.Content != "" || len(r.Expect.ToolCalls) > 0
	if says {
		want = append(want, "assistant")
	}
	for range r.Expect.ToolCalls {
		want = append(want, "tool")
	}
	if len(r.Expect.ToolCalls) == 0 {
		want = append(want, "user")
	}
	if !slices.Equal(roles, want) {
		t.Fatalf("got roles %v, want %v", roles, want)
	}
	if strings.Contains(string(body), `"reasoning`) {
		t.Errorf("thinking goes back to a server that did not ask for it: %.300s", body)
	}
	if !says {
		return
	}
	reply := req.Messages[2]
	if text, _ := reply.Content.(string); text != r.Expect.Content {
		t.Errorf("got content %q, want %q", text, r.Expect.Content)
	}
	if len(reply.ToolCalls) != len(r.Expect.ToolCalls) {
		t.Fatalf("got %d calls, want %d", len(reply.ToolCalls), len(r.Expect.ToolCalls))
	}
	for i, c := range reply.ToolCalls {
		w := r.Expect.ToolCalls[i]
		if w.Invalid {
			w.Arguments = json.RawMessage(`{}`)
		}
		if c.Function.Name != w.Name || !sameJSON([]byte(c.Function.Arguments), w.Arguments) || !sameJSON(orNull(c.Extra), orNull(w.Extra)) {
			t.Errorf("call %d: got %.200s(%.200s), extra %s; want %s(%.200s), extra %s", i, c.Function.Name, c.Function.Arguments, c.Extra, w.Name, w.Arguments, w.Extra)
		}
		if answer := req.Messages[3+i]; answer.ToolCallID != c.ID {
			t.Errorf("call %d has the id %s and is answered under %s", i, c.ID, answer.ToolCallID)
		}
	}
}

// checkStored compares the transcript with what the reply was.
func (r recorded) checkStored(t *testing.T, stored record) {
	t.Helper()
	stored.check(t)
	want, reply := r.Expect, chat.Message{}
	for _, m := range stored.messages {
		if m.Role == chat.Assistant {
			reply = m
			break
		}
	}
	if want.Error != nil {
		want.Finish = "error"
		if want.Content == "" {
			want.Finish, want.Content = "stop", "Done." // nothing of the failed reply is kept
			want.Reasoning = ""
		}
	}
	if reply.Text() != want.Content || reply.Reasoning() != want.Reasoning || reply.Finish != want.Finish {
		t.Errorf("stored %q, thinking %q, finish %s; want %q, %q, %s", reply.Text(), reply.Reasoning(), reply.Finish, want.Content, want.Reasoning, want.Finish)
	}
	if u := reply.Usage; want.Usage != nil && (u == nil || u.Input != want.Usage.Input || u.Output != want.Usage.Output || u.Cached != want.Usage.Cached || u.Reasoning != want.Usage.Reasoning || u.Estimated) {
		t.Errorf("stored usage %+v, want %+v", reply.Usage, *want.Usage)
	}
	if len(reply.Calls) != len(want.ToolCalls) {
		t.Fatalf("stored %d calls, want %d", len(reply.Calls), len(want.ToolCalls))
	}
	for i, c := range reply.Calls {
		w := want.ToolCalls[i]
		if c.Name != w.Name || (c.Invalid != "") != w.Invalid || !w.Invalid && !sameJSON(c.Arguments, w.Arguments) {
			t.Errorf("call %d: stored %s(%.200s), invalid %q; want %s(%.200s)", i, c.Name, c.Arguments, c.Invalid, w.Name, w.Arguments)
		}
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}
