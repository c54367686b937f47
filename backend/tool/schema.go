package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// node is the plain subset of JSON schema that every provider accepts: no
// references, no unions, no additionalProperties.
type node struct {
	Type        string      `json:"type,omitempty"`
	Description string      `json:"description,omitempty"`
	Enum        []string    `json:"enum,omitempty"`
	Properties  *properties `json:"properties,omitempty"`
	Required    []string    `json:"required,omitempty"`
	Items       *node       `json:"items,omitempty"`
}

// properties keeps the order of the struct, so that the same tool always gives
// the same bytes and prompt caches hold.
type properties struct {
	names []string
	nodes []*node
}

// MarshalJSON writes the object in order.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range p.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(name)
		value, err := json.Marshal(p.nodes[i])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func schemaOf[A any]() json.RawMessage {
	raw, err := json.Marshal(nodeOf(reflect.TypeFor[A]()))
	if err != nil {
		panic(err) // a tool's struct is fixed at compile time
	}
	return raw
}

func nodeOf(t reflect.Type) *node {
	switch t.Kind() {
	case reflect.Pointer:
		return nodeOf(t.Elem())
	case reflect.String:
		return &node{Type: "string"}
	case reflect.Bool:
		return &node{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &node{Type: "number"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &node{Type: "integer"}
	case reflect.Slice:
		return &node{Type: "array", Items: nodeOf(t.Elem())}
	case reflect.Map:
		return &node{Type: "object"}
	case reflect.Interface:
		return &node{}
	case reflect.Struct:
		n := &node{Type: "object", Properties: &properties{}}
		for i := range t.NumField() {
			f := t.Field(i)
			name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				continue
			}
			child := nodeOf(f.Type)
			child.Description = f.Tag.Get("about")
			if enum := f.Tag.Get("enum"); enum != "" {
				child.Enum = strings.Split(enum, ",")
			}
			n.Properties.names = append(n.Properties.names, name)
			n.Properties.nodes = append(n.Properties.nodes, child)
			if !strings.Contains(rest, "omitempty") {
				n.Required = append(n.Required, name)
			}
		}
		return n
	}
	panic(fmt.Sprintf("tool: no schema for %s", t))
}

// decode reads arguments into A. Unknown names are ignored, since models add
// some; a missing required one or a wrong type is an error in the model's words.
func decode[A any](raw json.RawMessage) (A, error) {
	var a A
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var present map[string]json.RawMessage
	if err := json.Unmarshal(raw, &present); err != nil {
		return a, errors.New("the arguments are not a JSON object")
	}
	n := nodeOf(reflect.TypeFor[A]())
	for _, name := range n.Required {
		if v, ok := present[name]; !ok || string(v) == "null" {
			return a, fmt.Errorf("argument %q is missing", name)
		}
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return a, fmt.Errorf("argument %q must be %s, not %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return a, err
	}
	for i, name := range n.Properties.names {
		if enum := n.Properties.nodes[i].Enum; len(enum) > 0 {
			var value string
			if v, ok := present[name]; ok && json.Unmarshal(v, &value) == nil && !slices.Contains(enum, value) {
				return a, fmt.Errorf("argument %q is %q; it must be one of %s", name, value, strings.Join(enum, ", "))
			}
		}
	}
	return a, nil
}
