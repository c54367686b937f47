package openai

import (
	"maps"
	"slices"

	"gofer/backend/llm"
)

// extras are the fields of a request beyond those every server knows: what the
// person has set and what the profile adds, without what the server refuses.
func extras(p llm.Profile, s llm.Sampling) map[string]any {
	out := maps.Clone(p.Body)
	if out == nil {
		out = map[string]any{}
	}
	if s.Temperature != nil {
		out["temperature"] = *s.Temperature
	}
	if s.Thinking != "" {
		field, value := thinkingField(p.Thinking, s.Thinking)
		out[field] = value
	}
	for _, name := range p.Leave {
		delete(out, name)
	}
	return out
}

// thinkingField says how much a model shall think, in the words of its server.
func thinkingField(field, level string) (string, any) {
	off := level == "off"
	effort := level
	if level == "on" {
		effort = "medium"
	}
	switch field {
	case llm.ThinkingObject:
		if off {
			return field, map[string]any{"type": "disabled"}
		}
		return field, map[string]any{"type": "enabled"}
	case llm.ThinkingSwitch:
		return field, !off
	case llm.ThinkingNested:
		if off {
			return field, map[string]any{"enabled": false}
		}
		return field, map[string]any{"effort": effort}
	}
	if off {
		effort = "none"
	}
	return llm.ThinkingEffort, effort
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
