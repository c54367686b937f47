package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// afterFinish is how long a stream may keep silent once its reply is complete.
const afterFinish = 5 * time.Second

// accumulator puts a reply together.
type accumulator struct {
	emit      func(llm.Delta)
	calls     *calls
	think     thinking
	written   *textCalls // calls are looked for in the text; nil when they are not
	text      chat.Pieces
	reasoning chat.Pieces
	source    int // rank of the field thinking comes in
	details   []map[string]any
	usage     *chat.Usage
	finish    string
	model     string
	sawEvent  bool
	sawDelta  bool
	done      bool
}

func newAccumulator(offered []string, emit func(llm.Delta)) *accumulator {
	return &accumulator{emit: emit, calls: newCalls(offered)}
}

// follow reads the reply as the profile says.
func (a *accumulator) follow(p llm.Profile) {
	if p.ThinkOpened {
		a.think.state = within
	}
	if p.TextCalls {
		a.written = &textCalls{}
	}
}

// errEarlyEnd is an end of the stream before the end of the reply.
var errEarlyEnd = errors.New("the stream ended before the reply did")

// read takes a whole reply from a body: a stream, or one JSON completion,
// whatever the header says.
func (a *accumulator) read(body *stream) error {
	e := newEvents(body)
	first, err := e.start()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return errEmpty
		}
		return err
	}
	switch first {
	case '<':
		return errWebPage
	case '{', '[':
		raw, err := e.rest()
		if err != nil {
			return err
		}
		if !json.Valid(raw) {
			return errNotJSON
		}
		return a.whole(raw)
	}
	for {
		name, data, err := e.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = a.ended()
			} else if a.finish != "" && !errors.Is(err, errTooLarge) {
				err = nil // the reply was complete before the connection broke
			}
			return err
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			a.done = true
			body.drain()
			return a.ended()
		}
		if len(data) == 0 || string(data) == "null" || string(data) == "{}" || name == "ping" {
			continue
		}
		if err := a.event(name, data); err != nil {
			return err
		}
		if a.finish != "" {
			body.w.soon(afterFinish)
		}
	}
}

// ended judges the end of a stream.
func (a *accumulator) ended() error {
	switch {
	case !a.sawEvent:
		return errEmpty
	case a.done || a.finish != "":
		return nil
	}
	return errEarlyEnd
}

func (a *accumulator) event(name string, data []byte) error {
	o := asObject(data)
	if o == nil {
		if list := asList(data); len(list) > 0 {
			return a.event(name, list[0])
		}
		if !a.sawEvent {
			return errNotJSON
		}
		return errEarlyEnd // half an event at the end of a cut stream
	}
	if said, ok := serverSays(o, name == "error"); ok {
		a.chunk(o)
		return said
	}
	a.chunk(o)
	if a.finish == "error" {
		return &serverError{message: "The provider ended the reply with an error.", status: 502}
	}
	return nil
}

// whole takes one completion that came without a stream.
func (a *accumulator) whole(raw []byte) error {
	if list := asList(raw); len(list) > 0 {
		raw = list[0]
	}
	o := asObject(raw)
	if said, ok := serverSays(o, false); ok {
		return said
	}
	c := o.choice()
	if c == nil {
		return errNotJSON
	}
	a.chunk(o)
	if a.finish == "" {
		a.finish = "stop"
	}
	return nil
}

func (a *accumulator) chunk(o object) {
	if m := o.str("model"); m != "" {
		a.model = m
	}
	c := o.choice()
	for _, raw := range []json.RawMessage{o["usage"], c["usage"], asObject(o["x_groq"])["usage"]} {
		if u := readUsage(raw); u != nil {
			a.usage = u
			break
		}
	}
	if c == nil {
		return
	}
	a.sawEvent = true
	delta := asObject(c["delta"])
	switch {
	case delta != nil:
		a.sawDelta = true
		a.delta(delta)
	case !a.sawDelta:
		if m := asObject(c["message"]); m != nil {
			a.delta(m)
		}
	}
	if f := c.str("finish_reason"); f != "" {
		a.finish = f
	}
}

func (a *accumulator) delta(d object) {
	text, thought := content(d["content"])
	if r := d.str("refusal"); r != "" {
		text += r
	}
	a.takeReasoning(d, thought)
	if text != "" {
		r, t := a.think.add(text)
		a.addReasoning(r)
		a.addText(t)
	}
	for _, raw := range asList(d["tool_calls"]) {
		a.call(asObject(raw))
	}
	if f := asObject(d["function_call"]); f != nil {
		a.call(object{"index": json.RawMessage("0"), "function": d["function_call"]})
	}
}

// takeReasoning takes thinking from the best field there is; several fields
// carry the same text.
func (a *accumulator) takeReasoning(d object, parts string) {
	details := asList(d["reasoning_details"])
	var summary strings.Builder
	for _, raw := range details {
		o := asObject(raw)
		summary.WriteString(o.str("text"))
		summary.WriteString(o.str("summary"))
		a.joinDetail(raw)
	}
	ranked := []string{d.str("reasoning_content"), d.str("reasoning"), summary.String(), parts}
	for rank, text := range ranked {
		if text == "" {
			continue
		}
		if a.source == 0 || rank+1 <= a.source {
			a.source = rank + 1
			a.addReasoning(text)
		}
		return
	}
}

