// Package llm is the contract with models. A Model streams one reply to one
// request; how it speaks to a server is the business of the packages below.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gofer/backend/chat"
)

// Model answers a request with one reply.
//
// Stream calls emit, from one goroutine, for every piece as it arrives, and
// returns the whole reply. On an error it returns what had arrived together
// with an *Error; no call of such a reply may be run.
type Model interface {
	Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error)
}

// Request is everything a model needs for one reply.
type Request struct {
	System    string         // first message; stable over a run so that prompt caches hold
	Messages  []chat.Message // the context, oldest first
	Tail      string         // late instruction, sent as the last message; may be empty
	Tools     []ToolSpec     // empty offers none
	MaxTokens int            // 0 sends no limit
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON schema of an object
}

// DeltaKind says what a delta adds to.
type DeltaKind string

// The pieces a reply is made of.
const (
	DeltaText      DeltaKind = "text"
	DeltaReasoning DeltaKind = "reasoning"
	DeltaCall      DeltaKind = "call"
)

// Delta is one piece of a reply in the making.
type Delta struct {
	Kind DeltaKind
	Text string // text or reasoning to append; for a call its next piece of arguments
	Call int    // index of the call in order of opening
	Name string // name of the call, once known
}

// Finish says why a reply ended.
type Finish string

// The ends of a reply. Calls decide: a reply with calls ends with ToolCalls
// whatever the server says, except for Length and ContentFilter.
const (
	Stop          Finish = "stop"
	ToolCalls     Finish = "tool_calls"
	Length        Finish = "length"
	ContentFilter Finish = "content_filter"
	Broken        Finish = "error" // of a reply that failed and was kept as far as it came
)

// Reply is one finished answer of a model.
type Reply struct {
	Parts  []chat.Part // text and reasoning
	Calls  []chat.ToolCall
	Finish Finish
	Usage  *chat.Usage // nil when the server sent none
	Model  string      // the name the server gave, else the one asked for
	Replay json.RawMessage
	Notes  []string // plain sentences worth showing: a dropped field, a mended call
}

// ErrorKind is a class of failures, see LLM error kinds in docs.
type ErrorKind string

// The kinds of failures.
const (
	Auth          ErrorKind = "auth"
	Quota         ErrorKind = "quota"
	RateLimit     ErrorKind = "rate_limit"
	ContextLength ErrorKind = "context_length"
	Overloaded    ErrorKind = "overloaded"
	BadRequest    ErrorKind = "bad_request"
	StreamBroken  ErrorKind = "stream_broken"
	Protocol      ErrorKind = "protocol"
	Unreachable   ErrorKind = "unreachable"
	Cancelled     ErrorKind = "cancelled"
)

// Error is a failed model call.
type Error struct {
	Kind        ErrorKind
	Status      int           // HTTP status, 0 without one
	Retryable   bool          // trying again by itself may help
	RetryAfter  time.Duration // what the server asked for, 0 without
	Message     string        // plain sentence naming the provider; no page source, no key
	Hint        string        // the way on
	Certificate string        // fingerprint of a certificate that could not be checked
	Reasons     []Reason      // why each model of a route failed; empty for one model
	Cause       error
}

// Reason is why one of several models failed.
type Reason struct {
	Model string // provider and model, for people
	Err   *Error
}

// Error returns kind and sentence.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Kind, e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Limits bound one model call. A zero field takes the default of DefaultLimits.
type Limits struct {
	Connect   time.Duration // until the connection stands
	FirstByte time.Duration // from the request to the first byte of the reply
	Silence   time.Duration // between two bytes after it; any byte counts
	Ceiling   time.Duration // the whole call
}

// DefaultLimits are the limits for servers on the network (SPEC B3, B4).
func DefaultLimits() Limits {
	return Limits{Connect: 30 * time.Second, FirstByte: 180 * time.Second, Silence: 120 * time.Second, Ceiling: 30 * time.Minute}
}

// LocalLimits are those for a model on this machine, which may load first.
func LocalLimits() Limits {
	return Limits{Connect: 30 * time.Second, FirstByte: 600 * time.Second, Silence: 600 * time.Second, Ceiling: 30 * time.Minute}
}
