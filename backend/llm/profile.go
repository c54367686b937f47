package llm

import (
	"reflect"
	"strings"
)

// Profile is what is special about a server that speaks chat completions. The
// zero value suits a server nobody knows anything about.
type Profile struct {
	ReasoningEcho   string         `json:"reasoningEcho,omitempty"`   // field in which thinking goes back: reasoning_content, reasoning, reasoning_details; empty sends none
	ToolIDStyle     string         `json:"toolIdStyle,omitempty"`     // alnum9 makes nine letters or digits of every call id; empty keeps them
	BridgeAfterTool bool           `json:"bridgeAfterTool,omitempty"` // a user message may not follow a tool message: put a short assistant message between
	StrictRoles     bool           `json:"strictRoles,omitempty"`     // user and assistant must alternate: neighbours are merged
	LateSystem      bool           `json:"lateSystem,omitempty"`      // a system message may come late; otherwise such text goes as user text
	MaxTokensField  string         `json:"maxTokensField,omitempty"`  // empty means max_tokens
	EmptyContent    bool           `json:"emptyContent,omitempty"`    // content of a message with calls only is "" instead of null
	NoStreamOptions bool           `json:"noStreamOptions,omitempty"` // the server refuses stream_options
	NoPictures      bool           `json:"noPictures,omitempty"`      // the server refuses pictures, whatever is known of its model
	Schema          string         `json:"schema,omitempty"`          // plain leaves only the words every server knows in the schemas of tools; empty sends them as they are
	Thinking        string         `json:"thinking,omitempty"`        // field that switches thinking: thinking, enable_thinking, reasoning, reasoning_effort; empty takes reasoning_effort
	ThinkOpened     bool           `json:"thinkOpened,omitempty"`     // a reply begins within thinking, since the template wrote the opening tag
	TextCalls       bool           `json:"textCalls,omitempty"`       // tools are described and called in the text, for models and servers without tool calls
	Signatures      bool           `json:"signatures,omitempty"`      // calls of other models get the placeholder for a thought signature
	Leave           []string       `json:"leave,omitempty"`           // fields of the request the server refuses
	KeyHeader       string         `json:"keyHeader,omitempty"`       // header that carries the bare key; empty means Authorization: Bearer
	Body            map[string]any `json:"body,omitempty"`            // more fields of the request
}

// Traits returns the names of the fields of a Profile as settings spell them.
func Traits() []string {
	var names []string
	for f := range reflect.TypeFor[Profile]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// The values of Profile.ReasoningEcho.
const (
	EchoContent = "reasoning_content"
	EchoPlain   = "reasoning"
	EchoDetails = "reasoning_details"
)

// The values of Profile.Thinking.
const (
	ThinkingObject = "thinking"
	ThinkingSwitch = "enable_thinking"
	ThinkingNested = "reasoning"
	ThinkingEffort = "reasoning_effort"
)

// PlainSchema is the value of Profile.Schema for servers that know little of
// JSON schema.
const PlainSchema = "plain"

// Sampling is what a person may set for the replies of a model. What is not
// set is not sent.
type Sampling struct {
	Temperature *float64
	Thinking    string // off, on, low, medium, high; empty sends nothing
}

// IDAlnum9 is the value of Profile.ToolIDStyle for ids of nine letters or digits.
const IDAlnum9 = "alnum9"
