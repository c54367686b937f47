package llmtest

import (
	"context"
	"errors"
	"fmt"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// Loop is the smallest loop that plays a model against tools. It keeps a
// transcript as the app does, so it can be stopped and go on.
type Loop struct {
	Model    llm.Model
	Tools    []llm.ToolSpec
	Do       func(ctx context.Context, name string, args []byte) (string, error) // one call
	Messages []chat.Message
	Calls    int
}

// ErrKilled is what Do returns to end the loop as if the process had died: the
// call stays without a result.
var ErrKilled = errors.New("killed")

// Prompt adds what the person says.
func (l *Loop) Prompt(text string) {
	l.Messages = append(l.Messages, chat.Message{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: text}}})
}

// Run goes on until the model calls no tool, and returns its last text.
func (l *Loop) Run(ctx context.Context) (string, error) {
	l.answerUnknown()
	for range 500 {
		r, err := l.Model.Stream(ctx, llm.Request{System: "You help.", Messages: l.Messages, Tools: l.Tools}, func(llm.Delta) {})
		if err != nil {
			return "", err
		}
		m := chat.Message{Role: chat.Assistant, Parts: r.Parts, Calls: r.Calls}
		l.Messages = append(l.Messages, m)
		if len(r.Calls) == 0 {
			return m.Text(), nil
		}
		for _, c := range r.Calls {
			l.Calls++
			text, err := l.Do(ctx, c.Name, c.Arguments)
			if err != nil {
				return "", err
			}
			l.result(c, chat.CallSucceeded, text)
		}
	}
	return "", fmt.Errorf("no end after %d calls", l.Calls)
}

// answerUnknown answers the calls that were open when the loop was killed.
func (l *Loop) answerUnknown() {
	answered := map[string]bool{}
	for _, m := range l.Messages {
		if m.Result != nil {
			answered[m.Result.CallID] = true
		}
	}
	for _, m := range l.Messages {
		started := true
		for _, c := range m.Calls {
			switch {
			case answered[c.ID]:
			case started:
				started = false
				l.result(c, chat.CallUnknown, "Outcome unknown: the app ended during this call. Look first.")
			default:
				l.result(c, chat.CallCancelled, "Cancelled: this call was not run.")
			}
		}
	}
}

func (l *Loop) result(c chat.ToolCall, state chat.CallState, text string) {
	l.Messages = append(l.Messages, chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: c.ID, Name: c.Name, State: state, Text: text}})
}
