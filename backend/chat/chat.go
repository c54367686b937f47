// Package chat holds the words of a conversation: messages and their parts,
// tool calls and results, usage. It has no behaviour beyond small questions a
// reader would ask, and it is both the stored and the wire form: camelCase
// JSON, milliseconds, blob keys instead of bytes.
package chat

import (
	"encoding/json"
	"math"
	"strings"
)

// Role says who speaks.
type Role string

// The four speakers of a transcript.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// PartType says what a part holds.
type PartType string

// The kinds of parts. Reasoning is never part of the visible text.
const (
	Text      PartType = "text"
	Reasoning PartType = "reasoning"
	Image     PartType = "image"
	File      PartType = "file"
)

// Part is a piece of a message. Bytes are never inline: Blob is the content
// hash under which the store keeps them.
type Part struct {
	Type   PartType `json:"type"`
	Text   string   `json:"text,omitempty"`
	Blob   string   `json:"blob,omitempty"`
	Media  string   `json:"media,omitempty"` // MIME type of the blob
	Name   string   `json:"name,omitempty"`  // file name to show
	Width  int      `json:"width,omitempty"` // pixels, images only
	Height int      `json:"height,omitempty"`
	Size   int64    `json:"size,omitempty"` // bytes of the blob
}

// Message is one entry of a transcript.
type Message struct {
	ID        string          `json:"id"`
	SessionID string          `json:"sessionId"`
	RunID     string          `json:"runId,omitempty"`
	Seq       int64           `json:"seq"` // place in the session's transcript, from 1
	Role      Role            `json:"role"`
	Parts     []Part          `json:"parts,omitempty"`
	Calls     []ToolCall      `json:"calls,omitempty"`  // assistant only, in order of opening
	Result    *ToolResult     `json:"result,omitempty"` // tool only: the answer to one call
	Model     string          `json:"model,omitempty"`  // assistant only: who answered
	Finish    string          `json:"finish,omitempty"` // assistant only: stop, tool_calls, length, content_filter, error
	Usage     *Usage          `json:"usage,omitempty"`  // assistant only
	Replay    json.RawMessage `json:"replay,omitempty"` // assistant only: provider fields that must be sent back, kept by the model client
	CreatedAt int64           `json:"createdAt"`        // Unix milliseconds
}

// Text returns the visible text of the message.
func (m Message) Text() string { return m.join(Text) }

// Reasoning returns the thinking text of the message.
func (m Message) Reasoning() string { return m.join(Reasoning) }

func (m Message) join(kind PartType) string {
	var found []string
	for _, p := range m.Parts {
		if p.Type == kind {
			found = append(found, p.Text)
		}
	}
	return strings.Join(found, "") // one alone is not copied
}

// Pictures returns the pictures of the message: those of its parts and those a
// call has made.
func (m Message) Pictures() []Part {
	var out []Part
	for _, p := range m.Parts {
		if p.Type == Image {
			out = append(out, p)
		}
	}
	if m.Result != nil {
		for _, a := range m.Result.Artifacts {
			if strings.HasPrefix(a.Media, "image/") {
				out = append(out, Part{Type: Image, Blob: a.Blob, Media: a.Media, Name: a.Name, Width: a.Width, Height: a.Height, Size: a.Size})
			}
		}
	}
	return out
}

// ToolCall is a model's request for a tool.
type ToolCall struct {
	ID        string          `json:"id"`               // ours, unique for ever
	WireID    string          `json:"wireId,omitempty"` // the provider's, may repeat
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`         // always a JSON object; {} when Invalid is set
	Invalid   string          `json:"invalid,omitempty"` // why the arguments could not be read; such a call is never run
	Raw       string          `json:"raw,omitempty"`     // the unreadable arguments as they came
	Extra     json.RawMessage `json:"extra,omitempty"`   // unknown fields of the call, echoed to the provider
}

// CallState is the life of a tool call. A started call whose end was never
// stored is unknown: it may or may not have taken effect.
type CallState string

// The states of a call.
const (
	CallStarted   CallState = "started"
	CallSucceeded CallState = "succeeded"
	CallFailed    CallState = "failed"
	CallCancelled CallState = "cancelled"
	CallUnknown   CallState = "unknown"
)

// ToolResult is the one answer to a call.
type ToolResult struct {
	CallID    string     `json:"callId"`
	Name      string     `json:"name"`
	State     CallState  `json:"state"`
	Title     string     `json:"title,omitempty"`     // the call's object in a few words, as told when it started
	Text      string     `json:"text"`                // what the model reads
	Outcome   string     `json:"outcome,omitempty"`   // a few words for the card
	Origin    string     `json:"origin,omitempty"`    // where outside text in it came from
	Artifacts []Artifact `json:"artifacts,omitempty"` // files and pictures made by the call
	ElapsedMS int64      `json:"elapsedMs"`
}

// Artifact is a file a run made or received; its bytes are a blob.
type Artifact struct {
	Blob   string `json:"blob"`
	Name   string `json:"name"`
	Media  string `json:"media"`
	Size   int64  `json:"size"` // bytes
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
}

// Usage counts tokens of one or more model calls.
type Usage struct {
	Input     int     `json:"input"`
	Output    int     `json:"output"`
	Cached    int     `json:"cached,omitempty"`
	Reasoning int     `json:"reasoning,omitempty"`
	Estimated bool    `json:"estimated,omitempty"` // the provider said nothing
	Cost      float64 `json:"cost,omitempty"`      // US dollars, as far as prices are known
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached, Reasoning: u.Reasoning + v.Reasoning,
		Estimated: u.Estimated || v.Estimated, Cost: math.Round((u.Cost+v.Cost)*1e9) / 1e9,
	}
}

// Prompt is what a person asks for.
type Prompt struct {
	Text          string `json:"text"`
	Mode          string `json:"mode,omitempty"`          // plan, ask, auto or full for this run; empty takes the session's
	MaxIterations int    `json:"maxIterations,omitempty"` // 0 takes the setting
}

// CleanPrompt trims text and drops the leading semicolon that the quick entry
// allows (A1). It returns "" when nothing was asked.
func CleanPrompt(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, ";"); ok {
		text = strings.TrimSpace(rest)
	}
	return text
}
