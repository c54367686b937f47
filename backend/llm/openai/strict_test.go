package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/llm"
	"gofer/backend/llm/preset"
	"gofer/backend/llm/script"
)

// foreignTool has a schema as other people's tools have it.
var foreignTool = llm.ToolSpec{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{
	"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,
	"properties":{"at":{"type":"array","items":{"type":"integer","exclusiveMinimum":0}},"how":{"$ref":"#/$defs/how"}},
	"$defs":{"how":{"type":"string","const":"closely"}}}`)}

// errandOf is two prompts with calls, pictures, thinking and a stop between.
func errandOf(t *testing.T, client *Client) {
	t.Helper()
	history := []chat.Message{
		text(chat.User, "before"), // of another model, whose call has no signature here
		{Role: chat.Assistant, Replay: json.RawMessage(`{"from":"elsewhere.test"}`), Calls: []chat.ToolCall{{ID: "old", WireID: "call_of_another_server", Name: "look", Arguments: json.RawMessage(`{}`)}}},
		{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "old", Name: "look", Text: "seen"}},
	}
	say := func(words string) { history = append(history, text(chat.User, words)) }
	tools := []llm.ToolSpec{foreignTool}
	turn := func(req llm.Request) llm.Reply {
		t.Helper()
		req.System, req.Messages = "You help.", history
		reply, err := client.Stream(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Notes) > 0 {
			t.Errorf("something had to be learned: %v", reply.Notes)
		}
		history = append(history, chat.Message{Role: chat.Assistant, Parts: reply.Parts, Calls: reply.Calls, Replay: reply.Replay})
		for i, c := range reply.Calls {
			m := chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: c.ID, Name: c.Name, Text: fmt.Sprint(i)}}
			if i == 0 {
				m.Result.Artifacts = []chat.Artifact{{Blob: "b", Media: "image/png", Name: "p.png"}}
			}
			history = append(history, m)
		}
		return reply
	}
	say("go")
	turn(llm.Request{Tools: tools})
	turn(llm.Request{Tools: tools})
	say("stop")
	say("and go on")
	turn(llm.Request{Tools: tools})
	turn(llm.Request{Tail: "Sum up."})
}

func TestEveryPresetKeepsTheRulesOfItsProvider(t *testing.T) {
	look := script.Tool("look", map[string]any{"at": []int{1}})
	thinks := func(text string, calls ...script.Call) script.Turn {
		return script.Turn{Reasoning: []string{"I think."}, Text: []string{text}, Calls: calls}
	}
	for id, rules := range map[string]string{
		"deepseek": script.StrictDeepSeek, "moonshot": script.StrictDeepSeek, "zai": script.StrictDeepSeek, "mistral": script.StrictMistral,
		"groq": script.StrictGroq, "gemini": script.StrictGemini, "lmstudio": script.StrictTemplate, "llamacpp": script.StrictTemplate, "vllm": script.StrictTemplate,
		"openai": "", "anthropic": "", "openrouter": "", "ollama": "", "custom": "",
	} {
		t.Run(id, func(t *testing.T) {
			p, ok := preset.Get(id)
			if !ok {
				t.Fatalf("there is no preset %s", id)
			}
			srv, err := script.Serve(script.Script{
				Model: "m", Strict: rules, Side: []script.Side{{Text: "That was it."}},
				Turns: []script.Turn{thinks("Two at once.", look, look), thinks("Fine."), thinks("", look)},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { srv.Close() })
			errandOf(t, New(Options{
				BaseURL: srv.URL, Model: "m", Profile: p.Profile, Vision: true,
				LoadBlob: func(context.Context, string) ([]byte, error) { return []byte("\x89PNG"), nil },
			}))
			for _, problem := range srv.Problems() {
				t.Error(problem)
			}
			if n := len(srv.Requests()); n != 4 {
				t.Errorf("got %d requests, want 4", n)
			}
		})
	}
}

func TestAStrictServerRefusesWhatItsProviderWould(t *testing.T) {
	for rules, p := range map[string]llm.Profile{
		script.StrictDeepSeek: {}, script.StrictMistral: {NoStreamOptions: true}, script.StrictGemini: {}, script.StrictTemplate: {},
		script.StrictGroq: {ReasoningEcho: llm.EchoContent},
	} {
		srv := func() *script.Server {
			s, err := script.Serve(script.Script{Model: "m", Strict: rules, Turns: []script.Turn{script.Says("fine")}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}()
		call := chat.ToolCall{ID: "c", Name: "look", Arguments: json.RawMessage(`{}`)}
		req := llm.Request{Messages: []chat.Message{
			text(chat.User, "a"),
			{Role: chat.Assistant, Parts: []chat.Part{{Type: chat.Reasoning, Text: "r"}}, Calls: []chat.ToolCall{call}},
			{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "c", Text: "x"}},
			text(chat.User, "b"), text(chat.User, "c"),
		}}
		_, _ = New(Options{BaseURL: srv.URL, Model: "m", Profile: p}).Stream(t.Context(), req, nil)
		if len(srv.Problems()) == 0 {
			t.Errorf("%s: nothing was refused", rules)
		}
	}
}
