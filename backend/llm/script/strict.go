package script

import (
	"fmt"
	"slices"
	"strings"
)

// The providers whose own rules a script can hold requests to. The server then
// refuses as the provider would, in its words.
const (
	StrictDeepSeek = "deepseek" // thinking comes back with every reply that called tools
	StrictMistral  = "mistral"  // ids of nine letters or digits, no user after a tool, no unknown fields
	StrictGroq     = "groq"     // no unknown fields, neither of the request nor of a message
	StrictGemini   = "gemini"   // a signature on the first call of a reply, plain schemas
	StrictTemplate = "template" // one system message, first; user and assistant take turns
)

var strict = map[string]func(tree map[string]any) error{
	StrictDeepSeek: func(tree map[string]any) error {
		for _, m := range messages(tree) {
			if _, ok := at(m, "reasoning_content").(string); role(m) == "assistant" && len(list(at(m, "tool_calls"))) > 0 && !ok {
				return fmt.Errorf("the reasoning_content in the thinking mode must be passed back to the API")
			}
		}
		return nil
	},
	StrictMistral: func(tree map[string]any) error {
		if err := fieldsOf(tree, "model", "messages", "stream", "tools", "max_tokens", "temperature"); err != nil {
			return err
		}
		before := ""
		for _, m := range messages(tree) {
			if before == "tool" && role(m) == "user" {
				return fmt.Errorf("unexpected role 'user' after role 'tool'")
			}
			for _, c := range list(at(m, "tool_calls")) {
				if id, _ := at(c, "id").(string); len(id) != 9 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
					return fmt.Errorf("tool call id was %q but must be a-z, A-Z, 0-9, with a length of 9", id)
				}
			}
			before = role(m)
		}
		return nil
	},
	StrictGroq: func(tree map[string]any) error {
		if err := fieldsOf(tree, "model", "messages", "stream", "stream_options", "tools", "max_tokens", "max_completion_tokens", "temperature", "reasoning_effort"); err != nil {
			return err
		}
		for i, m := range messages(tree) {
			if o, _ := m.(map[string]any); o != nil {
				if err := fieldsOf(o, "role", "content", "tool_calls", "tool_call_id", "name"); err != nil {
					return fmt.Errorf("'messages.%d' : for 'role:%s' %w", i, role(m), err)
				}
			}
		}
		return nil
	},
	StrictGemini: func(tree map[string]any) error {
		for _, m := range messages(tree) {
			if calls := list(at(m, "tool_calls")); len(calls) > 0 && at(calls[0], "extra_content", "google", "thought_signature") == nil {
				return fmt.Errorf("function call is missing a thought_signature in functionCall parts")
			}
		}
		for _, t := range list(tree["tools"]) {
			if word := strangeWord(at(t, "function", "parameters")); word != "" {
				return fmt.Errorf("invalid JSON payload received. Unknown name %q at 'tools[0].function_declarations[0].parameters'", word)
			}
		}
		return nil
	},
	StrictTemplate: func(tree map[string]any) error {
		before := ""
		for i, m := range messages(tree) {
			switch r := role(m); {
			case r == "system" && i > 0:
				return fmt.Errorf("system message must be at the beginning")
			case r == "tool":
				continue
			case r == before:
				return fmt.Errorf("conversation roles must alternate user/assistant/user/assistant/")
			default:
				before = r
			}
		}
		return nil
	},
}

// fieldsOf refuses a field that is not known.
func fieldsOf(o map[string]any, known ...string) error {
	for name := range o {
		if !slices.Contains(known, name) {
			return fmt.Errorf("property '%s' is unsupported", name)
		}
	}
	return nil
}

// strangeWord finds a word of JSON schema that few servers know.
func strangeWord(schema any) string {
	o, _ := schema.(map[string]any)
	for _, word := range []string{"$schema", "$ref", "$defs", "additionalProperties", "exclusiveMinimum", "propertyNames", "const"} {
		if _, ok := o[word]; ok {
			return word
		}
	}
	if props, ok := o["properties"].(map[string]any); ok {
		for _, child := range props {
			if word := strangeWord(child); word != "" {
				return word
			}
		}
	}
	if items, ok := o["items"]; ok {
		return strangeWord(items)
	}
	return ""
}
