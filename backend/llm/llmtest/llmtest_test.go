package llmtest

import (
	"encoding/json"
	"errors"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/llm"
	"gofer/backend/llm/script"
)

func TestAScriptPlaysTurnsInOrder(t *testing.T) {
	m := Script(t,
		Calls(Call("look", map[string]any{"x": 1}), Call("wait", nil)),
		Then(func(req llm.Request) Turn { return Says("saw " + LastResult(req)) }),
		Fails(llm.Overloaded, true),
	)
	streamed := ""
	emit := func(d llm.Delta) {
		if d.Kind == llm.DeltaText {
			streamed += d.Text
		}
	}
	first, err := m.Stream(t.Context(), llm.Request{}, emit)
	if err != nil || len(first.Calls) != 2 || string(first.Calls[0].Arguments) != `{"x":1}` || first.Finish != llm.ToolCalls {
		t.Errorf("got %+v, %v", first, err)
	}
	result := chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{Text: "a door"}}
	if _, err := m.Stream(t.Context(), llm.Request{Messages: []chat.Message{result}}, emit); err != nil || streamed != "saw a door" {
		t.Errorf("got %q, %v", streamed, err)
	}
	var e *llm.Error
	if _, err := m.Stream(t.Context(), llm.Request{}, emit); !errors.As(err, &e) || !e.Retryable {
		t.Errorf("got %v", err)
	}
	if got := len(m.Requests()); got != 3 {
		t.Errorf("got %d requests", got)
	}
}

func TestAServedScriptIsReachedByTheRealClient(t *testing.T) {
	s := Serve(t, script.Script{Model: "m", Turns: []script.Turn{script.Calls(script.Tool("look", map[string]any{"x": 1}))}})
	req := llm.Request{
		Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: "go"}}}},
		Tools:    []llm.ToolSpec{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
	r, err := Client(s, "m").Stream(t.Context(), req, nil)
	if err != nil || len(r.Calls) != 1 || r.Calls[0].Name != "look" {
		t.Errorf("got %+v, %v", r, err)
	}
}
