package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/fault"
)

const (
	repeatsToTell = 3 // the model is told
	repeatsToAsk  = 5 // the person is asked
)

// repeats counts how often the same call came back with the same result, one
// right after the other.
type repeats struct {
	last [sha256.Size]byte
	name string
	n    int
}

func (r *repeats) count(call chat.ToolCall, result string) int {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", call.Name, call.Arguments, result))
	if sum != r.last {
		r.last, r.name, r.n = sum, call.Name, 0
	}
	r.n++
	return r.n
}

// repeatNote ends a result that came back too often.
const repeatNote = "\n\n[This same call gave this same result %d times in a row. Do something else, or finish and say what stands in the way.]"

// repeatsIn counts the repeats at the end of a stored transcript, so that a run
// that goes on is watched as if it had never broken off.
func repeatsIn(messages []chat.Message) repeats {
	begin := 0
	for i, m := range messages {
		if m.Role == chat.User {
			begin = i
		}
	}
	var r repeats
	made := map[string]chat.ToolCall{}
	for _, m := range messages[begin:] {
		for _, c := range m.Calls {
			made[c.ID] = c
		}
		if m.Result == nil {
			continue
		}
		text := m.Result.Text
		if at := strings.LastIndex(text, repeatNote[:strings.IndexByte(repeatNote, '%')]); at >= 0 {
			text = text[:at]
		}
		r.count(made[m.Result.CallID], text)
	}
	return r
}

// askAboutRepeats stops a run that goes round in circles and asks whether it
// should go on.
func (a *run) askAboutRepeats(ctx context.Context) (reason string, err error) {
	if a.repeats.n < repeatsToAsk {
		return "", nil
	}
	answer, by, err := a.Asker.Ask(ctx, event.Question{
		Kind:    "confirm",
		Title:   fmt.Sprintf("The agent has made the same call %d times with the same result. Go on?", a.repeats.n),
		Why:     fmt.Sprintf("The call is %s.", a.repeats.name),
		Options: []event.Option{{Label: "Go on", Value: "yes"}, {Label: "Stop here", Value: "no"}},
	})
	if err != nil {
		return "", err
	}
	if by == "person" && answer == "yes" {
		a.repeats = repeats{}
		return "", nil
	}
	return "repeated", fault.New(fault.Invalid, fmt.Sprintf("Stopped: %s gave the same result %d times in a row.", a.repeats.name, a.repeats.n), "Say what to do differently, or try another model.")
}
