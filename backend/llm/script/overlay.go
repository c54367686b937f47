package script

import (
	"encoding/json"
	"strings"
)

// Overlay changes the events of every made reply the way some server would.
// The last event is [DONE].
type Overlay func(events []string) []string

// Overlays are the ways of real servers, by name: a test of a whole loop runs
// once per overlay and must end the same way.
var Overlays = map[string]Overlay{
	"index missing":       onCalls(func(_ int, c map[string]any) { delete(c, "index") }),
	"index always 0":      onCalls(func(_ int, c map[string]any) { c["index"] = 0 }),
	"id and name empty":   onCalls(emptyAgain),
	"id and name again":   repeatIdentity,
	"ends with stop":      onChoice(func(c map[string]any) { renameFinish(c, "stop") }),
	"ends with nothing":   onChoice(func(c map[string]any) { c["finish_reason"] = nil }),
	"no done":             func(e []string) []string { return e[:len(e)-1] },
	"error null":          onChunk(func(c map[string]any) { c["error"] = nil }),
	"usage everywhere":    onChunk(func(c map[string]any) { c["usage"] = map[string]any{"prompt_tokens": 7, "completion_tokens": 2} }),
	"reasoning elsewhere": onDelta(func(d map[string]any) { move(d, "reasoning_content", "reasoning") }),
	"arguments at once":   argumentsAtOnce,
}

func onChunk(change func(map[string]any)) Overlay {
	return func(events []string) []string {
		out := make([]string, len(events))
		for i, e := range events {
			var chunk map[string]any
			if out[i] = e; json.Unmarshal([]byte(e), &chunk) != nil {
				continue
			}
			change(chunk)
			if raw, err := encode(chunk); err == nil {
				out[i] = string(raw)
			}
		}
		return out
	}
}

func onChoice(change func(map[string]any)) Overlay {
	return onChunk(func(chunk map[string]any) {
		for _, c := range list(chunk["choices"]) {
			if c, ok := c.(map[string]any); ok {
				change(c)
			}
		}
	})
}

func onDelta(change func(map[string]any)) Overlay {
	return onChoice(func(c map[string]any) {
		if d, ok := c["delta"].(map[string]any); ok {
			change(d)
		}
	})
}

func onCalls(change func(i int, call map[string]any)) Overlay {
	return onDelta(func(d map[string]any) {
		for i, c := range list(d["tool_calls"]) {
			if c, ok := c.(map[string]any); ok {
				change(i, c)
			}
		}
	})
}

func emptyAgain(_ int, c map[string]any) {
	if c["id"] == nil {
		c["id"] = ""
		if f, ok := c["function"].(map[string]any); ok {
			f["name"] = ""
		}
	}
}

func renameFinish(c map[string]any, to string) {
	if c["finish_reason"] != nil {
		c["finish_reason"] = to
	}
}

func move(d map[string]any, from, to string) {
	if v, ok := d[from]; ok {
		delete(d, from)
		d[to] = v
	}
}

// repeatIdentity sends id and name with every piece of a call.
func repeatIdentity(events []string) []string {
	id, name := map[any]any{}, map[any]any{}
	return onCalls(func(_ int, c map[string]any) {
		f, _ := c["function"].(map[string]any)
		if c["id"] != nil {
			id[c["index"]], name[c["index"]] = c["id"], f["name"]
		}
		c["id"] = id[c["index"]]
		f["name"] = name[c["index"]]
	})(events)
}

// argumentsAtOnce sends every call whole, its arguments as an object.
func argumentsAtOnce(events []string) []string {
	args := map[any]*strings.Builder{}
	gather := onCalls(func(_ int, c map[string]any) {
		b := args[c["index"]]
		if b == nil {
			b = &strings.Builder{}
			args[c["index"]] = b
		}
		s, _ := at(c, "function", "arguments").(string)
		b.WriteString(s)
	})
	gather(events)
	var out []string
	for _, e := range events {
		piece, head := false, false
		changed := onCalls(func(_ int, c map[string]any) {
			piece, head = true, c["id"] != nil
			var object any
			if json.Unmarshal([]byte(args[c["index"]].String()), &object) == nil {
				c["function"].(map[string]any)["arguments"] = object
			}
		})([]string{e})
		if !piece || head {
			out = append(out, changed...)
		}
	}
	return out
}
