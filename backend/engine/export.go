package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/fault"
)

// ExportSession writes a whole session out: markdown to read, json to keep.
func (e *Engine) ExportSession(ctx context.Context, sessionID, format string) (Bytes, error) {
	s, err := e.Snapshot(ctx, sessionID, SnapshotQuery{Limit: -1})
	if err != nil {
		return Bytes{}, err
	}
	// A transcript may be older than the first time its key was seen.
	e.allKeys()
	s = e.redact.Value(s).(Snapshot)
	name := fileName(s.Session.Title)
	switch format {
	case "json":
		raw, err := json.MarshalIndent(map[string]any{"session": s.Session, "runs": s.Runs, "messages": s.Messages}, "", "  ")
		return Bytes{Name: name + ".json", Media: "application/json", Data: append(raw, '\n')}, err
	case "markdown":
		return Bytes{Name: name + ".md", Media: "text/markdown", Data: []byte(markdown(s))}, nil
	}
	return Bytes{}, fault.New(fault.Invalid, fmt.Sprintf("There is no export format %q.", format), "Use markdown or json.")
}

func markdown(s Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", s.Session.Title)
	for _, m := range s.Messages {
		switch m.Role {
		case chat.User:
			fmt.Fprintf(&b, "\n## You\n\n%s\n", m.Text())
		case chat.Assistant:
			if text := strings.TrimSpace(m.Text()); text != "" {
				fmt.Fprintf(&b, "\n## Agent\n\n%s\n", text)
			}
			for _, c := range m.Calls {
				fmt.Fprintf(&b, "\n- `%s` %s\n", c.Name, c.Arguments)
			}
		case chat.ToolRole:
			fmt.Fprintf(&b, "\n<details><summary>%s: %s</summary>\n\n~~~~\n%s\n~~~~\n\n</details>\n", m.Result.Name, m.Result.State, strings.ReplaceAll(m.Result.Text, "~~~~", "~~~"))
		}
	}
	return b.String()
}

// fileName makes a title usable as a file name on every system.
func fileName(title string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, strings.TrimSpace(title))
	if name = strings.Trim(firstRunes(name, 60), ". "); name == "" {
		return "session"
	}
	return name
}
