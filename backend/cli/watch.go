package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host"
)

// stopLimit is how long a stopped run may take to say that it has ended.
const stopLimit = 900 * time.Millisecond

// watch follows one run to its end: it prints steps, asks the person, and
// knows the exit code.
type watch struct {
	*app
	service host.Service
	session engine.Session
	runID   string
	events  <-chan event.Envelope
	json    bool
	joins   bool // the run may have been going before

	steps   steps
	asks    asks
	answer  string // text of the last reply without calls
	started bool
	refused []string // what was refused for want of permission
	end     *event.RunFinished
}

func (w *watch) follow(ctx context.Context) (int, error) {
	w.steps = newSteps(w.app)
	w.asks = asks{app: w.app, steps: &w.steps, reply: func(id string, answer engine.Answer) error {
		return w.service.Answer(ctx, id, answer)
	}}
	if err := w.join(ctx); err != nil {
		return 0, err
	}
	for w.end == nil {
		select {
		case <-ctx.Done():
			return w.stop(ctx)
		case e, open := <-w.events:
			if !open {
				return 0, w.hostEnded(ctx)
			}
			if err := w.take(ctx, e); err != nil {
				if ctx.Err() != nil {
					return w.stop(ctx)
				}
				_, _ = w.stop(ctx)
				return 0, err
			}
		case text, open := <-w.asks.lines:
			if err := w.asks.typed(text, open); err != nil && ctx.Err() == nil {
				_, _ = w.stop(ctx)
				return 0, err
			}
		}
	}
	return w.finish(), nil
}

// join shows what the run asked before its events were followed: it may have
// waited since the start of Gofer.
func (w *watch) join(ctx context.Context) error {
	if !w.joins {
		return nil
	}
	snapshot, err := w.service.Snapshot(ctx, w.session.ID, engine.SnapshotQuery{Limit: 1})
	if err != nil {
		return err
	}
	for _, wait := range snapshot.Waits {
		switch {
		case wait.RunID != w.runID:
		case wait.Approval != nil:
			err = w.asks.approval(*wait.Approval)
		case wait.Question != nil:
			err = w.asks.question(*wait.Question)
		}
		if err != nil {
			return err
		}
		w.started = true
	}
	return nil
}

func (w *watch) hostEnded(ctx context.Context) error {
	w.steps.clear()
	if _, err := w.service.Status(ctx, w.session.ID); err != nil { // says why in its own words
		return err
	}
	return fault.New(fault.Unavailable, "The events of the run broke off.", "Look at it with \"gofer sessions show "+w.session.ID+"\".")
}

// stop ends the run and waits a moment for its last event.
func (w *watch) stop(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	w.asks.over = true
	// A run that waits behind another of its session is taken back; stopping
	// would hit the other one.
	if w.started || w.service.RemoveQueued(ctx, w.runID) != nil {
		if err := w.service.Stop(ctx, w.session.ID); err != nil && w.end == nil {
			w.steps.clear()
			w.complain(err)
		}
	}
	for w.end == nil {
		select {
		case <-ctx.Done():
			w.steps.say("– Told to stop; its end was not seen within a second.")
			return ExitStopped, nil
		case e, open := <-w.events:
			if !open {
				return ExitStopped, nil
			}
			if w.take(ctx, e) != nil {
				return ExitStopped, nil
			}
		}
	}
	return w.finish(), nil
}

