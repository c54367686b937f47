package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Check is a condition on a request: an operation on what a path finds.
//
// Paths look like messages[*].role, messages[-1], tools[0].function.name,
// messages[?role=tool].content, header:authorization. Operations are exists;
// equals (something is there and all of it equals); matches and contains (all
// strings); sequence (the list equals); sequence_match (patterns, one each).
type Check struct {
	Path  string `json:"path"`
	Op    string `json:"op"`
	Value any    `json:"value,omitempty"`
	Not   bool   `json:"not,omitempty"`
}

// Err returns why a request body with its headers does not satisfy the check.
func (c Check) Err(body []byte, header http.Header) error {
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		return err
	}
	return c.on(tree, header)
}

func (c Check) on(tree any, header http.Header) error {
	found := c.find(tree, header)
	ok, err := c.holds(found)
	if err != nil {
		return fmt.Errorf("%s %s: %w", c.Path, c.Op, err)
	}
	if ok == c.Not {
		raw, _ := encode(found)
		return fmt.Errorf("%s %s %v (not: %v) does not hold; found %.300s", c.Path, c.Op, c.Value, c.Not, raw)
	}
	return nil
}

func (c Check) find(tree any, header http.Header) []any {
	if name, ok := strings.CutPrefix(c.Path, "header:"); ok {
		var out []any
		for _, v := range header.Values(name) {
			out = append(out, v)
		}
		return out
	}
	return find([]any{tree}, c.Path)
}

func (c Check) holds(found []any) (bool, error) {
	all := func(test func(string) bool) bool {
		for _, v := range found {
			s, ok := v.(string)
			if !ok || !test(s) {
				return false
			}
		}
		return len(found) > 0
	}
	want, _ := c.Value.(string)
	switch c.Op {
	case "exists":
		return len(found) > 0, nil
	case "equals":
		for _, v := range found {
			if !same(v, c.Value) {
				return false, nil
			}
		}
		return len(found) > 0, nil
	case "contains":
		return all(func(s string) bool { return strings.Contains(s, want) }), nil
	case "matches":
		re, err := regexp.Compile(want)
		if err != nil {
			return false, err
		}
		return all(re.MatchString), nil
	case "sequence":
		return same(found, c.Value), nil
	case "sequence_match":
		patterns := list(c.Value)
		if len(patterns) != len(found) {
			return false, nil
		}
		for i, p := range patterns {
			re, err := regexp.Compile(fmt.Sprint(p))
			if err != nil {
				return false, err
			}
			if s, ok := found[i].(string); !ok || !re.MatchString(s) {
				return false, nil
			}
		}
		return true, nil
	}
	return false, fmt.Errorf("no operation %q", c.Op)
}

func same(a, b any) bool {
	x, err1 := encode(a)
	y, err2 := encode(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(canonical(string(x)), canonical(string(y)))
}

var segment = regexp.MustCompile(`^([^.\[\]]*)((?:\[[^\]]*\])*)\.?`)

// find follows a path from every value of set.
func find(set []any, path string) []any {
	for path != "" && len(set) > 0 {
		m := segment.FindStringSubmatch(path)
		if m == nil || m[0] == "" {
			return nil
		}
		path = path[len(m[0]):]
		if m[1] != "" {
			set = each(set, func(v any) []any {
				if o, ok := v.(map[string]any); ok {
					if child, ok := o[m[1]]; ok {
						return []any{child}
					}
				}
				return nil
			})
		}
		for _, sel := range strings.Split(strings.Trim(m[2], "[]"), "][") {
			if sel != "" {
				set = each(set, func(v any) []any { return choose(list(v), sel) })
			}
		}
	}
	return set
}

func each(set []any, f func(any) []any) []any {
	var out []any
	for _, v := range set {
		out = append(out, f(v)...)
	}
	return out
}

func choose(items []any, sel string) []any {
	if sel == "*" {
		return items
	}
	if cond, ok := strings.CutPrefix(sel, "?"); ok {
		key, want, _ := strings.Cut(cond, "=")
		return each(items, func(v any) []any {
			if fmt.Sprint(at(v, key)) == want {
				return []any{v}
			}
			return nil
		})
	}
	i, err := strconv.Atoi(sel)
	if err != nil {
		return nil
	}
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		return nil
	}
	return items[i : i+1]
}
