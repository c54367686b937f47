package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"gofer/backend/chat"
	"gofer/backend/tool"
)

const (
	defaultParallel = 3
	// grace is how long a call may take to notice that it was stopped or that
	// its time is up; control returns after it whatever the call does.
	grace = 700 * time.Millisecond
	// textLimit is the most a result may put into the context, in bytes.
	textLimit = 64 << 10
)

// job is an allowed call with its tool.
type job struct {
	Call
	tool tool.Tool
}

// done is the end of a job.
type done struct {
	job     job
	result  tool.Result
	state   chat.CallState
	elapsed time.Duration
	err     error // ends the run
}

// act makes the calls of a reply: those that read run side by side, those that
// act run alone, in order. Each is answered once.
func (a *run) act(ctx context.Context, reply chat.Message, calls []chat.ToolCall) (reason string, err error) {
	a.open = len(calls)
	var batch []job
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		jobs := batch
		batch = nil
		return a.make(ctx, reply.ID, jobs)
	}
	for _, call := range calls {
		t, refusal := a.find(call)
		outcome := "not possible"
		if refusal == "" && t.Effect != tool.Reads {
			if err := flush(); err != nil {
				return "", err
			}
		}
		if refusal == "" {
			if refusal, err = a.Guard.Check(ctx, call, t); err != nil {
				return "", err
			}
			outcome = "not allowed"
		}
		if refusal != "" {
			result := tool.Failed("%s", refusal)
			result.Outcome = outcome
			if err := a.answer(ctx, done{job: job{Call: Call{ToolCall: call}}, result: result, state: chat.CallFailed}); err != nil {
				return "", err
			}
			continue
		}
		batch = append(batch, job{Call{call, t.Title(call.Arguments), t.Effect}, t})
		if t.Effect != tool.Reads {
			if err := flush(); err != nil {
				return "", err
			}
		}
	}
	if err := flush(); err != nil {
		return "", err
	}
	if err := a.garbled.count(calls); err != nil {
		return "", err
	}
	return a.askAboutRepeats(ctx)
}

// find returns the tool of a call, or why it cannot be made.
func (a *run) find(call chat.ToolCall) (tool.Tool, string) {
	t, ok := a.Tools.Get(call.Name)
	switch {
	case call.Invalid != "" && (!ok || call.Name == ""):
		return t, fmt.Sprintf("No tool was called: %s. Send the call again, written as asked for.", call.Invalid)
	case !ok:
		names := make([]string, 0, len(a.Tools.All()))
		for _, t := range a.Tools.All() {
			names = append(names, t.Name)
		}
		return t, fmt.Sprintf("There is no tool %q. There are: %s.", call.Name, strings.Join(names, ", "))
	case call.Invalid != "":
		return t, fmt.Sprintf("%s was not called: its arguments were not a readable JSON object (%s). Send the call again with valid JSON.", call.Name, call.Invalid)
	}
	return t, ""
}

// make stores that the jobs begin, runs them side by side and answers each as
// it ends.
func (a *run) make(ctx context.Context, replyID string, jobs []job) error {
	calls := make([]Call, len(jobs))
	for i, j := range jobs {
		calls[i] = j.Call
	}
	if err := a.Journal.Started(ctx, replyID, calls); err != nil {
		return err
	}
	parallel := a.Parallel
	if parallel <= 0 {
		parallel = defaultParallel
	}
	slots, ends := make(chan struct{}, parallel), make(chan done, len(jobs))
	for _, j := range jobs {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ends <- a.perform(ctx, j)
		}()
	}
	var failed error
	for range jobs {
		d := <-ends
		if d.err != nil {
			failed = errors.Join(failed, d.err)
			continue
		}
		if ctx.Err() != nil {
			continue // the one place that ends a run answers what was stopped
		}
		if err := a.answer(ctx, d); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// perform runs one call within its deadline. A call that does not return in
// time is left behind and reported as timed out.
func (a *run) perform(ctx context.Context, j job) done {
	if ctx.Err() != nil {
		return done{job: j}
	}
	limit := j.tool.Deadline(j.Arguments)
	within, cancel := context.WithCancel(ctx)
	if limit > 0 {
		within, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	within = tool.WithCall(within, a.RunID, j.ID)
	within = tool.WithProgress(within, func(text string) { a.Journal.Progress(j.ID, text) })
	started := a.Now()
	ends := make(chan done, 1)
	go func() { ends <- call(within, j) }()
	var d done
	select {
	case d = <-ends:
	case <-within.Done():
		select {
		case d = <-ends:
		case <-time.After(grace):
			d = done{job: j, result: timedOut(j, limit), state: chat.CallFailed}
		}
	}
	if ctx.Err() == nil && within.Err() != nil && d.err != nil {
		d = done{job: j, result: timedOut(j, limit), state: chat.CallFailed}
	}
	d.elapsed = max(0, a.Now().Sub(started))
	return d
}

func timedOut(j job, limit time.Duration) tool.Result {
	note := "Try a smaller step."
	if j.tool.Effect != tool.Reads {
		note = "It may have taken effect: look before repeating it."
	}
	return tool.Failed("%s did not finish within %s. %s", j.Name, limit, note)
}

// call runs the tool's function; a panic in it is a failed call, not the end
// of the program.
func call(ctx context.Context, j job) (d done) {
	d.job = j
	defer func() {
		if p := recover(); p != nil {
			d.err, d.state = nil, chat.CallFailed
			d.result = tool.Failed("%s broke down inside Gofer: %v. This is a mistake of Gofer's, not of the call; try another way.", j.Name, p)
			slog.Error("a tool panicked", "tool", j.Name, "err", p, "stack", string(debug.Stack()))
		}
	}()
	d.result, d.err = j.tool.Run(ctx, j.Arguments)
	d.state = chat.CallSucceeded
	if d.result.Failed {
		d.state = chat.CallFailed
	}
	if d.err != nil {
		d.err = fmt.Errorf("%s: %w", j.Name, d.err)
	}
	return d
}

// answer stores the answer of a call and adds it to the context.
func (a *run) answer(ctx context.Context, d done) error {
	if n := a.repeats.count(d.job.ToolCall, d.result.Text); n >= repeatsToTell {
		d.result.Text += fmt.Sprintf(repeatNote, n)
	}
	d.result.Text = capped(d.result.Text, textLimit)
	a.open--
	next := 0
	if a.open == 0 && a.repeats.n < repeatsToAsk {
		next = a.iteration + 1
	}
	m, err := a.Journal.Finished(ctx, d.job.ToolCall, d.state, d.result, d.elapsed, next)
	if err != nil {
		return err
	}
	a.messages = append(a.messages, m)
	return nil
}

// capped keeps the head and the tail of a text that is too long, whole runes,
// and says what is missing.
func capped(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit*3/4, limit/4
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s",
		strings.ToValidUTF8(text[:head], ""), len(text)-head-tail, strings.ToValidUTF8(text[len(text)-tail:], ""))
}
