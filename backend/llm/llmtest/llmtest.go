// Package llmtest plays models in Go tests. Script answers in process, for
// tests of a loop; Serve plays the same turns over HTTP, for tests of
// everything up to the wire.
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/id"
	"gofer/backend/llm"
	"gofer/backend/llm/openai"
	"gofer/backend/llm/script"
)

// Turn is one reply of a model.
type Turn struct {
	Text      string
	Reasoning string
	Calls     []chat.ToolCall
	Finish    llm.Finish // empty: tool_calls with calls, else stop
	Usage     *chat.Usage
	Err       *llm.Error              // the turn fails after its text
	Hold      <-chan struct{}         // wait for it, or for a stop, after the text
	Check     func(llm.Request) error // what the request must satisfy
	Make      func(llm.Request) Turn  // the turn, worked out from the request
}

// Says is a turn of text.
func Says(text string) Turn { return Turn{Text: text} }

// Calls is a turn that calls tools.
func Calls(calls ...chat.ToolCall) Turn { return Turn{Calls: calls} }

// Fails is a turn that fails.
func Fails(kind llm.ErrorKind, retryable bool) Turn {
	return Turn{Err: &llm.Error{Kind: kind, Retryable: retryable, Message: "The scripted model fails here."}}
}

// Call is a call of a tool; args is anything JSON can hold, or JSON itself.
func Call(name string, args any) chat.ToolCall {
	raw, ok := args.(json.RawMessage)
	if s, isText := args.(string); isText {
		raw, ok = json.RawMessage(s), true
	}
	if !ok {
		raw, _ = json.Marshal(args)
	}
	if args == nil {
		raw = json.RawMessage("{}")
	}
	return chat.ToolCall{Name: name, Arguments: raw}
}

// Then makes a turn from the request, such as from the last result.
func Then(make func(llm.Request) Turn) Turn { return Turn{Make: make} }

// LastResult returns the text of the latest tool result in a request.
func LastResult(req llm.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if r := req.Messages[i].Result; r != nil {
			return r.Text
		}
	}
	return ""
}

// Model is a scripted llm.Model.
type Model struct {
	mu       sync.Mutex
	turns    []Turn
	requests []llm.Request
	problem  error
}

// Script plays turns in order. The test fails at its end when a request broke
// a check or came after the last turn, or when turns are left.
func Script(t testing.TB, turns ...Turn) *Model {
	m := &Model{turns: turns}
	t.Cleanup(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.problem != nil {
			t.Errorf("scripted model: %v", m.problem)
		}
		if len(m.turns) > 0 && !t.Failed() {
			t.Errorf("scripted model: %d turns were not asked for", len(m.turns))
		}
	})
	return m
}

// Requests returns what was asked so far.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request{}, m.requests...)
}

// Stream plays the next turn.
func (m *Model) Stream(ctx context.Context, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	turn, err := m.next(req)
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.BadRequest, Message: err.Error()}
	}
	reply := llm.Reply{Model: "scripted", Usage: turn.Usage, Finish: turn.Finish}
	say := func(kind llm.DeltaKind, part chat.PartType, text string) {
		if text == "" {
			return
		}
		reply.Parts = append(reply.Parts, chat.Part{Type: part, Text: text})
		for _, word := range strings.SplitAfter(text, " ") {
			emit(llm.Delta{Kind: kind, Text: word})
		}
	}
	say(llm.DeltaReasoning, chat.Reasoning, turn.Reasoning)
	say(llm.DeltaText, chat.Text, turn.Text)
	if turn.Hold != nil {
		select {
		case <-turn.Hold:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return reply, &llm.Error{Kind: llm.Cancelled, Message: "The request was stopped.", Cause: ctx.Err()}
	}
	if turn.Err != nil {
		return reply, turn.Err
	}
	for i, c := range turn.Calls {
		if c.ID == "" {
			c.ID = id.New()
		}
		if c.WireID == "" {
			c.WireID = "call_" + c.ID[len(c.ID)-12:]
		}
		reply.Calls = append(reply.Calls, c)
		emit(llm.Delta{Kind: llm.DeltaCall, Call: i, Name: c.Name, Text: string(c.Arguments)})
	}
	if reply.Finish == "" {
		reply.Finish = llm.Stop
		if len(reply.Calls) > 0 {
			reply.Finish = llm.ToolCalls
		}
	}
	return reply, nil
}

func (m *Model) next(req llm.Request) (Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, req)
	turn := Turn{}
	if len(m.turns) == 0 {
		m.problem = fmt.Errorf("request %d comes after the last turn", len(m.requests))
		return turn, m.problem
	}
	turn, m.turns = m.turns[0], m.turns[1:]
	if turn.Check != nil {
		if err := turn.Check(req); err != nil {
			m.problem = fmt.Errorf("request %d: %w", len(m.requests), err)
			return turn, m.problem
		}
	}
	if turn.Make != nil {
		turn = turn.Make(req)
	}
	return turn, nil
}

// Serve plays scripts over HTTP and fails the test at its end when a request
// was wrong.
func Serve(t testing.TB, scripts ...script.Script) *script.Server {
	t.Helper()
	s, err := script.Serve(scripts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range s.Problems() {
			t.Errorf("scripted server: %s", p)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Client returns a client of a served script, the same that speaks to real
// providers.
func Client(s *script.Server, model string) *openai.Client {
	return openai.New(openai.Options{Name: "the scripted model", BaseURL: s.URL, Model: model})
}
