package cli

import (
	"bytes"
	"fmt"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/engine"
)

// transcript prints a session as a person reads it.
func (a *app) transcript(s engine.Snapshot) error {
	var out bytes.Buffer
	st := newSteps(a)
	st.colour = a.IsTerminal(a.Stdout) && st.colour
	fmt.Fprintf(&out, "%s\n%s · %s\n", st.tint("1", line(s.Session.Title, 0)), at(s.Session.CreatedAt), state(s.Session))
	titles := map[string]string{}
	for _, m := range s.Messages {
		switch m.Role {
		case chat.User:
			fmt.Fprintf(&out, "\n%s  %s\n%s\n", st.tint("1", "You"), at(m.CreatedAt), indent(said(m)))
		case chat.Assistant:
			if text := said(m); text != "" {
				fmt.Fprintf(&out, "\n%s  %s\n%s\n", st.tint("1", "Agent"), line(m.Model, 60), indent(text))
			}
			for _, c := range m.Calls {
				titles[c.ID] = object(c)
			}
		case chat.ToolRole:
			if m.Result != nil {
				title := m.Result.Title
				if title == "" { // a call that was never made has none
					title = titles[m.Result.CallID]
				}
				fmt.Fprintln(&out, "  "+st.step(*m.Result, title))
			}
		}
	}
	for _, w := range s.Waits {
		switch {
		case w.Question != nil:
			fmt.Fprintf(&out, "\nWaits for your answer: %s\n", line(w.Question.Question.Title, 0))
		case w.Approval != nil:
			fmt.Fprintf(&out, "\nWaits for your leave: %s\n", strings.Join(grants(*w.Approval), "; "))
		}
	}
	_, err := a.Stdout.Write(out.Bytes())
	return err
}

// said is the text of a message with its pictures and files named.
func said(m chat.Message) string {
	parts := []string{}
	if text := strings.TrimSpace(m.Text()); text != "" {
		parts = append(parts, clean(text))
	}
	for _, p := range m.Parts {
		if p.Type == chat.Image || p.Type == chat.File {
			parts = append(parts, "["+line(p.Name+" "+p.Media, 0)+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// object is what a call was about, from its arguments.
func object(c chat.ToolCall) string {
	text := string(c.Arguments)
	if text == "{}" {
		return ""
	}
	return line(text, 100)
}
