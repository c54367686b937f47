package agent

import (
	"fmt"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// garbled is how many replies running held calls of which none could be read.
type garbled int

// count ends a run whose model, told what was wrong with its calls, writes them
// wrongly again: a third try costs money and seldom helps.
func (g *garbled) count(calls []chat.ToolCall) error {
	for _, c := range calls {
		if c.Invalid == "" {
			*g = 0
			return nil
		}
	}
	if *g++; *g < 2 {
		return nil
	}
	return &llm.Error{
		Kind:    llm.Protocol,
		Message: fmt.Sprintf("The model's call could not be read, and neither could its second try: %s.", calls[len(calls)-1].Invalid),
		Hint:    "Choose another model, fewer tools for this one, or a higher output limit.",
	}
}
