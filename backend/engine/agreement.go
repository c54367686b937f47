package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gofer/backend/clarify"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/guard"
	"gofer/backend/store"
	"gofer/backend/tool"
	"gofer/backend/tools/ask"
)

// agreement is what the person agreed to for one run: lines that are grants of
// the guard until the run ends. It is safe for use by several goroutines. What
// it tells is the whole of it each time, in order.
type agreement struct {
	gate   *gate
	mu     sync.Mutex
	asked  bool // a run proposes once
	no     bool // the person, or nobody, said no
	made   bool // it holds
	over   bool // the run has ended
	told   event.AgreementChanged
	grants []guard.Grant // of the lines, in order
	from   int           // the iteration in which it was made
}

// Propose puts an agreement to the person, once in a run. What they leave in
// it holds until the run ends.
func (g *gate) Propose(ctx context.Context, p ask.Proposal) (ask.Outcome, error) {
	a := &g.agreed
	if refused := a.refusal(); refused != "" {
		return ask.Outcome{Refused: refused}, nil
	}
	if guard.Mode(g.mode) == guard.ModeFull {
		return ask.Outcome{Free: true}, nil
	}
	wish := guard.Wish{Commands: p.Commands}
	for _, s := range p.Sites {
		wish.Sites = append(wish.Sites, guard.SiteWish{Site: s.Site, Kinds: s.Kinds})
	}
	for _, f := range p.Folders {
		wish.Folders = append(wish.Folders, guard.FolderWish{Path: f.Path, Kinds: f.Kinds})
	}
	request := guard.Request{Session: g.session.ID, Mode: guard.Mode(g.mode), Workspace: g.session.Workspace}
	grants, err := g.engine.guard.Propose(request, wish)
	switch {
	case err != nil:
		return ask.Outcome{Refused: fmt.Sprintf("Nothing was proposed: %v. Mend it and propose again, or go on step by step.", err)}, nil
	case len(grants) == 0:
		return ask.Outcome{Refused: "All of that is allowed already. Do the errand."}, nil
	}
	_, callID := tool.CallOf(ctx)
	asked := event.AgreementAsked{CallID: callID, Goal: guard.Visible(g.engine.redact.Known(p.Goal)), Spend: p.Spend, Iterations: p.Iterations, Why: guard.After(g.journal.taint)}
	texts := make([]string, len(grants))
	for i, grant := range grants {
		asked.Lines = append(asked.Lines, lineOf(i, grant))
		texts[i] = grant.String()
	}
	asked.Missing = strings.Join(texts, ", ")
	a.mu.Lock()
	a.asked = true
	a.mu.Unlock()
	answer, err := g.wait(ctx, clarify.Pending{SessionID: g.session.ID, RunID: g.journal.run.ID, Agreement: &asked})
	if err != nil {
		return ask.Outcome{}, err
	}
	out := ask.Outcome{Allowed: answer.Allow, Missing: asked.Missing, Note: answer.Note, By: answer.By}
	if !answer.Allow {
		a.mu.Lock()
		a.no = true
		a.mu.Unlock()
		return out, nil
	}
	var kept []guard.Grant
	for i, line := range asked.Lines {
		if slices.Contains(answer.Lines, line.ID) {
			kept = append(kept, grants[i])
			out.Agreed = append(out.Agreed, texts[i])
		} else {
			out.Dropped = append(out.Dropped, texts[i])
		}
	}
	return out, a.make(asked, kept)
}

func lineOf(i int, grant guard.Grant) event.AgreementLine {
	return event.AgreementLine{ID: strconv.Itoa(i + 1), Class: string(grant.Class), Object: guard.Visible(grant.Object), Words: grant.Agreed()}
}

// agreedTo keeps to what was proposed: an answer names lines of it, and one
// that leaves none is a no.
func agreedTo(p event.AgreementAsked, a clarify.Answer) clarify.Answer {
	var lines []string
	for _, line := range p.Lines {
		if a.Allow && slices.Contains(a.Lines, line.ID) {
			lines = append(lines, line.ID)
		}
	}
	a.Allow, a.Lines = len(lines) > 0, lines
	return a
}

// refusal says why a run may not propose, or "".
func (a *agreement) refusal() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.no:
		return "The person was asked for an agreement in this run and said no. Do not propose one again. Go on step by step: what needs leave is asked for by itself."
	case a.asked:
		return "An agreement was made for this run already. What it does not cover is asked for by itself, and the person can add it there."
	}
	return ""
}

