package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// request is a chat completion request, read just far enough to answer it.
type request struct {
	model    string
	stream   bool
	tools    []string
	messages []message
	tree     map[string]any // the whole body, for checks
}

type message struct {
	role   string
	text   string
	calls  []wireCall
	callID string
}

type wireCall struct {
	id, name, args string // args in canonical form when they are JSON
}

func parseRequest(body []byte) (request, error) {
	var r request
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&r.tree); err != nil {
		return r, fmt.Errorf("the request is not a JSON object: %w", err)
	}
	r.model, _ = r.tree["model"].(string)
	r.stream, _ = r.tree["stream"].(bool)
	for _, t := range list(r.tree["tools"]) {
		if name, ok := at(t, "function", "name").(string); ok {
			r.tools = append(r.tools, name)
		}
	}
	for _, m := range list(r.tree["messages"]) {
		msg := message{text: contentText(at(m, "content"))}
		msg.role, _ = at(m, "role").(string)
		msg.callID, _ = at(m, "tool_call_id").(string)
		for _, c := range list(at(m, "tool_calls")) {
			call := wireCall{}
			call.id, _ = at(c, "id").(string)
			call.name, _ = at(c, "function", "name").(string)
			args, _ := at(c, "function", "arguments").(string)
			call.args = canonical(args)
			msg.calls = append(msg.calls, call)
		}
		r.messages = append(r.messages, msg)
	}
	return r, nil
}

// text returns everything that was said in the request.
func (r request) text() string {
	var b strings.Builder
	for _, m := range r.messages {
		b.WriteString(m.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// opening returns the index of the last user message that holds prompt, and
// whether there is one. An empty prompt is found in the first user message.
func (r request) opening(prompt string) (int, bool) {
	if prompt == "" {
		for i, m := range r.messages {
			if m.role == "user" {
				return i, true
			}
		}
		return 0, false
	}
	for i := len(r.messages) - 1; i >= 0; i-- {
		if r.messages[i].role == "user" && strings.Contains(r.messages[i].text, prompt) {
			return i, true
		}
	}
	return 0, false
}

func contentText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, p := range v {
			if s, ok := at(p, "text").(string); ok {
				b.WriteString(s)
			}
		}
		return b.String()
	}
	return ""
}

// canonical gives two spellings of the same JSON one text.
func canonical(s string) string {
	var v any
	if strings.TrimSpace(s) == "" {
		return "{}"
	}
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	raw, err := encode(v)
	if err != nil {
		return s
	}
	return string(raw)
}

// encode writes JSON without escaping what needs no escape.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func list(v any) []any { l, _ := v.([]any); return l }

func at(v any, path ...string) any {
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}
