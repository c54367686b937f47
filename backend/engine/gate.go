package engine

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"gofer/backend/chat"
	"gofer/backend/clarify"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/guard"
	"gofer/backend/store"
	"gofer/backend/tool"
)

// slot is a run's place at work, given back while it waits for a person.
type slot struct {
	slots *slots
	held  bool
}

func (s *slot) give() {
	if s.held {
		s.held = false
		s.slots.give()
	}
}

func (s *slot) take(ctx context.Context) error {
	if s.held {
		return nil
	}
	if err := s.slots.take(ctx, true); err != nil {
		return err
	}
	s.held = true
	return nil
}

// gate stands in front of every call of a run: it asks the guard, and where
// the guard wants leave, the person. It also asks the person's questions and
// puts agreements to them.
type gate struct {
	engine  *Engine
	journal *journal
	session store.Session
	mode    string
	slot    *slot
	began   time.Time // of this process's part of the run, on the clock that is never set
	mu      sync.Mutex
	inside  map[string]bool // calls that are let run in the sandbox
	without string          // why browser tools are refused for the rest of the run; the person said so
	agreed  agreement       // what the person agreed to for this run
	// restarted says that the window was closed in an earlier process.
	restarted bool
	card      event.Data // what the run asked last when its process ended; nil once it was shown again
}

// Check decides about a call. While a person is asked the run waits.
func (g *gate) Check(ctx context.Context, call chat.ToolCall, t tool.Tool) (string, error) {
	if strings.HasPrefix(t.Name, "browser_") {
		if refusal, err := g.reopen(ctx, call); refusal != "" || err != nil {
			return refusal, err
		}
	}
	given, answer, refusal, err := g.showAgain(ctx, call)
	if refusal != "" || err != nil {
		return refusal, err
	}
	request, refusal := judge(ctx, g.session.ID, g.mode, g.session.Workspace, t, call.Arguments)
	if refusal != "" {
		return refusal, nil
	}
	request.Taint = g.journal.taint
	verdict := g.engine.guard.Check(request)
	switch verdict.Decision {
	case guard.Allow:
		if verdict.Sandbox {
			g.box(call.ID)
		}
		g.agreed.count(verdict.By)
		g.noted(ctx, call, t, request, false)
		return "", nil
	case guard.Deny:
		return refusedBy(verdict), nil
	}
	asked := event.ApprovalAsked{CallID: call.ID, Tool: call.Name, Args: call.Arguments, Deeds: deedsOf(request.Claims), Session: verdict.Words, Missing: verdict.Missing, Why: verdict.Why}
	if !verdict.Alone && g.agreed.holds() {
		asked.Extend = verdict.Words
	}
	if given == nil || !sameDeed(*given, asked) {
		if answer, err = g.wait(ctx, clarify.Pending{SessionID: g.session.ID, RunID: g.journal.run.ID, Approval: &asked}); err != nil {
			return "", err
		}
	}
	if answer.Allow {
		if answer.Scope == "run" && asked.Extend != "" {
			g.agreed.extend(verdict.Grants)
		}
		g.remember(answer, verdict)
		g.noted(ctx, call, t, request, true)
		return "", nil
	}
	return refusedByPerson(answer, verdict.Missing), nil
}

// noted tells those who judge connections of a call that may be made.
func (g *gate) noted(ctx context.Context, call chat.ToolCall, t tool.Tool, r guard.Request, asked bool) {
	g.engine.ways.before(ctx, deed{owner: g.session.ID, full: r.Mode == guard.ModeFull, tool: t, args: call.Arguments, claims: r.Claims, asked: asked, read: g.journal.read})
}

// box notes that a call may run in the sandbox only.
func (g *gate) box(callID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == nil {
		g.inside = map[string]bool{}
	}
	g.inside[callID] = true
}

// boxed reports whether a call runs in the sandbox.
func (g *gate) boxed(callID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside[callID]
}

// remember keeps what an allowed call opens. A visit that was allowed once
// holds for this run, since a page that may be opened but not read would ask
// again at every look.
func (g *gate) remember(answer clarify.Answer, v guard.Verdict) {
	for _, grant := range v.Grants {
		switch {
		case answer.Scope == "session":
			g.engine.guard.Grant(g.session.ID, grant)
		case grant.Class == tool.Visit:
			grant.Until = guard.Run
			g.engine.guard.Grant(g.session.ID, grant)
		}
	}
	if answer.Scope == "session" {
		g.engine.keepGrants(g.session.ID)
	}
}

