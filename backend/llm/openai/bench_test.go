package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

func BenchmarkRequestOfAThousandMessages(b *testing.B) {
	req := llm.Request{System: strings.Repeat("s", 4000)}
	for i := range 250 {
		id := fmt.Sprintf("c%d", i)
		req.Messages = append(req.Messages, text(chat.User, "question"),
			chat.Message{Role: chat.Assistant, Calls: []chat.ToolCall{{ID: id, Name: "browser_read", Arguments: json.RawMessage(`{"a":"b"}`)}}},
			chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: id, Text: strings.Repeat("page text \n", 200)}},
			text(chat.Assistant, strings.Repeat("answer ", 40)))
	}
	for i := range 30 {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: fmt.Sprintf("t%d", i), Description: strings.Repeat("d", 300), Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
	}
	for b.Loop() {
		builder := builder{options: Options{Model: "m"}}
		params, err := builder.build(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := params.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}
