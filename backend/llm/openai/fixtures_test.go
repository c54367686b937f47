package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/id"
	"gofer/backend/llm"
	"gofer/backend/llm/route"
	"gofer/backend/llm/script"
)

// fixture is one case of testdata/cases.json, see testdata/README.md.
type fixture struct {
	answer
	ID             string   `json:"id"`
	Kind           string   `json:"kind"`
	Steps          []answer `json:"steps"`
	HoldMS         int      `json:"hold_ms"`
	ClientIdleMS   int      `json:"client_idle_ms"`
	MaxMS          int64    `json:"max_ms"`
	MinGapMS       int64    `json:"min_gap_ms"`
	ExpectRequests int      `json:"expect_requests"`
	OfferedTools   []string `json:"offered_tools"`
	AltKinds       []string `json:"alt_kinds"`
	Expect         expect   `json:"expect"`

	Profile      map[string]any `json:"profile"`
	System       string         `json:"system"`
	Tools        []llm.ToolSpec `json:"tools"`
	Conversation []neutral      `json:"conversation"`
	Rules        []string       `json:"rules"`
	Must         []script.Check `json:"must"`
	MustNot      []script.Check `json:"must_not"`
}

type answer struct {
	File     string            `json:"file"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Chunking script.Chunking   `json:"chunking"`
}

type expect struct {
	IDs       []string `json:"ids"`
	Content   string   `json:"content"`
	Reasoning string   `json:"reasoning"`
	Finish    string   `json:"finish"`
	ToolCalls []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Invalid   bool            `json:"invalid"`
		Extra     json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
	Usage  *chat.Usage                `json:"usage"`
	Replay map[string]json.RawMessage `json:"replay"`
	Error  *struct {
		Kind         string `json:"kind"`
		Retryable    bool   `json:"retryable"`
		Contains     string `json:"message_contains"`
		RetryAfterMS int64  `json:"retry_after_ms"`
	} `json:"error"`
}

// neutral is a message of a request case.
type neutral struct {
	Role      string `json:"role"`
	Text      string `json:"text"`
	Reasoning string `json:"reasoning"`
	Calls     []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Raw       string          `json:"raw_arguments"`
		Invalid   bool            `json:"invalid"`
		Extra     json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
	Results []struct {
		Call   string `json:"call"`
		Text   string `json:"text"`
		Images []struct {
			Media string `json:"media_type"`
			Data  string `json:"base64"`
		} `json:"images"`
	} `json:"results"`
}

func fixtures(t *testing.T, kind string) []fixture {
	t.Helper()
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []fixture }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all.Cases, func(f fixture) bool { return f.Kind != kind })
}

func (a answer) raw(t *testing.T, hold int) *script.Raw {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", a.File))
	if err != nil {
		t.Fatal(err)
	}
	a.Chunking.HoldMS = hold
	return &script.Raw{Status: a.Status, Headers: a.Headers, Body: string(body), Chunking: a.Chunking}
}

func serve(t *testing.T, turns ...script.Turn) *script.Server {
	t.Helper()
	s, err := script.Serve(script.Script{Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestEveryRecordedReplyIsReadRight(t *testing.T) {
	cases := fixtures(t, "response")
	if len(cases) < 59 {
		t.Fatalf("got %d cases, want at least 59", len(cases))
	}
	for _, f := range cases {
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			steps := f.Steps
			if len(steps) == 0 {
				steps = []answer{f.answer}
			}
			var turns []script.Turn
			for _, s := range steps {
				turns = append(turns, script.Turn{Raw: s.raw(t, f.HoldMS)})
			}
			srv := serve(t, turns...)
			client := New(Options{BaseURL: srv.URL, Model: f.ID, Key: "sk-test-0123456789", Limits: llm.Limits{Silence: time.Duration(f.ClientIdleMS) * time.Millisecond}})
			var model llm.Model = client
			if len(f.Steps) > 0 {
				model = route.New(route.Leg{Name: "m", Model: client})
			}
			req := llm.Request{Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: "hi"}}}}}
			for _, name := range f.OfferedTools {
				req.Tools = append(req.Tools, llm.ToolSpec{Name: name})
			}
			var streamed, thought strings.Builder
			started := time.Now()
			reply, err := model.Stream(t.Context(), req, func(d llm.Delta) {
				switch d.Kind {
				case llm.DeltaText:
					streamed.WriteString(d.Text)
				case llm.DeltaReasoning:
					thought.WriteString(d.Text)
				}
			})
			if took := time.Since(started).Milliseconds(); f.MaxMS > 0 && took > f.MaxMS {
				t.Errorf("took %d ms, want at most %d", took, f.MaxMS)
			}
			checkReply(t, f, reply, err)
			if got := streamed.String(); got != f.Expect.Content {
				t.Errorf("streamed text %q, want %q", got, f.Expect.Content)
			}
			if got := thought.String(); got != f.Expect.Reasoning {
				t.Errorf("streamed thinking %q, want %q", got, f.Expect.Reasoning)
			}
			requests := srv.Requests()
			if want := max(f.ExpectRequests, 1); len(requests) != want {
				t.Errorf("got %d requests, want %d", len(requests), want)
			}
			if f.MinGapMS > 0 && len(requests) > 1 {
				if gap := requests[1].At.Sub(requests[0].At).Milliseconds(); gap < f.MinGapMS {
					t.Errorf("second request after %d ms, want at least %d", gap, f.MinGapMS)
				}
			}
		})
	}
}

func checkReply(t *testing.T, f fixture, reply llm.Reply, err error) {
	t.Helper()
	want := f.Expect
	msg := chat.Message{Parts: reply.Parts}
	if msg.Text() != want.Content || msg.Reasoning() != want.Reasoning {
		t.Errorf("got text %q, thinking %q; want %q, %q", msg.Text(), msg.Reasoning(), want.Content, want.Reasoning)
	}
	if want.Error != nil {
		checkError(t, f, err)
		return
	}
	if err != nil {
		t.Fatalf("got error %v", err)
	}
	if string(reply.Finish) != want.Finish {
		t.Errorf("got finish %q, want %q", reply.Finish, want.Finish)
	}
	if want.Usage != nil && (reply.Usage == nil || *reply.Usage != *want.Usage) {
		t.Errorf("got usage %+v, want %+v", reply.Usage, *want.Usage)
	}
	if len(reply.Calls) != len(want.ToolCalls) {
		t.Fatalf("got calls %+v, want %+v", reply.Calls, want.ToolCalls)
	}
	seen := map[string]bool{}
	for i, c := range reply.Calls {
		w := want.ToolCalls[i]
		if !id.Valid(c.ID) || seen[c.ID] {
			t.Errorf("call %d: id %q is not fresh", i, c.ID)
		}
		seen[c.ID] = true
		if c.Name != w.Name || c.WireID != w.ID || (c.Invalid != "") != w.Invalid {
			t.Errorf("call %d: got %+v, want %+v", i, c, w)
		}
		if !w.Invalid && !sameJSON(c.Arguments, w.Arguments) {
			t.Errorf("call %d: got arguments %s, want %s", i, c.Arguments, w.Arguments)
		}
		if w.Extra != nil && !sameJSON(asObject(c.Extra)["extra_content"], w.Extra) || w.Extra == nil && c.Extra != nil {
			t.Errorf("call %d: got extra %s, want %s", i, c.Extra, w.Extra)
		}
	}
	for name, w := range want.Replay {
		if got := asObject(reply.Replay)[name]; !sameJSON(got, w) {
			t.Errorf("replay %s: got %s, want %s", name, got, w)
		}
	}
}

func checkError(t *testing.T, f fixture, err error) {
	t.Helper()
	want := f.Expect.Error
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error of kind %s", err, want.Kind)
	}
	if string(e.Kind) != want.Kind && !slices.Contains(f.AltKinds, string(e.Kind)) || e.Retryable != want.Retryable {
		t.Errorf("got %s, retryable %v; want %s, %v", e.Kind, e.Retryable, want.Kind, want.Retryable)
	}
	if !strings.Contains(strings.ToLower(e.Message), strings.ToLower(want.Contains)) {
		t.Errorf("message %q does not contain %q", e.Message, want.Contains)
	}
	if strings.ContainsAny(e.Message+e.Hint, "<>") {
		t.Errorf("message %q %q shows page source", e.Message, e.Hint)
	}
	if want.RetryAfterMS > 0 && e.RetryAfter.Milliseconds() != want.RetryAfterMS {
		t.Errorf("got retry after %s, want %d ms", e.RetryAfter, want.RetryAfterMS)
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func TestEveryListOfModelsIsReadRight(t *testing.T) {
	for _, f := range fixtures(t, "models") {
		t.Run(f.ID, func(t *testing.T) {
			raw := f.raw(t, 0)
			srv := serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(raw.Status)
				_, _ = w.Write([]byte(raw.Body))
			})
			got, err := New(Options{BaseURL: srv + "/v1"}).ListModels(t.Context())
			if f.Expect.Error != nil {
				checkError(t, f, err)
			} else if err != nil {
				t.Fatal(err)
			}
			if len(got)+len(f.Expect.IDs) > 0 && !slices.Equal(got, f.Expect.IDs) {
				t.Errorf("got %v, want %v", got, f.Expect.IDs)
			}
		})
	}
}

func TestEveryRequestKeepsTheRules(t *testing.T) {
	for _, f := range fixtures(t, "request") {
		t.Run(f.ID, func(t *testing.T) {
			var body []byte
			var header http.Header
			srv := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
				body, header = readAll(t, r), r.Header.Clone()
				_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`))
			})
			blobs := map[string][]byte{}
			o := Options{BaseURL: srv + "/v1", Model: "m", Key: "sk-test-0123456789", Vision: true, LoadBlob: func(_ context.Context, key string) ([]byte, error) { return blobs[key], nil }}
			if echo, ok := f.Profile["reasoning_echo"].(string); ok && echo != "none" {
				o.Profile.ReasoningEcho = echo
			}
			if key, ok := f.Profile["api_key"].(string); ok {
				o.Key = key
			}
			req := llm.Request{System: f.System, Tools: f.Tools, Messages: transcript(t, f.Conversation, blobs)}
			if _, err := New(o).Stream(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			for _, rule := range f.Rules {
				if err := script.Rule(rule, body); err != nil {
					t.Errorf("%s: %v", rule, err)
				}
			}
			for _, c := range f.Must {
				if err := c.Err(body, header); err != nil {
					t.Error(err)
				}
			}
			for _, c := range f.MustNot {
				c.Not = true
				if err := c.Err(body, header); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func transcript(t *testing.T, list []neutral, blobs map[string][]byte) []chat.Message {
	t.Helper()
	var out []chat.Message
	for _, n := range list {
		m := chat.Message{Role: chat.Role(n.Role)}
		if n.Reasoning != "" {
			m.Parts = append(m.Parts, chat.Part{Type: chat.Reasoning, Text: n.Reasoning})
		}
		if n.Text != "" {
			m.Parts = append(m.Parts, chat.Part{Type: chat.Text, Text: n.Text})
		}
		for _, c := range n.Calls {
			call := chat.ToolCall{ID: "our-" + c.ID, WireID: c.ID, Name: c.Name, Arguments: c.Arguments, Raw: c.Raw}
			if c.Invalid {
				call.Invalid = "broken"
			}
			if c.Extra != nil {
				call.Extra = json.RawMessage(`{"extra_content":` + string(c.Extra) + `}`)
			}
			m.Calls = append(m.Calls, call)
		}
		if n.Role != "tool_results" {
			out = append(out, m)
			continue
		}
		for _, r := range n.Results {
			m := chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "our-" + r.Call, Name: "x", Text: r.Text}}
			for _, im := range r.Images {
				key := "blob" + r.Call
				blobs[key], _ = base64.StdEncoding.DecodeString(im.Data)
				m.Parts = append(m.Parts, chat.Part{Type: chat.Image, Blob: key, Media: im.Media})
			}
			out = append(out, m)
		}
	}
	return out
}
