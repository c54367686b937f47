package openai

import (
	"bytes"
	"encoding/json"
	"strings"
)

// complete reports whether s is a whole JSON object.
func complete(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}

// readArgs makes an object of the arguments as they came. Nothing means {};
// text that holds an object is unwrapped; what a template left behind an object
// is dropped. ok is false when there is no object to be had.
func readArgs(raw string) (args json.RawMessage, ok bool) {
	s := strings.TrimSpace(raw)
	for range 3 {
		var inner string
		if json.Unmarshal([]byte(s), &inner) != nil || s == "null" {
			break
		}
		s = strings.TrimSpace(inner)
	}
	if s == "" || s == "null" {
		return json.RawMessage("{}"), true
	}
	if complete(s) {
		return compact(s), true
	}
	dec := json.NewDecoder(strings.NewReader(s))
	var first json.RawMessage
	if dec.Decode(&first) != nil || !complete(string(first)) {
		return nil, false
	}
	if strings.ContainsAny(s[dec.InputOffset():], "{[") {
		return nil, false
	}
	return compact(string(first)), true
}

func compact(s string) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return json.RawMessage(s)
	}
	return b.Bytes()
}
