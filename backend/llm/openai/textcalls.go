package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// The marks around a call that is written in the text. Many open models were
// trained on them.
const (
	callOpen  = "<tool_call>"
	callClose = "</tool_call>"
)

// describeTools tells a model in words what it may call and how.
func describeTools(tools []llm.ToolSpec) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("You can call tools. To call one, write exactly this, one block per call, and then stop:\n" +
		callOpen + "\n{\"name\": \"the tool\", \"arguments\": {}}\n" + callClose +
		"\nThe results come in the next message. Tools:\n")
	for _, t := range tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage("{}")
		}
		fmt.Fprintf(&b, "\n%s: %s\nArguments as JSON schema: %s\n", t.Name, strings.TrimSpace(t.Description), compact(string(schema)))
	}
	return b.String()
}

// writtenCall is a call as a message of the history shows it.
func writtenCall(c chat.ToolCall) string {
	if c.Invalid != "" && c.Raw != "" {
		return callOpen + "\n" + c.Raw + "\n" + callClose
	}
	name, _ := json.Marshal(c.Name) // a string always can
	args := c.Arguments
	if !complete(string(args)) {
		args = json.RawMessage("{}")
	}
	return fmt.Sprintf("%s\n{\"name\": %s, \"arguments\": %s}\n%s", callOpen, name, compact(string(args)), callClose)
}

// textCalls parts calls from the text they are written in, piece by piece.
type textCalls struct {
	within bool
	held   string
}

// add returns what a piece adds to the visible text, and the calls it completes.
func (t *textCalls) add(piece string) (text string, calls []string) {
	t.held += piece
	for {
		mark := callOpen
		if t.within {
			mark = callClose
		}
		before, after, found := strings.Cut(t.held, mark)
		if !found {
			break
		}
		if t.within {
			calls = append(calls, strings.TrimSpace(before))
		} else {
			text += strings.TrimRight(before, "\n")
		}
		t.within, t.held = !t.within, after
	}
	if !t.within {
		// line ends before a mark belong to it
		sure := strings.TrimRight(t.held[:len(t.held)-partial(t.held, callOpen)], "\n")
		text, t.held = text+sure, t.held[len(sure):]
	}
	return text, calls
}

// end returns what was held back: text, or a call that was not closed.
func (t *textCalls) end() (text string, calls []string) {
	held := t.held
	t.held = ""
	if t.within && strings.TrimSpace(held) != "" {
		return "", []string{strings.TrimSpace(held)}
	}
	return held, nil
}

// readCall makes a call of what stood between the marks. One that cannot be
// read keeps the parser's words, which the model gets back.
func readCall(raw string) callDelta {
	dec := json.NewDecoder(bytes.NewReader([]byte(raw)))
	var o object
	if err := dec.Decode(&o); err != nil {
		return callDelta{args: raw, broken: err.Error()}
	}
	d := callDelta{name: o.str("name"), args: argText(o["arguments"])}
	if d.args == "" {
		d.args = argText(o["parameters"])
	}
	if d.args == "" {
		d.args = "{}"
	}
	if d.name == "" {
		d.args, d.broken = raw, `there is no "name"`
	}
	return d
}
