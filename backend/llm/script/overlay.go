package script

import (
	"encoding/json"
	"strings"
)

// Overlay changes every made reply the way some server would.
type Overlay struct {
	events func([]string) []string   // the data of the events; the last is [DONE]
	frame  func(event string) string // how an event is written
	size   int                       // bytes of a packet; 0 sends each event whole
}

// on returns the packets of a reply.
func (o Overlay) on(events []string) [][]byte {
	if o.events != nil {
		events = o.events(events)
	}
	var out [][]byte
	for _, e := range events {
		text := "data: " + e + "\n\n"
		if o.frame != nil {
			text = o.frame(e)
		}
		raw := []byte(text)
		for o.size > 0 && len(raw) > o.size {
			out = append(out, raw[:o.size])
			raw = raw[o.size:]
		}
		out = append(out, raw)
	}
	return out
}

// Overlays are the ways of real servers, by name: a test of a whole loop runs
// once per overlay and must end the same way.
var Overlays = map[string]Overlay{
	"index missing":         {events: onCalls(func(_ int, c map[string]any) { delete(c, "index") })},
	"index always 0":        {events: onCalls(func(_ int, c map[string]any) { c["index"] = 0 })},
	"id and name empty":     {events: onCalls(emptyAgain)},
	"id and name again":     {events: repeatIdentity},
	"ends with stop":        {events: onChoice(func(c map[string]any) { renameFinish(c, "stop") })},
	"ends with nothing":     {events: onChoice(func(c map[string]any) { c["finish_reason"] = nil })},
	"no done":               {events: func(e []string) []string { return e[:len(e)-1] }},
	"error null":            {events: onChunk(func(c map[string]any) { c["error"] = nil })},
	"usage everywhere":      {events: onChunk(usageSoFar)},
	"reasoning elsewhere":   {events: onDelta(func(d map[string]any) { move(d, "reasoning_content", "reasoning") })},
	"reasoning in the text": {events: reasoningInText},
	"arguments at once":     {events: argumentsAtOnce},
	"comments":              {frame: func(e string) string { return ": still here\n\ndata: " + e + "\n\n:\n\n" }},
	"other line ends":       {frame: func(e string) string { return "event: message\r\ndata:" + e + "\r\n\r\n" }},
	"cut anywhere":          {size: 7},
}

// usageSoFar counts in every chunk, and rightly in the last.
func usageSoFar(c map[string]any) {
	if c["usage"] == nil {
		c["usage"] = map[string]any{"prompt_tokens": 7, "completion_tokens": 2}
	}
}

// reasoningInText puts the thinking into the text, between tags.
func reasoningInText(events []string) []string {
	open := false
	return onDelta(func(d map[string]any) {
		if thought, ok := d["reasoning_content"].(string); ok {
			delete(d, "reasoning_content")
			if !open {
				thought = thinkOpen + thought
			}
			d["content"], open = thought, true
			return
		}
		if text, _ := d["content"].(string); open {
			d["content"], open = thinkClose+text, false
		}
	})(events)
}

const thinkOpen, thinkClose = "<think>", "</think>"

func onChunk(change func(map[string]any)) func([]string) []string {
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

func onChoice(change func(map[string]any)) func([]string) []string {
	return onChunk(func(chunk map[string]any) {
		for _, c := range list(chunk["choices"]) {
			if c, ok := c.(map[string]any); ok {
				change(c)
			}
		}
	})
}

func onDelta(change func(map[string]any)) func([]string) []string {
	return onChoice(func(c map[string]any) {
		if d, ok := c["delta"].(map[string]any); ok {
			change(d)
		}
	})
}

func onCalls(change func(i int, call map[string]any)) func([]string) []string {
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
