package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"gofer/backend/agent"
	"gofer/backend/chat"
	"gofer/backend/clarify"
	"gofer/backend/event"
	"gofer/backend/store"
	"gofer/backend/tools/ask"
)

// waitAgain lets a run that waited for its person when its process ended wait
// for the same answer again. It goes on to its card and no further: what is
// asked about is the stored call, and no model is asked first. A run stays
// interrupted, to be continued by hand, when it did not wait, when a stop was
// asked for, when something of it had started, or when its model is gone.
func (e *Engine) waitAgain(ctx context.Context, run store.Run) error {
	if run.State != event.RunIsAwaiting || run.CancelAt != 0 {
		return nil
	}
	if _, err := e.store.Session(ctx, run.SessionID); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	started, err := e.store.OpenSteps(ctx, run.SessionID)
	if err != nil {
		return err
	}
	for _, step := range started {
		if step.RunID == run.ID && !slices.Contains(ask.Names(), step.Name) {
			return nil
		}
	}
	if _, err := e.store.Resume(ctx, run.ID, ask.Names()...); err != nil {
		return err
	}
	e.mu.Lock()
	e.again[run.ID] = true
	e.mu.Unlock()
	e.kick(run.SessionID)
	return nil
}

// goesOn notes that a run was answered, or need not wait any more.
func (e *Engine) goesOn(runID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.again, runID)
}

// waitsAgain reports whether a run was set going at the start to wait again,
// and has not been answered since.
func (e *Engine) waitsAgain(run store.Run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.again[run.ID] && !run.State.Final()
}

// shelve puts a run back among the interrupted ones that was to wait again and
// could not so much as begin, since its model is gone. The person loses nothing
// by a start: Continue says what is missing.
func (e *Engine) shelve(run store.Run, out agent.Outcome) bool {
	if out.State != event.RunIsFailed || !e.waitsAgain(run) {
		return false
	}
	e.goesOn(run.ID)
	return e.store.Shelve(context.Background(), run.ID) == nil // it refuses a run that had begun
}

// showAgain shows the card of a call once more that the person had before their
// eyes when the process ended, word for word. It returns what they agreed to, or
// why the call is not made; all are empty for every other call.
func (g *gate) showAgain(ctx context.Context, call chat.ToolCall) (given *event.ApprovalAsked, answer clarify.Answer, refusal string, err error) {
	asked, ok := g.card.(event.ApprovalAsked)
	if !ok || asked.CallID != call.ID {
		return nil, answer, "", nil
	}
	g.card = nil
	answer, err = g.wait(ctx, clarify.Pending{SessionID: g.session.ID, RunID: g.journal.run.ID, Approval: &asked})
	if err == nil && !answer.Allow {
		refusal = refusedByPerson(answer, asked.Missing)
	}
	return &asked, answer, refusal, err
}

// sameDeed reports whether leave for one card is leave for the other: the call
// does the same things, and what it would open for the session is the same.
func sameDeed(a, b event.ApprovalAsked) bool {
	of := func(c event.ApprovalAsked) []byte {
		raw, err := json.Marshal([]any{c.CallID, c.Tool, c.Args, c.Deeds, c.Session, c.Missing})
		if err != nil {
			return nil
		}
		return raw
	}
	x, y := of(a), of(b)
	return x != nil && bytes.Equal(x, y)
}
