package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gofer/backend/event"
)

// reply answers every question the same way and remembers the last one.
type reply struct {
	answer, by string
	err        error
	asked      event.Question
	outcome    Outcome
	proposed   Proposal
}

func (r *reply) Propose(_ context.Context, p Proposal) (Outcome, error) {
	r.proposed = p
	return r.outcome, r.err
}

func (r *reply) Ask(_ context.Context, q event.Question) (string, string, error) {
	r.asked = q
	return r.answer, r.by, r.err
}

func TestAnAnswerTellsTheModelToActOnIt(t *testing.T) {
	for _, c := range []struct{ answer, by, want string }{
		{"b", "person", Answered + "b (Blue)"},
		{"something else", "person", Answered + "something else"},
		{"", "agent", Answered + "the person leaves it to you"},
		{"", "skip", Answered + "the person skipped it"},
		{"r", "default", Answered + "nobody answered in time, so the default holds: r (Red)"},
		{"", "default", "Nobody answered in time. Decide yourself"},
		{"", "nobody", "Nobody is there to answer. Decide yourself"},
	} {
		r := &reply{answer: c.answer, by: c.by}
		got, err := All(r)[0].Run(context.Background(), json.RawMessage(
			`{"title":"Which colour?","options":[{"label":"Red","value":"r"},{"label":"Blue","value":"b"}]}`))
		if err != nil || got.Failed || !strings.HasPrefix(got.Text, c.want) {
			t.Errorf("by %s: got %q, %v; want %q", c.by, got.Text, err, c.want)
		}
		if r.asked.Kind != "choice" || len(r.asked.Options) != 2 {
			t.Errorf("asked %+v", r.asked)
		}
	}
}

func TestQuestionsAreMadeWholeOrRefused(t *testing.T) {
	r := &reply{by: "person"}
	ask := All(r)[0]
	for args, want := range map[string]string{
		`{"title":" "}`:                 "title is empty",
		`{"title":"x","kind":"choice"}`: "2 to 12 options",
		`{"title":"x","wait_ms":5}`:     "needs a default",
		`{"title":"x","kind":"choice","options":[{"label":""},{"label":"b"}]}`: "neither label nor value",
	} {
		got, err := ask.Run(context.Background(), json.RawMessage(args))
		if err != nil || !got.Failed || !strings.Contains(got.Text, want) {
			t.Errorf("%s: got %q, %v", args, got.Text, err)
		}
	}
	if _, err := ask.Run(context.Background(), json.RawMessage(`{"title":"Go on?"}`)); err != nil {
		t.Fatal(err)
	}
	if r.asked.Kind != "confirm" || r.asked.Options[0].Value != "yes" {
		t.Errorf("asked %+v", r.asked)
	}
	if ask.Deadline(nil) != 0 || !ask.RunOnly {
		t.Error("it has a deadline or is offered without a run")
	}
}

func TestAStoppedQuestionEndsTheCall(t *testing.T) {
	r := &reply{err: context.Canceled}
	if _, err := All(r)[0].Run(context.Background(), json.RawMessage(`{"title":"Go on?"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
