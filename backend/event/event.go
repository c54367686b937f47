// Package event holds what the product tells its faces: one envelope, one
// payload struct per type, and ordered delivery.
//
// A stored event has a seq: gap-free within its session, from 1. Deltas and
// progress carry seq 0, may be merged or dropped, and never are the only place
// where something is said. Events without a session use SessionID "" and a
// sequence of their own.
package event

import (
	"encoding/json"

	"gofer/backend/chat"
)

// Envelope is one event on its way.
type Envelope struct {
	Seq       int64  `json:"seq"`
	Type      string `json:"type"`
	SessionID string `json:"sessionId"`
	RunID     string `json:"runId,omitempty"`
	Lane      string `json:"lane,omitempty"`
	At        int64  `json:"at"` // Unix milliseconds
	Data      Data   `json:"data"`
}

// Data is the payload of an event.
type Data interface{ EventType() string }

// Carrier is a payload around a message that is stored as a row of its own.
type Carrier interface {
	Data
	Carried() chat.Message
	Carry(m chat.Message) Data // the same payload around another form of it
}

// Of makes an envelope around a payload; seq and time are the sender's to set.
func Of(sessionID, runID string, data Data) Envelope {
	return Envelope{Type: data.EventType(), SessionID: sessionID, RunID: runID, Data: data}
}

// Passing reports whether an event is a hint that may be dropped and is not stored.
func (e Envelope) Passing() bool {
	switch e.Data.(type) {
	case MessageDelta, *MessageDelta, ToolProgress, *ToolProgress:
		return true
	}
	return false
}

// UnmarshalJSON reads an envelope with the payload its type names.
func (e *Envelope) UnmarshalJSON(raw []byte) error {
	type plain Envelope
	in := struct {
		*plain
		Data json.RawMessage `json:"data"`
	}{plain: (*plain)(e)}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	data, err := Decode(e.Type, in.Data)
	if err != nil {
		return err
	}
	e.Data = data
	return nil
}
