package openai

import (
	"crypto/sha256"
	"math/big"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// maxWireID is the longest id of a call that every server takes.
const maxWireID = 40

// wireIDs gives each call of a request an id that is its own. The same
// transcript always gets the same ids, so that prompt caches hold.
type wireIDs struct {
	style string
	used  map[string]bool
}

func newWireIDs(style string) wireIDs { return wireIDs{style: style, used: map[string]bool{}} }

// of returns the provider's own id where it can be kept, else one made of ours.
func (w wireIDs) of(call chat.ToolCall) string {
	wire := call.WireID
	if wire == "" {
		wire = call.ID
	}
	if w.style == llm.IDAlnum9 {
		if !isAlnum9(wire) {
			wire = digest(wire)[:9]
		}
	} else if len(wire) > maxWireID || wire == "" {
		wire = "call_" + digest(wire)[:24]
	}
	for salt := call.ID; w.used[wire]; salt += "+" {
		if wire = digest(salt + wire)[:9]; w.style != llm.IDAlnum9 {
			wire = "call_" + digest(salt + wire)[:24]
		}
	}
	w.used[wire] = true
	return wire
}

func isAlnum9(s string) bool {
	if len(s) != 9 {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return true
}

// digest returns the hash of s as at least 40 small letters and digits.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	text := new(big.Int).SetBytes(sum[:]).Text(36)
	for len(text) < 40 {
		text += "0"
	}
	return text
}
