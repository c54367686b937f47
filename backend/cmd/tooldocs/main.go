// Tooldocs writes the tool reference from the tools themselves.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"gofer/backend/engine"
	"gofer/backend/tool"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tooldocs FILE")
		os.Exit(2)
	}
	text, err := Reference(engine.Catalogue())
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644) //nolint:gosec // a document for everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tooldocs:", err)
		os.Exit(1)
	}
}

// schema is what the reference shows of a tool's arguments.
type schema struct {
	Properties json.RawMessage `json:"properties"`
	Required   []string        `json:"required"`
}

type property struct {
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

// Reference is the page of all tools, in the order in which models see them.
func Reference(tools []tool.Tool) (string, error) {
	var b strings.Builder
	b.WriteString("# Tools\n\nWhat the agent, and any MCP client, can call. This page is made from the tools themselves by `make gen`.\n")
	for _, t := range tools {
		effect := "looks"
		if t.Effect == tool.Acts {
			effect = "acts"
		}
		if t.RunOnly {
			effect += ", within a run only"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s (%s)\n", t.Name, strings.TrimSpace(t.About), effect)
		rows, err := rowsOf(t.Schema)
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.Name, err)
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n| Argument | Type | Meaning |\n| --- | --- | --- |\n%s", strings.Join(rows, ""))
		}
	}
	return b.String(), nil
}

func rowsOf(raw json.RawMessage) ([]string, error) {
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	names, err := keys(s.Properties)
	if err != nil {
		return nil, err
	}
	var byName map[string]property
	if err := json.Unmarshal(s.Properties, &byName); err != nil {
		return nil, err
	}
	var rows []string
	for _, name := range names {
		p := byName[name]
		kind := p.Type
		if !slices.Contains(s.Required, name) {
			kind += ", optional"
		}
		meaning := p.Description
		if len(p.Enum) > 0 {
			meaning = strings.TrimSpace(meaning + " One of: " + strings.Join(p.Enum, ", ") + ".")
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", name, kind, strings.ReplaceAll(meaning, "|", "\\|")))
	}
	return rows, nil
}

// keys returns the names of a JSON object in order.
func keys(raw json.RawMessage) ([]string, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		names = append(names, fmt.Sprint(name))
	}
	return names, nil
}
