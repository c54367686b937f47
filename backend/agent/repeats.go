package agent

import (
	"context"
	"crypto/sha256"
	"fmt"

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
