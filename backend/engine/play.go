package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"gofer/backend/agent"
	"gofer/backend/agent/prompt"
	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm"
	"gofer/backend/store"
	"gofer/backend/tool"
	"gofer/backend/tools/ask"
)

// play is one run on its way through this process.
type play struct {
	runID   string
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	mu      sync.Mutex
	journal *journal // nil before the run started
	gate    *gate    // the same
}

func (p *play) live() *journal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.journal
}

// SendPrompt accepts a prompt for a session and returns its run at once. The
// prompt is stored when it returns; it starts when the runs before it ended.
func (e *Engine) SendPrompt(ctx context.Context, sessionID string, p chat.Prompt) (string, error) {
	e.allKeys() // a prompt may hold one
	text := chat.CleanPrompt(p.Text)
	if text == "" {
		return "", fault.New(fault.Invalid, "There is nothing to do yet.", "Write what you want done.")
	}
	session, err := e.store.Session(ctx, sessionID)
	if err != nil {
		return "", notFound(err, "session")
	}
	mode, limit := session.Mode, session.MaxIterations
	if p.Mode != "" {
		mode = p.Mode
	}
	if p.MaxIterations > 0 {
		limit = p.MaxIterations
	}
	if err := checkRun(mode, limit); err != nil {
		return "", err
	}
	if err := e.leaveInterrupted(ctx, sessionID); err != nil {
		return "", err
	}
	e.waits.Dismiss(sessionID) // a new message settles what was asked (SPEC D29)
	run, err := e.store.Enqueue(ctx, store.Run{SessionID: sessionID, Mode: mode, MaxIterations: limit},
		chat.Message{Parts: []chat.Part{{Type: chat.Text, Text: text}}}, firstRunes(text, 25))
	if err != nil {
		return "", notFound(err, "session")
	}
	e.kick(sessionID)
	if session.MessageSeq == 0 {
		e.aside(func() { e.name(session.Session, text) })
	}
	return run.ID, nil
}

// aside does something of its own that the engine waits for when it closes.
func (e *Engine) aside(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.plays.Go(do)
	}
}

// kick starts the session's next queued run unless one is at work.
func (e *Engine) kick(sessionID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.active[sessionID] != nil {
		return
	}
	run, err := e.store.NextQueued(e.ctx, sessionID)
	if errors.Is(err, store.ErrNotFound) || e.ctx.Err() != nil {
		return
	}
	if err != nil {
		slog.Error("the queue cannot be read", "session", sessionID, "err", err)
		return
	}
	p := &play{runID: run.ID, done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(e.ctx)
	e.active[sessionID] = p
	e.plays.Add(1)
	go e.play(p, run)
}

// play takes a run from the queue to its end. Whatever happens, end is the one
// place that finishes it; only a closing engine leaves it to the next start.
func (e *Engine) play(p *play, run store.Run) {
	defer e.plays.Done()
	held := &slot{slots: e.slots}
	out := e.perform(p, run, held)
	p.cancel()
	if e.ctx.Err() == nil && !e.shelve(run, out) {
		e.end(run, out)
	}
	held.give() // not before: until then the run is at work
	e.mu.Lock()
	delete(e.active, run.SessionID)
	e.mu.Unlock()
	close(p.done)
	e.kick(run.SessionID)
}

// end finishes a run in the store. It tries again while the disk refuses, so
// that a full disk does not leave a run that never ends.
func (e *Engine) end(run store.Run, out agent.Outcome) {
	end := store.End{State: out.State, Reason: out.Reason, Problem: e.problemOf(out.Err)}
	if out.State == event.RunIsFailed {
		slog.Warn("run failed", "session", run.SessionID, "run", run.ID, "err", out.Err)
	}
	for wait := 50 * time.Millisecond; ; wait = min(wait*2, 5*time.Second) {
		_, err := e.store.Finish(context.Background(), run.ID, end)
		if err == nil || errors.Is(err, store.ErrNotFound) {
			return
		}
		slog.Error("a run could not be finished", "run", run.ID, "err", err)
		select {
		case <-time.After(wait):
		case <-e.ctx.Done():
			return
		}
	}
}

// perform waits for a slot, makes the run's lane and plays it.
func (e *Engine) perform(p *play, run store.Run, held *slot) (out agent.Outcome) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("a run panicked", "run", run.ID, "err", v, "stack", string(debug.Stack()))
			out = agent.Outcome{State: event.RunIsFailed, Reason: "internal", Err: fault.New(fault.Internal, fmt.Sprintf("Gofer broke down during this run: %v.", v), "What was done is kept; continue from here.")}
		}
	}()
	if err := e.slots.take(p.ctx, false); err != nil {
		return agent.Outcome{State: event.RunIsCancelled, Reason: "stopped"}
	}
	held.held = true
	runner, start, end, err := e.prepare(p, run, held)
	defer end()
	switch {
	case p.ctx.Err() != nil || errors.Is(err, store.ErrStale):
		return agent.Outcome{State: event.RunIsCancelled, Reason: "stopped"}
	case err != nil:
		return agent.Outcome{State: event.RunIsFailed, Reason: string(fault.From(err).Code), Err: err}
	}
	out = runner.Run(p.ctx, start)
	if errors.Is(out.Err, store.ErrStale) {
		return agent.Outcome{State: event.RunIsCancelled, Reason: "stopped"}
	}
	return out
}

