package cli

import (
	"fmt"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/event"
)

// steps prints one line for each call that has ended and, on a terminal, one
// that is rewritten for the call that goes on.
type steps struct {
	*app
	live   bool // standard error is a terminal
	colour bool
	shown  bool // the rewritten line is on the screen
	titles map[string]string
}

func newSteps(a *app) steps {
	live := a.IsTerminal(a.Stderr)
	return steps{app: a, live: live, colour: live && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb", titles: map[string]string{}}
}

// clear takes the rewritten line away.
func (s *steps) clear() {
	if s.shown {
		fmt.Fprint(s.Stderr, "\r\x1b[2K")
		s.shown = false
	}
}

func (s *steps) say(format string, args ...any) {
	s.clear()
	fmt.Fprintf(s.Stderr, format+"\n", args...)
}

// fail says why a run ended other than well.
func (s *steps) fail(format string, args ...any) {
	s.say(s.tint("31", "✗")+" "+format, args...)
}

func (s *steps) begin(d event.ToolStarted) {
	s.titles[d.Call.ID] = d.Title
	if !s.live {
		return
	}
	s.clear()
	fmt.Fprintf(s.Stderr, "… %s", s.named(d.Call.Name, d.Title, 60))
	s.shown = true
}

func (s *steps) done(r *chat.ToolResult) {
	if r == nil {
		return
	}
	s.say("%s", s.step(*r, s.titles[r.CallID]))
	delete(s.titles, r.CallID)
}

// step is the line of one call: a mark, its name and object, what came of it.
func (s *steps) step(r chat.ToolResult, title string) string {
	text := s.mark(r.State) + " " + s.named(r.Name, title, 120)
	outcome := line(r.Outcome, 80)
	if outcome == "" && r.State == chat.CallFailed {
		outcome = line(r.Text, 160)
	}
	if outcome != "" {
		text += "  " + outcome
	}
	if r.State == chat.CallUnknown {
		return text + "  outcome unknown"
	}
	return text + "  " + s.tint("2", took(r.ElapsedMS))
}

func (s *steps) named(name, title string, width int) string {
	return strings.TrimSpace(line(name, 0) + " " + line(title, width))
}

func (s *steps) mark(state chat.CallState) string {
	switch state {
	case chat.CallSucceeded:
		return s.tint("32", "✓")
	case chat.CallFailed:
		return s.tint("31", "✗")
	case chat.CallCancelled:
		return "–"
	}
	return "?"
}

func (s *steps) tint(code, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
