package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// object is JSON read only one level deep, so that a field of an unexpected
// type spoils nothing but itself.
type object map[string]json.RawMessage

func asObject(raw json.RawMessage) object {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func asList(raw json.RawMessage) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// str returns a field as text; numbers are spelled out.
func (o object) str(name string) string {
	raw := o[name]
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// num returns a field as a number, also when it is spelled as text.
func (o object) num(name string) (int, bool) {
	s := o.str(name)
	f, err := strconv.ParseFloat(s, 64)
	return int(f), err == nil && s != ""
}

// choice returns the only choice anybody asked for.
func (o object) choice() object {
	for _, raw := range asList(o["choices"]) {
		c := asObject(raw)
		if i, ok := c.num("index"); !ok || i == 0 {
			return c
		}
	}
	return nil
}

// content returns the text and the thinking of a content field, which is a
// string, null, or a list of parts.
func content(raw json.RawMessage) (text, reasoning string) {
	if isNull(raw) {
		return "", ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, ""
	}
	var t, r strings.Builder
	for _, part := range asList(raw) {
		p := asObject(part)
		switch p.str("type") {
		case "thinking", "reasoning":
			r.WriteString(partText(p["thinking"]))
			r.WriteString(partText(p["reasoning"]))
		default:
			t.WriteString(p.str("text"))
		}
	}
	return t.String(), r.String()
}

// partText returns the text of a value that is a string or a list of text parts.
func partText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var b strings.Builder
	for _, part := range asList(raw) {
		b.WriteString(asObject(part).str("text"))
	}
	return b.String()
}