// close takes back what was allowed for this run only, and keeps how often the
// rest was needed.
func (g *gate) close() {
	g.agreed.end()
	g.engine.guard.EndRun(g.session.ID)
	if len(g.engine.guard.GrantsOf(g.session.ID)) > 0 {
		g.engine.keepGrants(g.session.ID)
	}
}

// reopen asks before a window that the person closed during this run is opened
// again.
func (g *gate) reopen(ctx context.Context, call chat.ToolCall) (string, error) {
	closed := g.engine.closedByHand(g.session.ID)
	if g.without != "" && (!closed.IsZero() || g.restarted) {
		return g.without, nil
	}
	if q, ok := g.card.(event.ClarificationAsked); ok && q.CallID == call.ID {
		g.card, g.restarted = nil, true
	} else if closed.IsZero() || closed.Before(g.began) {
		return "", nil
	}
	a, err := g.wait(ctx, clarify.Pending{SessionID: g.session.ID, RunID: g.journal.run.ID, Question: &event.ClarificationAsked{CallID: call.ID, Question: event.Question{
		Kind: "choice", Title: "The browser window was closed.", Why: "The pages and steps are kept.", Default: "reopen",
		Options: []event.Option{{Label: "Reopen and continue", Value: "reopen"}, {Label: "Go on without the browser", Value: "without"}},
	}}})
	switch {
	case err != nil:
		return "", err
	case a.By == clarify.Dismissed:
		return refusedByPerson(a, ""), nil
	case a.Text == "reopen" || a.By == "agent":
		return "", nil
	case a.Text == "without" || a.Text == "":
		g.without = "The person closed the browser window and does not want it opened again. Go on without the browser, or finish and say what is missing."
		return g.without, nil
	}
	return "The person closed the browser window and says: " + a.Text, nil
}

// judge asks a tool what a call is about to do.
func judge(ctx context.Context, subject, mode, workspace string, t tool.Tool, args []byte) (guard.Request, string) {
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	claims, err := t.Claims(within, args)
	if err != nil {
		return guard.Request{}, fmt.Sprintf("%s was not called: %v. Mend the arguments and call again.", t.Name, err)
	}
	return guard.Request{Session: subject, Mode: guard.Mode(mode), Workspace: workspace, Tool: t.Name, Claims: claims}, ""
}

func refusedBy(v guard.Verdict) string {
	return fmt.Sprintf("Refused: %s Find another way, or say what is missing.", v.Why)
}

// refusedToCaller is what a model outside reads, which may tell its user.
func refusedToCaller(v guard.Verdict) string {
	return fmt.Sprintf("Refused: %s Missing grant: %s. Do this step another way, or ask the user for more leave: --allow gives a grant, --mode another mode.", v.Why, v.Missing)
}

// refusedByPerson is what the model reads after a no. The missing grant is
// named when nobody was there to ask.
func refusedByPerson(a clarify.Answer, missing string) string {
	switch {
	case a.By == clarify.Dismissed:
		return "Not done: the person sent a new message instead of answering. Finish this run now; the message follows."
	case a.By == "nobody":
		return fmt.Sprintf("Refused: this needs a person's leave and nobody is there to give it (missing grant: %s). Go on without it, or finish and say what is missing.", missing)
	case a.Note != "":
		return "The person refused this call and says: " + a.Note
	}
	return "The person refused this call. Find another way, or say what is missing."
}

// deedsOf lays claims out for the person who decides: in full, with everything
// that would hide or reorder text written out.
func deedsOf(claims []tool.Claim) []event.Deed {
	out := make([]event.Deed, len(claims))
	for i, c := range claims {
		out[i] = event.Deed{Class: string(c.Class), Object: guard.Visible(c.Object), Detail: guard.Visible(c.Detail), Text: guard.Visible(c.Text)}
		for _, f := range c.Fields {
			out[i].Fields = append(out[i].Fields, event.DeedField{Label: guard.Visible(f.Label), Value: guard.Visible(f.Value), Secret: f.Secret})
		}
	}
	return out
}

// Ask asks the person a question and returns the answer and who gave it.
func (g *gate) Ask(ctx context.Context, q event.Question) (answer, by string, err error) {
	a, err := g.wait(ctx, clarify.Pending{SessionID: g.session.ID, RunID: g.journal.run.ID, Question: &event.ClarificationAsked{Question: q}})
	return a.Text, a.By, err
}

