package openai

import (
	"encoding/json"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/id"
)

// callDelta is one piece of a call. An empty id or name is an absent one.
type callDelta struct {
	id, name, args string
	index          int
	hasIndex       bool
	extra          object
	broken         string // why a call written in the text cannot be read
}

// openCall is a call in the making.
type openCall struct {
	id, name, args string
	index          int
	hasIndex       bool
	extra          object
	broken         string
}

// calls keeps calls in order of opening. Servers leave out, repeat and mix up
// index and id, so neither alone tells which call a piece belongs to.
type calls struct {
	offered map[string]bool // names of the offered tools
	list    []*openCall
	byID    map[string]*openCall
	byIndex map[int]*openCall
}

func newCalls(offered []string) *calls {
	c := &calls{offered: map[string]bool{}, byID: map[string]*openCall{}, byIndex: map[int]*openCall{}}
	for _, name := range offered {
		c.offered[name] = true
	}
	return c
}

// add takes a piece and returns the number of its call.
func (c *calls) add(d callDelta) int {
	k := c.find(d)
	if d.hasIndex {
		c.byIndex[d.index] = k
		if !k.hasIndex {
			k.index, k.hasIndex = d.index, true
		}
	}
	if d.id != "" {
		c.byID[d.id] = k
		if k.id == "" {
			k.id = d.id
		}
	}
	c.rename(k, d.name)
	appendArgs(k, d.args)
	for name, raw := range d.extra {
		if k.extra == nil {
			k.extra = object{}
		}
		k.extra[name] = raw
	}
	for i := range c.list {
		if c.list[i] == k {
			return i
		}
	}
	return -1
}

// write takes a whole call that stood in the text and returns its number.
func (c *calls) write(d callDelta) int {
	c.list = append(c.list, &openCall{name: d.name, args: d.args, broken: d.broken})
	return len(c.list) - 1
}

func (c *calls) find(d callDelta) *openCall {
	at, last := c.byIndex[d.index], c.last()
	if !d.hasIndex {
		at = nil
	}
	if known := c.byID[d.id]; d.id != "" && known != nil {
		again := d.hasIndex && known.hasIndex && d.index != known.index && d.name != "" && complete(known.args)
		if again {
			return c.open()
		}
		return known
	}
	switch {
	case d.id != "" && d.name != "":
		if at != nil && at.id == "" && at.name == "" {
			return at
		}
		return c.open()
	case d.id != "":
		if at == nil && !d.hasIndex {
			at = last
		}
		if at != nil && !complete(at.args) {
			return at
		}
		return c.open()
	case at != nil:
		if d.name != "" && complete(d.args) && complete(at.args) && strings.TrimSpace(at.args) != "{}" {
			return c.open()
		}
		return at
	case d.name != "" || last == nil:
		return c.open()
	}
	return last
}

func (c *calls) last() *openCall {
	if len(c.list) == 0 {
		return nil
	}
	return c.list[len(c.list)-1]
}

func (c *calls) open() *openCall {
	k := &openCall{}
	c.list = append(c.list, k)
	return k
}

// rename sets the name once. A repeat is ignored; a further piece is appended
// while the name is no offered tool and no arguments came.
func (c *calls) rename(k *openCall, name string) {
	switch {
	case name == "" || name == k.name:
	case k.name == "" || strings.HasPrefix(name, k.name):
		k.name = name
	case k.args == "" && !c.offered[k.name]:
		k.name += name
	}
}

func appendArgs(k *openCall, piece string) {
	switch {
	case piece == "":
	case complete(k.args) && strings.TrimSpace(piece) == strings.TrimSpace(k.args):
	case strings.TrimSpace(k.args) == "{}" && strings.HasPrefix(strings.TrimSpace(piece), "{"):
		k.args = piece
	default:
		k.args += piece
	}
}

// finished returns the calls as the rest of the app knows them. cut says that
// the reply ended at the output limit.
func (c *calls) finished(cut bool) []chat.ToolCall {
	var out []chat.ToolCall
	for i, k := range c.list {
		call := chat.ToolCall{ID: id.New(), WireID: k.id, Name: k.name, Arguments: json.RawMessage("{}")}
		args, ok := readArgs(k.args)
		lost := cut && i == len(c.list)-1 && strings.TrimSpace(k.args) == ""
		switch {
		case k.broken != "":
			call.Invalid, call.Raw = "the call is not JSON as asked for: "+k.broken, k.args
		case k.name == "":
			call.Invalid, call.Raw = "the call names no tool", k.args
		case lost || !ok && cut:
			call.Invalid, call.Raw = "the arguments were cut off by the output limit", k.args
		case !ok:
			call.Invalid, call.Raw = "the arguments are not a JSON object", k.args
		default:
			call.Arguments = args
		}
		if len(k.extra) > 0 {
			call.Extra, _ = json.Marshal(k.extra)
		}
		out = append(out, call)
	}
	return out
}