// make gives what was agreed to the guard, then tells it.
func (a *agreement) make(asked event.AgreementAsked, grants []guard.Grant) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return context.Canceled
	}
	a.made, a.grants, a.from = true, grants, a.gate.journal.begun
	a.told = event.AgreementChanged{Goal: asked.Goal, Spend: asked.Spend, Iterations: asked.Iterations}
	for i, grant := range grants {
		a.told.Lines = append(a.told.Lines, lineOf(i, grant))
	}
	a.gate.engine.guard.Grant(a.gate.session.ID, grants...)
	return a.tell()
}

// tell stores and tells what is agreed now. The caller holds the lock.
func (a *agreement) tell() error {
	now := a.told
	now.Lines = slices.Clone(now.Lines)
	e, run := a.gate.engine, a.gate.journal.run
	return e.store.Write(context.WithoutCancel(e.ctx), func(tx *store.Tx) error { return tx.Emit(run.SessionID, run.ID, now) })
}

// holds reports whether there is an agreement that can be added to.
func (a *agreement) holds() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.made && !a.over
}

// extend adds what the person allowed for the rest of the run.
func (a *agreement) extend(grants []guard.Grant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.made || a.over {
		return
	}
	for _, grant := range grants {
		grant.Until = guard.Run
		a.gate.engine.guard.Grant(a.gate.session.ID, grant)
		line := lineOf(len(a.told.Lines), grant)
		line.Added, line.Used = true, 1 // the call that asked for it
		if i := slices.Index(a.grants, grant); i >= 0 {
			line.ID = a.told.Lines[i].ID // taken back before
			line.Used += a.told.Lines[i].Used
			a.told.Lines[i] = line
			continue
		}
		a.grants, a.told.Lines = append(a.grants, grant), append(a.told.Lines, line)
	}
	a.warn(a.tell())
}

// count notes that a call rested on grants.
func (a *agreement) count(by []guard.Grant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := false
	for i, grant := range a.grants {
		if slices.Contains(by, grant) && !a.told.Lines[i].Revoked {
			a.told.Lines[i].Used++
			changed = true
		}
	}
	if changed {
		a.warn(a.tell())
	}
}

// revoke takes a line back; what it covered asks from now on.
func (a *agreement) revoke(lineID string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.told.Lines, func(l event.AgreementLine) bool { return l.ID == lineID && !l.Revoked })
	if i < 0 || a.over {
		return errNotAgreed
	}
	a.gate.engine.guard.Revoke(a.gate.session.ID, a.grants[i])
	a.told.Lines[i].Revoked = true
	return a.tell()
}

// end closes the agreement: nothing is added to it or taken from it any more.
func (a *agreement) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
}

// limits returns what was agreed on as the most to spend and the last
// iteration; 0 is no limit.
func (a *agreement) limits() (spend float64, iterations, last int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told.Iterations > 0 {
		last = a.from + a.told.Iterations
	}
	return a.told.Spend, a.told.Iterations, last
}

func (a *agreement) warn(err error) {
	if err != nil {
		slog.Warn("what is agreed could not be told", "run", a.gate.journal.run.ID, "err", err)
	}
}

// lapse makes sense of what was agreed before the run was interrupted: an
// agreement is over, so that whoever comes back is asked again; a no stays one.
func (g *gate) lapse(ctx context.Context) error {
	told, err := g.engine.store.Events(ctx, g.session.ID, 0, event.AgreementAnswered{}.EventType(), event.AgreementChanged{}.EventType())
	if err != nil {
		return err
	}
	var last *event.AgreementChanged
	for _, t := range told {
		if t.RunID != g.journal.run.ID {
			continue
		}
		switch data := t.Data.(type) {
		case event.AgreementAnswered:
			g.agreed.no = !data.Allowed
		case event.AgreementChanged:
			last = &data
		}
	}
	if last == nil || last.Over {
		return nil
	}
	last.Over = true
	return g.journal.commit(ctx, func(c *store.Commit) error {
		if err := c.Emit(*last); err != nil {
			return err
		}
		return c.Emit(event.Notice{Text: "What was agreed for this run ended when it was interrupted. It asks again."})
	})
}

// errNotAgreed answers a revocation that comes too late.
var errNotAgreed = fault.New(fault.NotFound, "This is not agreed any more.", "It was taken back before, or its run has ended.")

// RevokeAgreed takes back a line of what is agreed for a run; from now on the
// guard asks again.
func (e *Engine) RevokeAgreed(ctx context.Context, runID, lineID string) error {
	run, err := e.store.Run(ctx, runID)
	if err != nil {
		return notFound(err, "run")
	}
	e.mu.Lock()
	p := e.active[run.SessionID]
	e.mu.Unlock()
	if p == nil || p.runID != runID {
		return errNotAgreed
	}
	p.mu.Lock()
	g := p.gate
	p.mu.Unlock()
	if g == nil {
		return errNotAgreed
	}
	return g.agreed.revoke(lineID)
}
