package openai

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// refusals are what servers said about a field, and what the next request must
// and must not hold.
var refusalCases = []struct {
	lesson   string
	status   int
	refusal  string
	profile  llm.Profile
	sampling llm.Sampling
	bad      string
	good     string
}{
	{"stream_options", 400, `{"error":{"message":"Unrecognized request argument: stream_options"}}`, llm.Profile{}, llm.Sampling{}, `"stream_options"`, `"model"`},
	{"max_completion_tokens", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`, llm.Profile{}, llm.Sampling{}, `"max_tokens"`, `"max_completion_tokens":9`},
	{"max_tokens", 422, `{"detail":"Extra inputs are not permitted: max_completion_tokens"}`, llm.Profile{MaxTokensField: "max_completion_tokens"}, llm.Sampling{}, `"max_completion_tokens"`, `"max_tokens":9`},
	{"no thinking back", 400, `{"error":{"message":"property 'reasoning_content' is unsupported"}}`, llm.Profile{ReasoningEcho: llm.EchoContent}, llm.Sampling{}, `"reasoning_content"`, `"model"`},
	{"thinking back", 400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`, llm.Profile{}, llm.Sampling{}, `{"content":"b","role":"assistant"}`, `"reasoning_content":"r"`},
	{"pictures", 400, `{"error":{"message":"Failed to deserialize the JSON body: unknown variant ` + "`image_url`, expected `text`" + `"}}`, llm.Profile{}, llm.Sampling{}, `"image_url"`, `not shown: this model reads text only`},
	{"pictures", 500, `{"error":{"message":"image input is not supported - hint: you may need to provide the mmproj"}}`, llm.Profile{}, llm.Sampling{}, `"image_url"`, `not shown: this model reads text only`},
	{"pictures", 404, `{"error":{"message":"No endpoints found that support image input"}}`, llm.Profile{}, llm.Sampling{}, `"image_url"`, `not shown: this model reads text only`},
	{"empty content", 400, `{"error":{"message":"Invalid value for 'content': expected a string, got null."}}`, llm.Profile{}, llm.Sampling{}, `"content":null`, `"content":""`},
	{"plain schemas", 400, `{"error":{"message":"Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters'"}}`, llm.Profile{}, llm.Sampling{}, `"additionalProperties"`, `"properties":{"$ref":`},
	{"without temperature", 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model."}}`, llm.Profile{}, llm.Sampling{Temperature: new(float64)}, `"temperature"`, `"model"`},
	{"without reasoning_effort", 400, `{"error":{"message":"Unknown parameter: reasoning_effort"}}`, llm.Profile{ReasoningEcho: llm.EchoPlain}, llm.Sampling{Thinking: "high"}, `"reasoning_effort"`, `"reasoning":"r"`},
	{"without top_k", 400, `{"error":{"message":"top_k: Extra inputs are not permitted"}}`, llm.Profile{Body: map[string]any{"top_k": 3}}, llm.Sampling{}, `"top_k"`, `"model"`},
}

func TestARefusalIsLearnedOnceAndKeptForTheNextClient(t *testing.T) {
	for _, c := range refusalCases {
		t.Run(c.lesson, func(t *testing.T) {
			requests := 0
			url := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				body := string(readAll(t, r))
				if strings.Contains(body, c.bad) {
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.refusal))
					return
				}
				if !strings.Contains(body, c.good) {
					t.Errorf("request %s lacks %s", body, c.good)
				}
				_, _ = w.Write([]byte(okReply))
			})
			var learned []string
			o := Options{BaseURL: url, Model: "m", Profile: c.profile, Sampling: c.sampling, Vision: true, Learn: func(l []string) { learned = l }}
			o.LoadBlob = func(context.Context, string) ([]byte, error) { return []byte("\x89PNG"), nil }
			call := chat.ToolCall{ID: "c", Name: "f", Arguments: []byte(`{}`)}
			req := llm.Request{
				MaxTokens: 9, Tools: []llm.ToolSpec{{Name: "f", Parameters: []byte(`{"type":"object","additionalProperties":false,"properties":{"$ref":{"type":"string"}}}`)}},
				Messages: []chat.Message{
					{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: "a"}, {Type: chat.Image, Blob: "k", Name: "p.png"}}},
					{Role: chat.Assistant, Parts: []chat.Part{{Type: chat.Reasoning, Text: "r"}, {Type: chat.Text, Text: "b"}}},
					{Role: chat.Assistant, Parts: []chat.Part{{Type: chat.Reasoning, Text: "r"}}, Calls: []chat.ToolCall{call}},
					{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "c", Name: "f", Text: "x"}},
				},
			}
			client := New(o)
			first, err := client.Stream(t.Context(), req, nil)
			if err != nil || len(first.Notes) == 0 {
				t.Fatalf("got notes %v, %v; want one about what was learned", first.Notes, err)
			}
			if _, err := client.Stream(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			o.Learned = learned
			if _, err := New(o).Stream(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			if requests != 4 || !slices.Equal(learned, []string{c.lesson}) {
				t.Errorf("got %d requests and learned %q; want 4 and %q", requests, learned, c.lesson)
			}
		})
	}
}

func TestARefusalOfOnePictureTeachesNothing(t *testing.T) {
	url := serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"The image is too large: 12 MB, at most 5 MB."}}`))
	})
	o := Options{BaseURL: url, Model: "m", Learn: func(l []string) { t.Errorf("learned %v", l) }}
	if _, err := New(o).Stream(t.Context(), ask("hi"), nil); kindOfErr(err) != llm.BadRequest {
		t.Errorf("got %v", err)
	}
}

func TestThinkingIsSwitchedInTheWordsOfTheServer(t *testing.T) {
	for _, c := range []struct{ field, level, want string }{
		{"", "high", `"reasoning_effort":"high"`},
		{"", "off", `"reasoning_effort":"none"`},
		{llm.ThinkingObject, "on", `"thinking":{"type":"enabled"}`},
		{llm.ThinkingObject, "off", `"thinking":{"type":"disabled"}`},
		{llm.ThinkingSwitch, "low", `"enable_thinking":true`},
		{llm.ThinkingNested, "on", `"reasoning":{"effort":"medium"}`},
	} {
		var body string
		url := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
			body = string(readAll(t, r))
			_, _ = w.Write([]byte(okReply))
		})
		_, err := New(Options{BaseURL: url, Profile: llm.Profile{Thinking: c.field}, Sampling: llm.Sampling{Thinking: c.level}}).Stream(t.Context(), ask("hi"), nil)
		if err != nil || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: got %s, %v; want %s", c.field, c.level, body, err, c.want)
		}
	}
}