// prepare wires the parts of one run: model, tools, guard, journal. The
// function it returns is called when the run has ended.
func (e *Engine) prepare(p *play, run store.Run, held *slot) (*agent.Runner, agent.Start, func(), error) {
	nothing := func() {}
	session, err := e.store.Session(p.ctx, run.SessionID)
	if err != nil {
		return nil, agent.Start{}, nothing, err
	}
	j := &journal{engine: e, run: run, usage: run.TotalUsage()}
	model, choices, err := e.model(p.ctx, session.Session, j)
	if err != nil {
		return nil, agent.Start{}, nothing, err
	}
	e.allKeys() // a tool may come upon one
	first := choices[0]
	j.model = first.name
	settings := e.settings.Settings()
	own := session.SystemPrompt
	if own == "" {
		own = settings.SystemPrompt
	}
	g := &gate{engine: e, journal: j, session: session.Session, mode: run.Mode, slot: held, began: time.Now()}
	g.agreed.gate = g
	if run.StartedAt != 0 { // it goes on: what it asked and nobody answered is asked again
		if g.card, err = e.store.Asked(p.ctx, run); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, agent.Start{}, nothing, err
		}
	}
	box, err := e.toolbox(session.Session, g, g.boxed, first.tools)
	if err != nil {
		return nil, agent.Start{}, nothing, err
	}
	j.status = event.Status{State: event.Thinking, RunID: run.ID, Iteration: run.Iteration, MaxIterations: run.MaxIterations}
	j.fence, err = e.store.Start(p.ctx, run.ID, store.Route{
		Provider: first.provider, ProviderName: first.providerName, Model: first.name,
		PromptVersion: prompt.Version(own), ToolsHash: hashOf(box), AppVersion: e.version,
	}, j.status)
	if err != nil {
		return nil, agent.Start{}, nothing, err
	}
	started, err := e.store.Run(p.ctx, run.ID)
	if err != nil {
		return nil, agent.Start{}, nothing, err
	}
	j.status.Since = started.StartedAt
	p.mu.Lock()
	p.journal, p.gate = j, g
	p.mu.Unlock()
	if run.Epoch > 1 {
		if err := g.lapse(p.ctx); err != nil {
			return nil, agent.Start{}, nothing, err
		}
	}
	messages, err := e.store.Context(p.ctx, run, removed)
	if err != nil {
		return nil, agent.Start{}, nothing, err
	}
	j.taint, j.read = taintOf(messages), readIn(messages)
	return &agent.Runner{
		RunID: run.ID, Model: model, Tools: box, Guard: g, Asker: g, Journal: j, Now: e.now, MaxIterations: run.MaxIterations,
		Afford: newPurse(e, j, g).afford,
		System: prompt.System(own, session.Workspace, run.Mode, e.now()),
	}, agent.Start{Messages: messages, Iteration: run.Iteration}, g.close, nil
}

// removed is the reason of a run whose prompt was taken back before it started.
const removed = "removed"

