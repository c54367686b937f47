// Package agent is the run loop: think, act, think again, finish.
//
// One goroutine owns a run. What it says through the Journal is stored before
// it goes on, so a run can be picked up after any line: a reply is stored
// whole before one of its calls runs, a call is stored as started before it
// runs and as ended after. Every call gets exactly one answer.
package agent

import (
	"context"
	"errors"
	"time"

	"gofer/backend/agent/prompt"
	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/llm"
	"gofer/backend/tool"
)

// Journal keeps what happens in a run. Its methods are called from the run's
// goroutine, Delta and Progress from others too.
type Journal interface {
	// Iteration says that model call n begins, unless Finished has said so.
	Iteration(ctx context.Context, n int) error
	// Delta passes on a piece of the streaming reply.
	Delta(d llm.Delta)
	// Reply stores the finished reply.
	Reply(ctx context.Context, r llm.Reply) (chat.Message, error)
	// Started stores that calls of the reply begin.
	Started(ctx context.Context, replyID string, calls []Call) error
	// Progress passes on live output of a call.
	Progress(callID, text string)
	// Finished stores the answer of a call and keeps its files. When next is not
	// 0, it says in the same breath that model call next begins: after the last
	// answer to a reply nothing else comes between.
	Finished(ctx context.Context, call chat.ToolCall, state chat.CallState, r tool.Result, elapsed time.Duration, next int) (chat.Message, error)
	// Notice tells the person a plain sentence.
	Notice(ctx context.Context, text string) error
}

// Call is a call on its way, with what lists show of it.
type Call struct {
	chat.ToolCall
	Title  string
	Effect tool.Effect
}

// Guard decides about a call before it runs, asking the person if need be.
// A refusal is a sentence for the model; an error ends the run.
type Guard interface {
	Check(ctx context.Context, call chat.ToolCall, t tool.Tool) (refusal string, err error)
}

// Asker asks the person a question.
type Asker interface {
	Ask(ctx context.Context, q event.Question) (answer, by string, err error)
}

// Runner plays one run.
type Runner struct {
	RunID         string // named to the tools, for what they keep of a call
	Model         llm.Model
	Tools         *tool.Box
	Guard         Guard
	Asker         Asker
	Journal       Journal
	System        string
	MaxIterations int
	Parallel      int // calls that read side by side; 0 takes 3
	// Afford is asked before each model call. A reason ends the run; nil lets
	// all be spent.
	Afford func(ctx context.Context) (reason string, err error)
	Now    func() time.Time
}

// Start is where a run begins or goes on.
type Start struct {
	Messages  []chat.Message // the session's transcript, oldest first
	Iteration int            // model calls already made
}

// Outcome is how a run ended. A nil Err with a cancelled context still counts
// as cancelled: the caller knows who asked.
type Outcome struct {
	State  event.RunState // completed, failed or cancelled
	Reason string         // limit, repeated, or the kind of a model error
	Err    error          // why it failed
}

// run is the state of one run; its goroutine owns it.
type run struct {
	*Runner
	messages  []chat.Message
	iteration int
	specs     []llm.ToolSpec
	open      int // calls of the last reply without an answer
	repeats   repeats
	garbled   garbled
	told      map[string]bool // notices given
}

// Run plays the run to its end.
func (r *Runner) Run(ctx context.Context, start Start) Outcome {
	a := &run{Runner: r, messages: start.Messages, iteration: start.Iteration, specs: specs(r.Tools), told: map[string]bool{}}
	a.repeats = repeatsIn(start.Messages)
	reason, err := a.loop(ctx)
	switch {
	case ctx.Err() != nil:
		return Outcome{State: event.RunIsCancelled, Reason: "stopped"}
	case err != nil:
		var failed *llm.Error
		if errors.As(err, &failed) {
			reason = string(failed.Kind)
		}
		return Outcome{State: event.RunIsFailed, Reason: reason, Err: err}
	}
	return Outcome{State: event.RunIsCompleted, Reason: reason}
}

func (a *run) loop(ctx context.Context) (reason string, err error) {
	if reply, open := openCalls(a.messages); len(open) > 0 {
		if reason, err := a.act(ctx, reply, open); err != nil {
			return reason, err
		}
	} else if reason, err := a.askAboutRepeats(ctx); err != nil { // it broke off while this was asked
		return reason, err
	}
	for {
		if a.Afford != nil {
			if reason, err := a.Afford(ctx); reason != "" || err != nil {
				return reason, err
			}
		}
		a.iteration++
		last := a.iteration >= a.MaxIterations
		reply, err := a.think(ctx, last)
		if err != nil {
			return "", err
		}
		if last {
			return "limit", nil
		}
		if len(reply.Calls) == 0 {
			return reasonOf(reply), nil
		}
		if reason, err := a.act(ctx, reply, reply.Calls); err != nil {
			return reason, err
		}
	}
}

// think asks the model for one reply and stores it.
func (a *run) think(ctx context.Context, last bool) (chat.Message, error) {
	if err := a.Journal.Iteration(ctx, a.iteration); err != nil {
		return chat.Message{}, err
	}
	req := llm.Request{System: a.System, Messages: fit(a.messages)}
	if last {
		req.Tail = prompt.LastTurn
	} else {
		req.Tools = a.specs // the same list each time, so that a client can keep what it made of it
	}
	reply, err := a.Model.Stream(ctx, req, a.Journal.Delta)
	if err != nil {
		if ctx.Err() == nil {
			err = errors.Join(err, a.keepPartial(ctx, reply))
		}
		return chat.Message{}, err
	}
	for _, note := range reply.Notes {
		if a.told[note] {
			continue
		}
		a.told[note] = true
		if err := a.Journal.Notice(ctx, note); err != nil {
			return chat.Message{}, err
		}
	}
	m, err := a.Journal.Reply(ctx, reply)
	if err != nil {
		return chat.Message{}, err
	}
	a.messages = append(a.messages, m)
	return m, nil
}

// keepPartial stores what had arrived of a reply that failed: what a person has
// read stays. Its calls do not, since none was made.
func (a *run) keepPartial(ctx context.Context, reply llm.Reply) error {
	if partial := (chat.Message{Parts: reply.Parts}); partial.Text() == "" {
		return nil
	}
	reply.Calls, reply.Finish, reply.Replay = nil, llm.Broken, nil
	_, err := a.Journal.Reply(ctx, reply)
	return err
}

// reasonOf names an end that is worth telling.
func reasonOf(m chat.Message) string {
	switch llm.Finish(m.Finish) {
	case llm.Length:
		return "output_limit"
	case llm.ContentFilter:
		return "content_filter"
	}
	return ""
}

// openCalls returns the last reply of a transcript and those of its calls that
// have no answer yet: a run that broke off goes on with them.
func openCalls(messages []chat.Message) (chat.Message, []chat.ToolCall) {
	answered := map[string]bool{}
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := messages[i]; m.Role {
		case chat.ToolRole:
			answered[m.Result.CallID] = true
		case chat.Assistant:
			var open []chat.ToolCall
			for _, c := range m.Calls {
				if !answered[c.ID] {
					open = append(open, c)
				}
			}
			return m, open
		case chat.User:
			return chat.Message{}, nil
		}
	}
	return chat.Message{}, nil
}

func specs(box *tool.Box) []llm.ToolSpec {
	out := make([]llm.ToolSpec, 0, len(box.All()))
	for _, t := range box.All() {
		out = append(out, llm.ToolSpec{Name: t.Name, Description: t.About, Parameters: t.Schema})
	}
	return out
}
