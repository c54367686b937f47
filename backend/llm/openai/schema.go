package openai

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/shared"
)

// parameters makes an object schema with properties of what a tool gives. A
// plain one keeps only words that every server knows.
func parameters(raw json.RawMessage, plain bool) (shared.FunctionParameters, error) {
	fields := map[string]any{}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, err
		}
	}
	if plain {
		fields, _ = plainSchema(fields, definitions(fields), 0).(map[string]any)
	}
	delete(fields, "$schema")
	if fields["type"] == nil {
		fields["type"] = "object"
	}
	if fields["properties"] == nil {
		fields["properties"] = map[string]any{}
	}
	return fields, nil
}

// plainWords are what servers with a small schema know.
var plainWords = map[string]bool{
	"type": true, "description": true, "enum": true, "properties": true, "required": true, "items": true, "format": true,
	"nullable": true, "minimum": true, "maximum": true, "minItems": true, "maxItems": true, "anyOf": true, "title": true,
}

// maxDepth ends a schema that refers to itself.
const maxDepth = 12

// plainSchema leaves out unknown words, puts definitions in place of
// references, and writes const and lists of types the plain way. Names of
// properties are no words and stay.
func plainSchema(v any, defs map[string]any, depth int) any {
	o, ok := v.(map[string]any)
	if !ok || depth > maxDepth {
		return map[string]any{"type": "object"}
	}
	if ref, ok := o["$ref"].(string); ok {
		target, found := defs[ref[strings.LastIndexByte(ref, '/')+1:]]
		if !found {
			return map[string]any{"type": "object"}
		}
		return plainSchema(target, defs, depth+1)
	}
	out := map[string]any{}
	for word, value := range o {
		switch {
		case word == "const":
			out["enum"] = []any{value}
		case word == "oneOf":
			out["anyOf"] = plainList(value, defs, depth)
		case !plainWords[word]:
		case word == "anyOf":
			out[word] = plainList(value, defs, depth)
		case word == "items":
			out[word] = plainSchema(value, defs, depth+1)
		case word == "properties":
			props := map[string]any{}
			if named, ok := value.(map[string]any); ok {
				for name, child := range named {
					props[name] = plainSchema(child, defs, depth+1)
				}
			}
			out[word] = props
		case word == "type":
			out[word], out["nullable"] = plainType(value)
			if out["nullable"] == false {
				delete(out, "nullable")
			}
		default:
			out[word] = value
		}
	}
	return out
}

func plainList(v any, defs map[string]any, depth int) []any {
	list, _ := v.([]any)
	out := make([]any, len(list))
	for i, child := range list {
		out[i] = plainSchema(child, defs, depth+1)
	}
	return out
}

// plainType takes the first type that is not null.
func plainType(v any) (name any, nullable bool) {
	list, ok := v.([]any)
	if !ok {
		return v, false
	}
	for _, t := range list {
		switch {
		case t == "null":
			nullable = true
		case name == nil:
			name = t
		}
	}
	return name, nullable
}

func definitions(o map[string]any) map[string]any {
	out := map[string]any{}
	for _, word := range []string{"definitions", "$defs"} {
		if defs, ok := o[word].(map[string]any); ok {
			for name, d := range defs {
				out[name] = d
			}
		}
	}
	return out
}