// Stop ends the session's run: at work, waiting for the person, or next in the
// queue while nothing is at work. It returns when the run has stopped or after
// a second; asking twice is no error.
func (e *Engine) Stop(ctx context.Context, sessionID string) error {
	e.mu.Lock()
	p := e.active[sessionID]
	e.mu.Unlock()
	if p == nil {
		return nil
	}
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	p.cancel() // first: what is under way ends even while the disk is slow
	if _, err := e.store.AskToStop(ctx, p.runID); err != nil {
		slog.Error("stop could not be stored", "run", p.runID, "err", err)
	}
	select {
	case <-p.done:
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil
}

// RemoveQueued takes a prompt out of the queue before it starts.
func (e *Engine) RemoveQueued(ctx context.Context, runID string) error {
	run, err := e.store.Run(ctx, runID)
	if err != nil {
		return notFound(err, "run")
	}
	e.mu.Lock()
	p := e.active[run.SessionID]
	e.mu.Unlock()
	if p != nil && p.runID == runID {
		return fault.New(fault.Busy, "This prompt has started already.", "Stop it instead.")
	}
	if _, err := e.store.AskToStop(ctx, runID); err != nil {
		return err
	}
	_, err = e.store.Finish(ctx, runID, store.End{State: event.RunIsCancelled, Reason: removed})
	return err
}

// Continue goes on with a run: an interrupted one in its next epoch; after a
// stop, a failure or a limit in a new run that picks up from the transcript.
// One that waits for its person again since the start goes on by itself. It
// returns the run that goes on.
func (e *Engine) Continue(ctx context.Context, runID string) (string, error) {
	run, err := e.store.Run(ctx, runID)
	if err != nil {
		return "", notFound(err, "run")
	}
	switch {
	case run.State == event.RunIsInterrupted:
		if _, err := e.store.Resume(ctx, runID, ask.Names()...); err != nil {
			if errors.Is(err, store.ErrStale) {
				return runID, nil // somebody else asked first
			}
			return "", err
		}
		e.kick(run.SessionID)
		return runID, nil
	case e.waitsAgain(run): // it is there, or on its way to its card
		return runID, nil
	case !run.State.Final():
		return "", fault.New(fault.Busy, "This run is still going.", "Wait for it or stop it first.")
	}
	return e.SendPrompt(ctx, run.SessionID, chat.Prompt{Text: "Continue.", Mode: run.Mode})
}

// Leave gives an interrupted run up: it ends as cancelled.
func (e *Engine) Leave(ctx context.Context, runID string) error {
	run, err := e.store.Run(ctx, runID)
	if err != nil {
		return notFound(err, "run")
	}
	if run.State != event.RunIsInterrupted {
		return fault.New(fault.Invalid, "This run is not interrupted.", "")
	}
	_, err = e.store.Finish(ctx, runID, store.End{State: event.RunIsCancelled, Reason: "left"})
	return err
}

// leaveInterrupted gives up what was interrupted before: a new prompt goes on
// from the transcript as it stands.
func (e *Engine) leaveInterrupted(ctx context.Context, sessionID string) error {
	runs, err := e.store.Interrupted(ctx, sessionID)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := e.Leave(ctx, run.ID); err != nil {
			return err
		}
	}
	return nil
}

// Status returns the live status record of a session.
func (e *Engine) Status(ctx context.Context, sessionID string) (event.Status, error) {
	e.mu.Lock()
	p := e.active[sessionID]
	e.mu.Unlock()
	if p != nil {
		if j := p.live(); j != nil {
			_, status := j.live()
			return status, nil
		}
	}
	session, err := e.store.Session(ctx, sessionID)
	if err != nil {
		return event.Status{}, notFound(err, "session")
	}
	if session.Run == nil {
		return event.Status{State: event.Idle}, nil
	}
	return restingStatus(*session.Run), nil
}

// restingStatus is the status of a run that nobody plays now.
func restingStatus(run store.Run) event.Status {
	s := event.Status{State: event.Idle, RunID: run.ID, Iteration: run.Iteration, MaxIterations: run.MaxIterations, Error: run.Fault(), Since: run.StartedAt}
	switch run.State {
	case event.RunIsCompleted:
		s.State = event.Complete
	case event.RunIsFailed:
		s.State = event.Error
	case event.RunIsCancelled:
		s.State = event.Cancelled
	}
	return s
}

// problemOf turns an error into what a person reads, without any key; the log
// has the rest.
func (e *Engine) problemOf(err error) *event.Problem {
	if err == nil {
		return nil
	}
	var failed *llm.Error
	if !errors.As(err, &failed) {
		f := fault.From(noBrowser(err))
		return &event.Problem{Code: string(f.Code), Message: e.redact.Redact(f.Message), Hint: e.redact.Redact(f.Hint)}
	}
	p := &event.Problem{Code: string(failed.Kind), Message: e.redact.Redact(failed.Message), Hint: e.redact.Redact(failed.Hint)}
	for _, r := range failed.Reasons {
		p.Reasons = append(p.Reasons, event.Reason{Model: r.Model, Code: string(r.Err.Kind), Message: e.redact.Redact(r.Err.Message), Hint: e.redact.Redact(r.Err.Hint)})
	}
	return p
}

func checkRun(mode string, maxIterations int) error {
	if !config.ValidMode(mode) {
		return fault.New(fault.Invalid, fmt.Sprintf("There is no mode %q.", mode), "Use plan, ask, auto or full.")
	}
	if maxIterations < 1 || maxIterations > 10_000 {
		return fault.New(fault.Invalid, fmt.Sprintf("%d iterations make no sense.", maxIterations), "Use a number from 1 to 10000.")
	}
	return nil
}

// hashOf names a tool list, so that a run can tell what it was offered.
func hashOf(box *tool.Box) string {
	sum := sha256.New()
	for _, t := range box.All() {
		fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", t.Name, t.About, t.Schema)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}