// take shows one event.
func (w *watch) take(ctx context.Context, e event.Envelope) error {
	if e.RunID != "" && e.RunID != w.runID {
		return nil
	}
	if _, ok := e.Data.(event.RunStarted); ok {
		w.started = true
	}
	if w.json {
		raw, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write event: %w", err)
		}
		if _, err := w.Stdout.Write(append(raw, '\n')); err != nil {
			return fmt.Errorf("write event: %w", err)
		}
	}
	switch d := e.Data.(type) {
	case event.RunQueued:
		if d.Ahead > 0 {
			w.say("· Waits behind %s of this session.", plural(d.Ahead, "run"))
		}
	case event.MessageFinished:
		w.message(d.Message)
	case event.ToolStarted:
		if !w.json {
			w.steps.begin(d)
		}
	case event.ToolFinished:
		if !w.json {
			w.steps.done(d.Message.Result)
		}
	case event.RouteRetrying:
		w.say("↻ The model call failed (%s); trying again in %s.", line(d.Reason, 200), took(d.WaitMS))
	case event.RouteSwitched:
		w.say("⇄ Switched to %s, because %s", line(d.To, 80), line(lowerFirst(d.Reason), 200))
	case event.Notice:
		w.say("· %s", line(d.Text, 0))
	case event.ClarificationAsked:
		return w.asks.question(d)
	case event.ApprovalAsked:
		return w.asks.approval(d)
	case event.AgreementAsked:
		return w.asks.agreement(d)
	case event.AgreementDismissed:
		w.asks.settled(d.ID)
	case event.AgreementAnswered:
		// A person's no is no refusal: the run goes on and asks step by step.
		if asked, ok := w.asks.settled(d.ID); ok && !d.Allowed && d.By == nobody {
			w.refused = append(w.refused, line(asked.Missing, 0))
		}
	case event.ClarificationAnswered:
		w.asks.settled(d.ID)
	case event.ClarificationExpired:
		w.asks.settled(d.ID)
	case event.ClarificationDismissed:
		w.asks.settled(d.ID)
	case event.ApprovalDismissed:
		w.asks.settled(d.ID)
	case event.ApprovalAnswered:
		if asked, ok := w.asks.settled(d.ID); ok && !d.Allowed {
			if asked.Missing != "" {
				w.refused = append(w.refused, line(asked.Missing, 0))
			} else {
				w.refused = append(w.refused, grants(asked)...)
			}
		}
	case event.RunFinished:
		w.end = &d
	}
	return nil
}

func (w *watch) say(format string, args ...any) {
	if !w.json {
		w.steps.say(format, args...)
	}
}

// message keeps the answer and shows what the agent says between its steps.
func (w *watch) message(m chat.Message) {
	if m.Role != chat.Assistant {
		return
	}
	text := strings.TrimSpace(m.Text())
	switch {
	case m.Finish == "error": // it broke off, so it is no answer
	case len(m.Calls) == 0:
		w.answer = text
		return
	}
	if text != "" {
		w.say("%s", clean(text))
	}
}

// finish prints the end and returns the exit code.
func (w *watch) finish() int {
	w.steps.clear()
	w.asks.finish()
	code := ExitDone
	if w.answer != "" && !w.json {
		text := w.answer
		if w.IsTerminal(w.Stdout) {
			text = clean(text)
		}
		_, err := io.WriteString(w.Stdout, text)
		if err == nil {
			_, err = io.WriteString(w.Stdout, "\n")
		}
		if err != nil {
			w.complain(fmt.Errorf("the answer could not be written: %w", err))
			code = ExitFailed
		}
	}
	switch {
	case w.end.State == event.RunIsCancelled:
		w.steps.fail("Stopped after %s and %s.", plural(w.end.Calls, "call"), took(w.end.ElapsedMS))
		code = ExitStopped
	case w.end.State == event.RunIsFailed:
		w.steps.fail("%s", w.problem())
		code = ExitFailed
	case w.end.Reason == "limit":
		w.steps.fail("Stopped at the limit of %s. Go on with: gofer run --session %s \"go on\"", plural(w.end.Iterations, "iteration"), w.session.ID)
		code = ExitFailed
	case w.end.Reason == "repeated":
		w.steps.fail("Stopped, because the same call gave the same result again and again.")
		code = ExitFailed
	}
	for _, grant := range w.refused {
		fmt.Fprintf(w.Stderr, "Refused for want of permission: %s\n", grant)
	}
	if len(w.refused) > 0 && code != ExitStopped {
		code = ExitRefused
	}
	if !w.json {
		w.steps.say("· %s", strings.Join([]string{
			took(w.end.ElapsedMS), plural(w.end.Calls, "call"), tokens(w.end.Usage.Input + w.end.Usage.Output), "session " + w.session.ID,
		}, " · "))
	}
	return code
}

func (w *watch) problem() string {
	p := w.end.Error
	if p == nil {
		return "The run failed."
	}
	text := p.Message
	for _, r := range p.Reasons {
		text += "\n  " + r.Model + ": " + r.Message
	}
	if len(p.Reasons) > 0 {
		text += "\n "
	}
	return strings.TrimSpace(clean(w.redact.Redact(text + " " + p.Hint)))
}

// lowerFirst fits a sentence into another one, unless it begins with a name.
func lowerFirst(s string) string {
	for _, word := range []string{"The ", "No ", "It "} {
		if strings.HasPrefix(s, word) {
			return strings.ToLower(s[:1]) + s[1:]
		}
	}
	return s
}
