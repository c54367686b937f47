package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/llm"
	"gofer/backend/llm/script"
)

func serveHandler(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func readAll(t *testing.T, r *http.Request) []byte {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return body
}

func text(role chat.Role, s string) chat.Message {
	return chat.Message{Role: role, Parts: []chat.Part{{Type: chat.Text, Text: s}}}
}

func ask(s string) llm.Request { return llm.Request{Messages: []chat.Message{text(chat.User, s)}} }

const okReply = `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`

func TestNothingOfTheEnvironmentOrTheLibraryIsSent(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "from-environment")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	var got http.Header
	url := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		_, _ = w.Write([]byte(okReply))
	})
	if _, err := New(Options{BaseURL: url, Model: "m", UserAgent: "Gofer/1.2"}).Stream(t.Context(), ask("hi"), nil); err != nil {
		t.Fatal(err)
	}
	for name, values := range got {
		if strings.HasPrefix(name, "X-Stainless") || strings.Contains(strings.Join(values, ""), "from-environment") || name == "Authorization" {
			t.Errorf("sent %s: %v", name, values)
		}
	}
	if got.Get("User-Agent") != "Gofer/1.2" {
		t.Errorf("got user agent %q", got.Get("User-Agent"))
	}
}

func TestTheKeyGoesIntoTheHeaderTheProfileNames(t *testing.T) {
	var got http.Header
	url := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		_, _ = w.Write([]byte(okReply))
	})
	_, _ = New(Options{BaseURL: url, Key: "k1"}).Stream(t.Context(), ask("hi"), nil)
	if got.Get("Authorization") != "Bearer k1" {
		t.Errorf("got %v", got)
	}
	_, _ = New(Options{BaseURL: url, Key: "k1", Profile: llm.Profile{KeyHeader: "api-key"}}).Stream(t.Context(), ask("hi"), nil)
	if got.Get("Api-Key") != "k1" || got.Get("Authorization") != "" {
		t.Errorf("got %v", got)
	}
}

func TestARedirectIsRefusedAndTheKeyStays(t *testing.T) {
	reached := false
	other := serveHandler(t, func(http.ResponseWriter, *http.Request) { reached = true })
	url := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other, http.StatusTemporaryRedirect)
	})
	_, err := New(Options{BaseURL: url, Key: "k1", Profile: llm.Profile{KeyHeader: "api-key"}}).Stream(t.Context(), ask("hi"), nil)
	if kindOfErr(err) != llm.Protocol || reached {
		t.Errorf("got %v, other host reached: %v", err, reached)
	}
}

