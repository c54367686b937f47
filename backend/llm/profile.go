package llm

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
	KeyHeader       string         `json:"keyHeader,omitempty"`       // header that carries the bare key; empty means Authorization: Bearer
	Body            map[string]any `json:"body,omitempty"`            // more fields of the request
}

// The values of Profile.ReasoningEcho.
const (
	EchoContent = "reasoning_content"
	EchoPlain   = "reasoning"
	EchoDetails = "reasoning_details"
)

// IDAlnum9 is the value of Profile.ToolIDStyle for ids of nine letters or digits.
const IDAlnum9 = "alnum9"