// wait parks the run: the question is stored, the slot is free for others, and
// the run goes on at the head of the queue when it is settled.
func (g *gate) wait(ctx context.Context, p clarify.Pending) (clarify.Answer, error) {
	ticket := g.engine.waits.Open(p)
	p = ticket.Pending
	err := g.journal.commit(ctx, func(c *store.Commit) error {
		if err := c.Emit(asking(p)); err != nil {
			return err
		}
		if err := g.journal.say(c, func(s *event.Status) { s.State = event.AwaitingUser }); err != nil {
			return err
		}
		return c.Move(event.RunIsAwaiting)
	})
	if err != nil {
		ticket.Close()
		return clarify.Answer{}, err
	}
	g.slot.give()
	answer, err := ticket.Wait(ctx)
	if err != nil {
		g.dropped(p)
		return answer, err
	}
	g.engine.goesOn(p.RunID)
	if q := p.Question; q != nil && answer.By == "nobody" && q.Question.Default != "" {
		answer.Text, answer.By = q.Question.Default, "default" // no use waiting for nobody
	}
	if p.Agreement != nil {
		answer = agreedTo(*p.Agreement, answer)
	}
	err = g.journal.commit(ctx, func(c *store.Commit) error {
		if err := c.Emit(settled(p, answer)); err != nil {
			return err
		}
		return c.Move(event.RunIsQueued)
	})
	if err != nil {
		return answer, err
	}
	if err := g.slot.take(ctx); err != nil {
		return answer, err
	}
	return answer, g.journal.commit(ctx, func(c *store.Commit) error {
		if err := g.journal.say(c, func(s *event.Status) { s.State = event.ToolCall }); err != nil {
			return err
		}
		return c.Move(event.RunIsRunning)
	})
}

func asking(p clarify.Pending) event.Data {
	switch {
	case p.Question != nil:
		return *p.Question
	case p.Agreement != nil:
		return *p.Agreement
	}
	return *p.Approval
}

func settled(p clarify.Pending, a clarify.Answer) event.Data {
	switch {
	case a.By == clarify.Dismissed:
		return dismissal(p)
	case p.Question != nil:
		return event.ClarificationAnswered{ID: p.ID, Answer: a.Text, By: a.By}
	case p.Agreement != nil:
		return event.AgreementAnswered{ID: p.ID, Allowed: a.Allow, Lines: a.Lines, Note: a.Note, By: a.By}
	}
	return event.ApprovalAnswered{ID: p.ID, Allowed: a.Allow, Scope: a.Scope, Note: a.Note, By: a.By}
}

func dismissal(p clarify.Pending) event.Data {
	switch {
	case p.Question != nil:
		return event.ClarificationDismissed{ID: p.ID}
	case p.Agreement != nil:
		return event.AgreementDismissed{ID: p.ID}
	}
	return event.ApprovalDismissed{ID: p.ID}
}

// dropped tells that nobody needs to answer any more. The run is being stopped,
// so this is not fenced.
func (g *gate) dropped(p clarify.Pending) {
	err := g.engine.store.Write(context.WithoutCancel(g.engine.ctx), func(tx *store.Tx) error { return tx.Emit(p.SessionID, p.RunID, dismissal(p)) })
	if err != nil {
		slog.Warn("a question could not be put aside", "run", p.RunID, "err", err)
	}
}

// Answer settles a question, an approval or an agreement. Answering what is settled already
// is a fault, so that two faces cannot both believe they decided.
func (e *Engine) Answer(_ context.Context, waitID string, a Answer) error {
	by := a.By
	switch {
	case by != "":
	case a.Decide:
		by = "agent"
	case a.Skip:
		by = "skip"
	default:
		by = "person"
	}
	if a.Dismiss {
		if p, ok := e.waits.Get(waitID); ok {
			return e.Stop(context.Background(), p.SessionID)
		}
	}
	ok := e.waits.Answer(waitID, clarify.Answer{Text: a.Text, Allow: a.Allow, Scope: a.Scope, Lines: a.Lines, Note: a.Note, By: by})
	if !ok {
		return fault.New(fault.NotFound, "This is no longer asked.", "It was answered, or its run has ended.")
	}
	return nil
}

// openWaits lists what a session waits for.
func (e *Engine) openWaits(sessionID string) []Wait {
	out := []Wait{}
	for _, p := range e.waits.List(sessionID) {
		w := Wait{RunID: p.RunID, Since: p.Since, Question: p.Question, Approval: p.Approval, Agreement: p.Agreement}
		out = append(out, w)
	}
	return out
}
