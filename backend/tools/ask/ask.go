// Package ask holds the tools by which a run turns to the person.
package ask

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"gofer/backend/event"
	"gofer/backend/tool"
)

//go:embed clarification.md
var clarificationAbout string

// Asker puts a question to the person and waits for the answer. By says who
// answered: person, default, nobody, agent (let the agent decide) or skip.
type Asker interface {
	Ask(ctx context.Context, q event.Question) (answer, by string, err error)
}

// Answered begins the result that carries an answer, so that the model goes on
// with it instead of asking again.
const Answered = "The question is answered. Act on it now, without asking again: "

type option struct {
	Label string `json:"label" about:"What the person reads"`
	Value string `json:"value,omitempty" about:"What comes back; default the label"`
}

type askArgs struct {
	Kind    string   `json:"kind,omitempty" enum:"confirm,choice,input" about:"confirm (yes or no, default), choice (one of options) or input (free text)"`
	Title   string   `json:"title" about:"The question, one sentence"`
	Why     string   `json:"why,omitempty" about:"Why the answer is needed, one sentence"`
	Options []option `json:"options,omitempty" about:"For choice: 2 to 12 of them"`
	Default string   `json:"default,omitempty" about:"Value taken when nobody answers within wait_ms"`
	WaitMS  int64    `json:"wait_ms,omitempty" about:"How long to wait before default is taken; leave out to wait as long as needed"`
}

// The names of the tools that ask.
const (
	clarification = "ask_clarification"
	agreement     = "propose_agreement"
)

// Names are those of all tools that ask. A call of one does nothing before the
// person has answered, so it may be made again after a restart.
func Names() []string { return []string{clarification, agreement} }

// All returns the tools that ask.
func All(person Person) []tool.Tool {
	return []tool.Tool{Clarification(person), Agreement(person)}
}

// Clarification asks the person one question and waits, without a deadline.
func Clarification(asker Asker) tool.Tool {
	return tool.New(clarification, clarificationAbout, tool.Acts, func(ctx context.Context, a askArgs) (tool.Result, error) {
		q, err := a.question()
		if err != nil {
			return tool.Failed("The question cannot be asked: %v.", err), nil
		}
		answer, by, err := asker.Ask(ctx, q)
		if err != nil {
			return tool.Result{}, fmt.Errorf("ask the person: %w", err)
		}
		return said(q, answer, by), nil
	},
		tool.Titled(func(a askArgs) string { return a.Title }),
		tool.Within(0), tool.ForRuns())
}

func (a askArgs) question() (event.Question, error) {
	q := event.Question{Kind: a.Kind, Title: strings.TrimSpace(a.Title), Why: strings.TrimSpace(a.Why), Default: a.Default, WaitMS: a.WaitMS}
	if q.Title == "" {
		return q, errors.New("title is empty; put the question there")
	}
	for _, o := range a.Options {
		o.Label = strings.TrimSpace(o.Label)
		if o.Value == "" {
			o.Value = o.Label
		}
		if o.Label == "" {
			o.Label = o.Value
		}
		if o.Label == "" {
			return q, errors.New("an option has neither label nor value")
		}
		q.Options = append(q.Options, event.Option{Label: o.Label, Value: o.Value})
	}
	switch {
	case q.Kind == "" && len(q.Options) > 0:
		q.Kind = "choice"
	case q.Kind == "":
		q.Kind = "confirm"
	}
	switch {
	case q.Kind == "confirm" && len(q.Options) == 0:
		q.Options = []event.Option{{Label: "Yes", Value: "yes"}, {Label: "No", Value: "no"}}
	case q.Kind == "choice" && (len(q.Options) < 2 || len(q.Options) > 12):
		return q, errors.New("a choice needs 2 to 12 options")
	case q.Kind == "input":
		q.Options = nil
	}
	if q.WaitMS < 0 {
		q.WaitMS = 0
	}
	if q.WaitMS > 0 && q.Default == "" {
		return q, errors.New("wait_ms needs a default to take when nobody answers")
	}
	return q, nil
}

// said turns an answer into what the model reads.
func said(q event.Question, answer, by string) tool.Result {
	label := answer
	for _, o := range q.Options {
		if o.Value == answer && o.Label != answer {
			label = fmt.Sprintf("%s (%s)", answer, o.Label)
		}
	}
	var r tool.Result
	switch by {
	case "nobody":
		r = tool.Text("Nobody is there to answer. Decide yourself by what you know and go on, or finish and say what is missing. Do not ask again.")
		r.Outcome = "nobody there"
	case "agent":
		r = tool.Text("%sthe person leaves it to you. Decide yourself and say what you chose.", Answered)
		r.Outcome = "left to the agent"
	case "skip":
		r = tool.Text("%sthe person skipped it. Go on without this answer.", Answered)
		r.Outcome = "skipped"
	case "default":
		if q.Default == "" && answer == "" {
			r = tool.Text("Nobody answered in time. Decide yourself by what you know and go on, or finish and say what is missing. Do not ask again.")
			r.Outcome = "no answer in time"
			break
		}
		r = tool.Text("%snobody answered in time, so the default holds: %s", Answered, label)
		r.Outcome = "default: " + answer
	default:
		r = tool.Text("%s%s", Answered, label)
		r.Outcome = answer
	}
	return r
}