func kindOfErr(err error) llm.ErrorKind {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func TestAKeyNeverEntersAnError(t *testing.T) {
	const key = "abcdefgh-12345678"
	url := serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"wrong key ` + key + ` or sk-proj-9988776655"}`))
	})
	_, err := New(Options{BaseURL: url, Key: key}).Stream(t.Context(), ask("hi"), nil)
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	all := e.Error() + e.Hint + e.Cause.Error()
	if strings.Contains(all, key) || strings.Contains(all, "9988776655") || e.Kind != llm.Auth || e.Status != 401 {
		t.Errorf("got %+v", e)
	}
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	url := serveHandler(t, func(http.ResponseWriter, *http.Request) {})
	_, err := New(Options{BaseURL: "http://127.0.0.1:1", Name: "Ollama"}).Stream(t.Context(), ask("hi"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Unreachable || !e.Retryable || !strings.Contains(e.Message, "Ollama") {
		t.Errorf("got %+v", e)
	}
	_, err = New(Options{BaseURL: url}).Stream(t.Context(), ask("hi"), nil)
	if !errors.As(err, &e) || e.Kind != llm.Protocol || !e.Retryable {
		t.Errorf("an empty reply gives %+v", e)
	}
}

func TestStopCutsAHeldReply(t *testing.T) {
	srv := serve(t, script.Turn{Text: []string{"one ", "two"}, Hold: "gate", After: 2})
	ctx, cancel := context.WithCancel(t.Context())
	reply, err := New(Options{BaseURL: srv.URL, Model: "m"}).Stream(ctx, ask("hi"), func(llm.Delta) { cancel() })
	if kindOfErr(err) != llm.Cancelled || (chat.Message{Parts: reply.Parts}).Text() != "one " {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestNoFirstByteAndTheCeilingEndACall(t *testing.T) {
	for _, c := range []struct {
		limits    llm.Limits
		after     int
		retryable bool
	}{
		{llm.Limits{FirstByte: 50 * time.Millisecond}, 0, true},
		{llm.Limits{Ceiling: 50 * time.Millisecond}, 2, false},
	} {
		srv := serve(t, script.Turn{Text: []string{"one ", "two"}, Hold: "gate", After: c.after})
		_, err := New(Options{BaseURL: srv.URL, Model: "m", Limits: c.limits}).Stream(t.Context(), ask("hi"), nil)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.StreamBroken || e.Retryable != c.retryable {
			t.Errorf("got %+v, want a broken stream, retryable %v", e, c.retryable)
		}
	}
}

// sent returns the request a client makes of req.
func sent(t *testing.T, o Options, req llm.Request) map[string]any {
	t.Helper()
	var body []byte
	o.BaseURL = serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		body = readAll(t, r)
		_, _ = w.Write([]byte(okReply))
	})
	if _, err := New(o).Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{"tool_calls_answered", "tool_ids_consistent", "tool_args_valid_json", "schema_has_properties", "no_empty_assistant"} {
		if err := script.Rule(rule, body); err != nil {
			t.Errorf("%s: %v", rule, err)
		}
	}
	var tree map[string]any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func rolesOf(tree map[string]any) string {
	var out []string
	for _, m := range tree["messages"].([]any) {
		out = append(out, m.(map[string]any)["role"].(string))
	}
	return strings.Join(out, " ")
}

func TestTheBodyIsMinimal(t *testing.T) {
	tree := sent(t, Options{Model: "m"}, ask("hi"))
	for name := range tree {
		switch name {
		case "model", "messages", "stream", "stream_options":
		default:
			t.Errorf("sent field %q", name)
		}
	}
}

func TestStrictServersGetAlternatingRoles(t *testing.T) {
	call := chat.ToolCall{ID: "0192f5c0-0000-7000-8000-000000000001", WireID: strings.Repeat("x", 60), Name: "a.b", Arguments: json.RawMessage(`{"q":1}`)}
	req := llm.Request{
		System: "s", Tail: "last words", Tools: []llm.ToolSpec{{Name: "a.b"}},
		Messages: []chat.Message{
			text(chat.System, "folded"), text(chat.User, "one"), text(chat.User, "two"),
			{Role: chat.Assistant, Calls: []chat.ToolCall{call, call}},
			{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: call.ID, Name: "a.b", Text: "r"}},
			{Role: chat.Assistant},
		},
	}
	tree := sent(t, Options{Profile: llm.Profile{StrictRoles: true, BridgeAfterTool: true, ToolIDStyle: llm.IDAlnum9}}, req)
	if got, want := rolesOf(tree), "system user assistant tool tool assistant user"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, m := range tree["messages"].([]any) {
		if id, ok := m.(map[string]any)["tool_call_id"].(string); ok && !isAlnum9(id) {
			t.Errorf("got call id %q", id)
		}
	}
	if got, want := rolesOf(sent(t, Options{Profile: llm.Profile{LateSystem: true}}, req)), "system system user user assistant tool tool system"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestForeignExtrasStayHome(t *testing.T) {
	m := chat.Message{Role: chat.Assistant, Replay: json.RawMessage(`{"from":"elsewhere.test"}`), Calls: []chat.ToolCall{
		{ID: "a", Name: "f", Arguments: json.RawMessage(`{}`), Extra: json.RawMessage(`{"extra_content":{"x":1}}`)},
	}}
	tree := sent(t, Options{}, llm.Request{Messages: []chat.Message{text(chat.User, "q"), m}})
	raw, _ := json.Marshal(tree)
	if strings.Contains(string(raw), "extra_content") {
		t.Errorf("sent %s", raw)
	}
}

func TestCallsOfAnotherModelGetThePlaceholderWhereSignaturesAreWanted(t *testing.T) {
	calls := []chat.ToolCall{{ID: "a", Name: "f", Arguments: json.RawMessage(`{}`)}, {ID: "b", Name: "f", Arguments: json.RawMessage(`{}`)}}
	m := chat.Message{Role: chat.Assistant, Replay: json.RawMessage(`{"from":"elsewhere.test"}`), Calls: calls}
	tree := sent(t, Options{Profile: llm.Profile{Signatures: true}}, llm.Request{Messages: []chat.Message{text(chat.User, "q"), m}})
	raw, _ := json.Marshal(tree)
	if strings.Count(string(raw), `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`) != 1 {
		t.Errorf("sent %s", raw)
	}
}

func TestEveryShapeOfAnErrorIsRead(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"in an object","type":"t","code":"c"}}`:         "in an object",
		`[{"error":{"message":"in a list","code":400}}]`:                     "in a list",
		`{"error":"as a text"}`:                                              "as a text",
		`{"object":"error","message":"flat","code":400}`:                     "flat",
		`{"detail":"a detail"}`:                                              "a detail",
		`{"detail":[{"loc":["body"],"msg":"one of many","type":"missing"}]}`: "one of many",
		`{"message":{"detail":[{"msg":"deep"}]}}`:                            "deep",
		`{"error_type":"x","error_message":"by other names"}`:                "by other names",
		`plain words`: "plain words",
	} {
		for _, inStream := range []bool{false, true} {
			if inStream && body[0] != '{' {
				continue
			}
			url := serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
				if inStream {
					_, _ = w.Write([]byte("event: error\ndata: " + body + "\n\n"))
					return
				}
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(body))
			})
			_, err := New(Options{BaseURL: url}).Stream(t.Context(), ask("hi"), nil)
			var e *llm.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
				t.Errorf("%s, in a stream %v: got %v, want %q", body, inStream, err, want)
			}
		}
	}
}