// joinDetail adds an increment of reasoning_details; they go back whole.
func (a *accumulator) joinDetail(raw json.RawMessage) {
	var d map[string]any
	if json.Unmarshal(raw, &d) != nil || d == nil {
		return
	}
	for _, known := range a.details {
		if known["type"] != d["type"] || known["index"] != d["index"] {
			continue
		}
		if known["id"] != nil && d["id"] != nil && known["id"] != d["id"] {
			continue
		}
		for k, v := range d {
			s, isText := v.(string)
			old, wasText := known[k].(string)
			if isText && wasText && (k == "text" || k == "summary") {
				known[k] = old + s
			} else if v != nil {
				known[k] = v
			}
		}
		return
	}
	a.details = append(a.details, d)
}

func (a *accumulator) call(o object) {
	if o == nil {
		return
	}
	f := asObject(o["function"])
	d := callDelta{id: o.str("id"), name: f.str("name"), args: argText(f["arguments"]), extra: object{}}
	d.index, d.hasIndex = o.num("index")
	for k, v := range o {
		switch k {
		case "id", "type", "index", "function":
		default:
			if !isNull(v) {
				d.extra[k] = v
			}
		}
	}
	i := a.calls.add(d)
	a.emit(llm.Delta{Kind: llm.DeltaCall, Text: d.args, Call: i, Name: a.calls.list[i].name})
}

// argText returns arguments as text: they are a string, or the object itself.
func argText(raw json.RawMessage) string {
	if isNull(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (a *accumulator) addText(s string) {
	if a.written != nil {
		var calls []string
		s, calls = a.written.add(s)
		a.addWritten(calls)
	}
	a.showText(s)
}

// addWritten takes calls that stood in the text.
func (a *accumulator) addWritten(calls []string) {
	for _, raw := range calls {
		d := readCall(raw)
		i := a.calls.write(d)
		a.emit(llm.Delta{Kind: llm.DeltaCall, Text: d.args, Call: i, Name: d.name})
	}
}

func (a *accumulator) showText(s string) {
	if s != "" {
		a.text.Add(s)
		a.emit(llm.Delta{Kind: llm.DeltaText, Text: s})
	}
}

func (a *accumulator) addReasoning(s string) {
	if s != "" {
		a.reasoning.Add(s)
		a.emit(llm.Delta{Kind: llm.DeltaReasoning, Text: s})
	}
}

// reply returns what there is. With an error the finish stays empty.
func (a *accumulator) reply(err error) (llm.Reply, error) {
	r, t := a.think.end()
	a.addReasoning(r)
	a.addText(t)
	if a.written != nil {
		text, calls := a.written.end()
		a.addWritten(calls)
		a.showText(text)
	}
	out := llm.Reply{Usage: a.usage, Model: a.model, Calls: a.calls.finished(a.finish == "length" || a.finish == "max_tokens")}
	if a.reasoning.Len() > 0 {
		out.Parts = append(out.Parts, chat.Part{Type: chat.Reasoning, Text: a.reasoning.String()})
	}
	whole := a.text.String()
	if whole != "" {
		out.Parts = append(out.Parts, chat.Part{Type: chat.Text, Text: whole})
	}
	if err != nil {
		return out, err
	}
	switch a.finish {
	case "length", "max_tokens":
		out.Finish = llm.Length
		if whole == "" && len(out.Calls) == 0 && a.reasoning.Len() > 0 {
			out.Notes = append(out.Notes, "The output limit was used up by thinking; raise it or ask for less.")
		}
	case "content_filter":
		out.Finish = llm.ContentFilter
	default:
		out.Finish = llm.Stop
		if len(out.Calls) > 0 {
			out.Finish = llm.ToolCalls
		}
	}
	if out.Finish == llm.Stop && len(out.Calls) == 0 && strings.Contains(whole, callOpen) {
		out.Notes = append(out.Notes, "The model wrote a tool call as text: the tool parser of its server seems to be off.")
	}
	return out, nil
}

// replay is what must go back with this reply: where it came from and what the
// server wants returned unchanged. It is nil when there is nothing of the kind.
func (a *accumulator) replay(host string) json.RawMessage {
	extras := false
	for _, k := range a.calls.list {
		extras = extras || len(k.extra) > 0
	}
	if len(a.details) == 0 && a.reasoning.Len() == 0 && !extras {
		return nil
	}
	raw, err := json.Marshal(replay{From: host, Details: a.details})
	if err != nil {
		return nil
	}
	return raw
}

// replay is the stored form of Reply.Replay.
type replay struct {
	From    string           `json:"from,omitempty"`
	Details []map[string]any `json:"reasoning_details,omitempty"`
}

func readUsage(raw json.RawMessage) *chat.Usage {
	o := asObject(raw)
	if o == nil {
		return nil
	}
	first := func(o object, names ...string) int {
		for _, name := range names {
			if n, ok := o.num(name); ok {
				return n
			}
		}
		return 0
	}
	u := chat.Usage{Input: first(o, "prompt_tokens", "input_tokens"), Output: first(o, "completion_tokens", "output_tokens")}
	in, out := asObject(o["prompt_tokens_details"]), asObject(o["completion_tokens_details"])
	u.Cached = max(first(in, "cached_tokens"), first(o, "prompt_cache_hit_tokens", "cached_tokens"))
	u.Reasoning = max(first(out, "reasoning_tokens"), first(o, "reasoning_tokens"))
	if u == (chat.Usage{}) {
		return nil
	}
	return &u
}
