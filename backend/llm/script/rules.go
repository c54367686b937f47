package script

import (
	"encoding/json"
	"fmt"
)

// rule is a named condition every provider sets on a request.
type rule struct {
	name string
	err  func(tree map[string]any) error
}

// rules are always on unless a script allows what they forbid.
var rules = []rule{
	{"tool_calls_answered", callsAnswered},
	{"tool_ids_consistent", idsConsistent},
	{"tool_content_is_string", toolContentIsString},
	{"no_image_in_tool", noImageInTool},
	{"tool_args_valid_json", argsValid},
	{"images_after_all_tool_results", imagesPlaced},
	{"schema_has_properties", schemaHasProperties},
	{"no_empty_assistant", noEmptyAssistant},
	{"image_is_data_uri", imageIsDataURI},
}

// Rule returns why a request body breaks the named rule. An unknown name is an error.
func Rule(name string, body []byte) error {
	var tree map[string]any
	if err := json.Unmarshal(body, &tree); err != nil {
		return err
	}
	for _, r := range rules {
		if r.name == name {
			return r.err(tree)
		}
	}
	return fmt.Errorf("no rule %q", name)
}

func messages(tree map[string]any) []any { return list(tree["messages"]) }

func role(m any) string { s, _ := at(m, "role").(string); return s }

// callsAnswered: each call is answered by exactly one tool message, directly
// after the assistant message, before anything else.
func callsAnswered(tree map[string]any) error {
	all := messages(tree)
	for i := 0; i < len(all); i++ {
		calls := list(at(all[i], "tool_calls"))
		if role(all[i]) == "tool" {
			return fmt.Errorf("messages[%d] is a tool message without a call before it", i)
		}
		if role(all[i]) != "assistant" || len(calls) == 0 {
			continue
		}
		open := map[any]bool{}
		for _, c := range calls {
			open[at(c, "id")] = true
		}
		for i+1 < len(all) && role(all[i+1]) == "tool" {
			i++
			id := at(all[i], "tool_call_id")
			if !open[id] {
				return fmt.Errorf("messages[%d] answers %v, which is not open", i, id)
			}
			delete(open, id)
		}
		for id := range open {
			return fmt.Errorf("call %v has no answer directly after it", id)
		}
	}
	return nil
}

func idsConsistent(tree map[string]any) error {
	seen := map[string]bool{}
	for i, m := range messages(tree) {
		for _, c := range list(at(m, "tool_calls")) {
			id, _ := at(c, "id").(string)
			switch {
			case id == "":
				return fmt.Errorf("messages[%d] has a call without an id", i)
			case len(id) > 40:
				return fmt.Errorf("call id %q is longer than 40 characters", id)
			case seen[id]:
				return fmt.Errorf("call id %q is used twice", id)
			}
			seen[id] = true
		}
	}
	return nil
}

func toolContentIsString(tree map[string]any) error {
	for i, m := range messages(tree) {
		if _, ok := at(m, "content").(string); role(m) == "tool" && !ok {
			return fmt.Errorf("messages[%d]: the content of a tool message is not a string", i)
		}
	}
	return nil
}

func noImageInTool(tree map[string]any) error {
	for i, m := range messages(tree) {
		if role(m) == "tool" && hasImage(m) {
			return fmt.Errorf("messages[%d]: a tool message holds an image", i)
		}
	}
	return nil
}

func hasImage(m any) bool {
	for _, p := range list(at(m, "content")) {
		if at(p, "type") == "image_url" {
			return true
		}
	}
	return false
}

func argsValid(tree map[string]any) error {
	for i, m := range messages(tree) {
		for _, c := range list(at(m, "tool_calls")) {
			args, ok := at(c, "function", "arguments").(string)
			var object map[string]any
			if !ok || json.Unmarshal([]byte(args), &object) != nil || object == nil {
				return fmt.Errorf("messages[%d]: arguments of %v are not a string holding a JSON object: %.100v", i, at(c, "id"), at(c, "function", "arguments"))
			}
		}
	}
	return nil
}

func imagesPlaced(tree map[string]any) error {
	image := false
	for i, m := range messages(tree) {
		switch role(m) {
		case "assistant":
			image = false
		case "user":
			image = image || hasImage(m)
		case "tool":
			if image {
				return fmt.Errorf("messages[%d]: a tool message follows the images of its block", i)
			}
		}
	}
	return nil
}

func schemaHasProperties(tree map[string]any) error {
	for i, t := range list(tree["tools"]) {
		p, _ := at(t, "function", "parameters").(map[string]any)
		if _, ok := p["properties"].(map[string]any); p["type"] != "object" || !ok {
			return fmt.Errorf("tools[%d]: the schema is not an object with properties", i)
		}
	}
	return nil
}

func noEmptyAssistant(tree map[string]any) error {
	for i, m := range messages(tree) {
		if role(m) == "assistant" && len(list(at(m, "tool_calls"))) == 0 && contentText(at(m, "content")) == "" {
			return fmt.Errorf("messages[%d]: an assistant message says nothing", i)
		}
	}
	return nil
}

func imageIsDataURI(tree map[string]any) error {
	for i, m := range messages(tree) {
		for _, p := range list(at(m, "content")) {
			url, _ := at(p, "image_url", "url").(string)
			if at(p, "type") == "image_url" && (len(url) < 11 || url[:11] != "data:image/") {
				return fmt.Errorf("messages[%d]: an image is not a data URI", i)
			}
		}
	}
	return nil
}