func TestToolNamesAreMappedBothWays(t *testing.T) {
	srv := serve(t, script.Calls(script.Tool("my_server__do_it", map[string]any{"x": 1})))
	req := ask("hi")
	req.Tools = []llm.ToolSpec{{Name: "my server__do it"}}
	reply, err := New(Options{BaseURL: srv.URL, Model: "m"}).Stream(t.Context(), req, nil)
	if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name != "my server__do it" {
		t.Errorf("got %+v, %v", reply.Calls, err)
	}
	if p := srv.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

func TestUntidyStreamsAreRead(t *testing.T) {
	for name, body := range map[string]string{
		"byte order mark, no blank line at the end": "\xEF\xBB\xBFdata: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}",
		"empty data and pings":                      "data:\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\ndata: {}\n\ndata: null\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\ndata: [DONE]\n\n",
		"finish, then null":                         "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":null}]}\n\n",
		"full message at the end":                   "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\ndata: {\"choices\":[{\"message\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n",
		"lone carriage returns":                     "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\r\rdata: [DONE]\r\r",
	} {
		srv := serve(t, script.Turn{Raw: &script.Raw{Body: body, Headers: map[string]string{"Content-Type": "text/plain"}}})
		reply, err := New(Options{BaseURL: srv.URL, Model: "m"}).Stream(t.Context(), ask("hi"), nil)
		if got := (chat.Message{Parts: reply.Parts}).Text(); err != nil || got != "ok" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestBaseURLsAreTrimmed(t *testing.T) {
	for typed, want := range map[string]string{
		" https://api.example.com/v1/chat/completions ": "https://api.example.com/v1",
		"https://api.example.com/v1/":                   "https://api.example.com/v1",
		"localhost:11434":                               "http://localhost:11434",
		"127.0.0.1:1234/v1/models?x=1":                  "http://127.0.0.1:1234/v1",
		"api.example.com/api/paas/v4":                   "https://api.example.com/api/paas/v4",
		"https://x.test/v1beta/openai/":                 "https://x.test/v1beta/openai",
	} {
		if got, err := CleanBase(typed); err != nil || got != want {
			t.Errorf("CleanBase(%q) = %q, %v, want %q", typed, got, err, want)
		}
	}
	for _, typed := range []string{"", "ftp://x", "http://"} {
		if got, err := CleanBase(typed); err == nil {
			t.Errorf("CleanBase(%q) = %q, want an error", typed, got)
		}
	}
}

func TestAServerIsFoundWithAndWithoutV1(t *testing.T) {
	for _, path := range []string{"/v1/models", "/models"} {
		url := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(`{"models":[{"name":"a"},"b"]}`))
		})
		base, models, err := Probe(t.Context(), Options{BaseURL: url})
		if err != nil || base+"/models" != url+path || len(models) != 2 {
			t.Errorf("%s: got %s %v %v", path, base, models, err)
		}
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var opened atomic.Int32
	srv := httptest.NewUnstartedServer(script.New(script.Script{Turns: []script.Turn{script.Says("a"), script.Says("b"), script.Says("c")}}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	client := New(Options{BaseURL: srv.URL + "/v1", Model: "m"})
	for range 3 {
		if _, err := client.Stream(t.Context(), ask("hi"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}
