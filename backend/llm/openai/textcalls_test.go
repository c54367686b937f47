package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"strings"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/llm"
	"gofer/backend/llm/script"
)

func TestCallsWrittenInTheTextAreReadOnlyWhereThatIsOn(t *testing.T) {
	pieces := []string{"I look.\n<tool", "_call>\n{\"name\": \"look\", \"argu", "ments\": {\"at\": \"<door>\"}}\n</tool_", "call>\n<tool_call>{\"name\": \"go\"}</tool_call><tool_call>{broken</tool_call>"}
	for _, on := range []bool{true, false} {
		srv := serve(t, script.Says(pieces...))
		streamed := ""
		reply, err := New(Options{BaseURL: srv.URL, Model: "m", Profile: llm.Profile{TextCalls: on}}).Stream(t.Context(), ask("hi"), func(d llm.Delta) {
			if d.Kind == llm.DeltaText {
				streamed += d.Text
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		text := chat.Message{Parts: reply.Parts}.Text()
		if !on {
			if len(reply.Calls) != 0 || text != strings.Join(pieces, "") || len(reply.Notes) != 1 {
				t.Errorf("off: got %q, calls %v, notes %v; want the text as it is and one note", text, reply.Calls, reply.Notes)
			}
			continue
		}
		if text != "I look." || streamed != "I look." || reply.Finish != llm.ToolCalls || len(reply.Calls) != 3 {
			t.Fatalf("on: got %q, streamed %q, %s, %+v", text, streamed, reply.Finish, reply.Calls)
		}
		if c := reply.Calls[0]; c.Name != "look" || string(c.Arguments) != `{"at":"<door>"}` {
			t.Errorf("got %+v", c)
		}
		if c := reply.Calls[1]; c.Name != "go" || string(c.Arguments) != `{}` || c.Invalid != "" {
			t.Errorf("got %+v", c)
		}
		if c := reply.Calls[2]; !strings.Contains(c.Invalid, "invalid character") || c.Raw != "{broken" {
			t.Errorf("got %+v, want the parser's words", c)
		}
	}
}

func TestTextCallsAskInWordsAndKeepTheirHistory(t *testing.T) {
	call := chat.ToolCall{ID: "c", Name: "look", Arguments: json.RawMessage(`{"at":1}`)}
	req := llm.Request{System: "s", Tools: []llm.ToolSpec{{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type": "object"}`)}}, Messages: []chat.Message{
		text(chat.User, "go"),
		{Role: chat.Assistant, Parts: []chat.Part{{Type: chat.Text, Text: "I look."}}, Calls: []chat.ToolCall{call}},
		{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "c", Name: "look", Text: "a door"}},
	}}
	tree := sent(t, Options{Profile: llm.Profile{TextCalls: true, StrictRoles: true}}, req)
	if tree["tools"] != nil || rolesOf(tree) != "system user assistant user" {
		t.Errorf("got tools %v, roles %s", tree["tools"], rolesOf(tree))
	}
	raw, _ := json.Marshal(tree["messages"])
	for _, want := range []string{`look: Looks.`, `\"type\":\"object\"`, `I look.\n\u003ctool_call\u003e\n{\"name\": \"look\", \"arguments\": {\"at\":1}}`, `Result of look:\na door`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the messages %s lack %s", raw, want)
		}
	}
}

func TestAReplyThatBeginsWithinThinkingIsReadSoWhereTheProfileSaysIt(t *testing.T) {
	for opened, want := range map[bool]string{true: "Fine.", false: "Let me see.</think>\nFine."} {
		srv := serve(t, script.Says("Let me", " see.</th", "ink>\nFine."))
		reply, err := New(Options{BaseURL: srv.URL, Model: "m", Profile: llm.Profile{ThinkOpened: opened}}).Stream(t.Context(), ask("hi"), nil)
		if got := (chat.Message{Parts: reply.Parts}).Text(); err != nil || got != want {
			t.Errorf("opened %v: got %q, %v; want %q", opened, got, err, want)
		}
	}
}

func TestPicturesOfACallFollowAllResultsAsPNGOrJPEG(t *testing.T) {
	var moving bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White})
	if err := gif.Encode(&moving, frame, nil); err != nil {
		t.Fatal(err)
	}
	blobs := map[string][]byte{"shot": []byte("jpeg bytes"), "moving": moving.Bytes(), "odd": []byte("RIFF")}
	load := func(_ context.Context, key string) ([]byte, error) { return blobs[key], nil }
	calls := []chat.ToolCall{{ID: "a", Name: "shoot", Arguments: json.RawMessage(`{}`)}, {ID: "b", Name: "look", Arguments: json.RawMessage(`{}`)}}
	req := llm.Request{Messages: []chat.Message{
		text(chat.User, "go"),
		{Role: chat.Assistant, Calls: calls},
		{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "a", Text: "taken", Artifacts: []chat.Artifact{
			{Blob: "shot", Media: "image/jpeg", Name: "s.jpg"}, {Blob: "moving", Media: "image/gif"}, {Blob: "odd", Media: "image/webp", Name: "o.webp"}, {Blob: "pdf", Media: "application/pdf"},
		}}},
		{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "b", Text: "nothing"}},
	}}
	tree := sent(t, Options{Vision: true, LoadBlob: load}, req)
	if got := rolesOf(tree); got != "user assistant tool tool user" {
		t.Fatalf("got roles %s", got)
	}
	parts := tree["messages"].([]any)[4].(map[string]any)["content"].([]any)
	raw, _ := json.Marshal(parts)
	if strings.Count(string(raw), `"image_url":{`) != 2 || !strings.Contains(string(raw), "data:image/jpeg;base64,anBlZyBieXRlcw==") || !strings.Contains(string(raw), "data:image/png;base64,iVBOR") || !strings.Contains(string(raw), "o.webp, not shown") {
		t.Errorf("got %s", raw)
	}
	if _, err := png.Decode(bytes.NewReader(must(asPNG(moving.Bytes())))); err != nil {
		t.Error(err)
	}
	if got := rolesOf(sent(t, Options{LoadBlob: load}, req)); got != "user assistant tool tool" {
		t.Errorf("a model that reads text got %s", got)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestAPlainSchemaKeepsNamesAndDropsWords(t *testing.T) {
	raw := json.RawMessage(`{"$schema":"x","type":"object","additionalProperties":false,"$defs":{"spot":{"type":["number","null"],"exclusiveMinimum":0}},
		"properties":{"additionalProperties":{"const":"a"},"at":{"$ref":"#/$defs/spot"},"all":{"type":"array","items":{"oneOf":[{"type":"string","pattern":"x"}]}},"me":{"$ref":"#/$defs/none"}},"required":["at"]}`)
	got, err := parameters(raw, true)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(got)
	want := `{"properties":{"additionalProperties":{"enum":["a"]},"all":{"items":{"anyOf":[{"type":"string"}]},"type":"array"},"at":{"nullable":true,"type":"number"},"me":{"type":"object"}},"required":["at"],"type":"object"}`
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	loop := json.RawMessage(`{"type":"object","$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}},"properties":{"n":{"$ref":"#/$defs/n"}}}`)
	if _, err := parameters(loop, true); err != nil {
		t.Error(err)
	}
}
