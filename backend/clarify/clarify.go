// Package clarify holds what runs wait for a person to settle: questions,
// approvals and agreements. Each is settled exactly once, by an answer, by its default when
// the time is up, or by being put aside. Silence is never consent: an approval
// and an agreement have no default and no end of their own.
package clarify

import (
	"context"
	"sort"
	"sync"
	"time"

	"gofer/backend/event"
	"gofer/backend/id"
)

// Pending is something a run waits for; exactly one of Question, Approval and
// Agreement is set.
type Pending struct {
	ID        string // given by Open
	SessionID string
	RunID     string
	Since     int64 // Unix milliseconds, given by Open
	Question  *event.ClarificationAsked
	Approval  *event.ApprovalAsked
	Agreement *event.AgreementAsked
}

// Answer settles what is pending.
type Answer struct {
	Text  string   // of a question
	Allow bool     // of an approval or an agreement
	Scope string   // of an approval: once, run or session
	Lines []string // of an agreement: those that are agreed to
	Note  string   // why not
	By    string   // person, default, agent, skip, nobody, dismissed
}

// Dismissed is the By of an answer that nobody gave: the question was put aside.
const Dismissed = "dismissed"

// Registry is the list of what is pending. It is safe for use by many goroutines.
type Registry struct {
	now  func() time.Time
	mu   sync.Mutex
	open map[string]*Ticket
}

// Ticket is one pending thing and the place where its answer arrives.
type Ticket struct {
	Pending
	registry *Registry
	answer   chan Answer // holds one
}

// New makes an empty registry; now tells the time.
func New(now func() time.Time) *Registry {
	return &Registry{now: now, open: map[string]*Ticket{}}
}

// Open adds something to wait for.
func (r *Registry) Open(p Pending) *Ticket {
	p.ID, p.Since = id.New(), r.now().UnixMilli()
	if p.Question != nil {
		q := *p.Question
		q.ID, p.Question = p.ID, &q
	}
	if p.Approval != nil {
		a := *p.Approval
		a.ID, p.Approval = p.ID, &a
	}
	if p.Agreement != nil {
		a := *p.Agreement
		a.ID, p.Agreement = p.ID, &a
	}
	t := &Ticket{Pending: p, registry: r, answer: make(chan Answer, 1)}
	r.mu.Lock()
	r.open[p.ID] = t
	r.mu.Unlock()
	return t
}

// Wait returns the answer. A question with a default and a time takes the
// default when the time is up. When ctx ends first, the ticket is closed.
func (t *Ticket) Wait(ctx context.Context) (Answer, error) {
	var late <-chan time.Time
	if q := t.Question; q != nil && q.Question.WaitMS > 0 {
		timer := time.NewTimer(time.Duration(q.Question.WaitMS) * time.Millisecond)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case a := <-t.answer:
		return a, nil
	case <-late:
		if t.registry.take(t.ID) == nil {
			return <-t.answer, nil // an answer came at the same moment
		}
		return Answer{Text: t.Question.Question.Default, By: "default"}, nil
	case <-ctx.Done():
		if t.registry.take(t.ID) == nil {
			return <-t.answer, nil
		}
		return Answer{}, ctx.Err()
	}
}

// Close takes the ticket off the list without an answer.
func (t *Ticket) Close() { t.registry.take(t.ID) }

// Answer settles a pending thing; it reports whether it was still open.
func (r *Registry) Answer(ticketID string, a Answer) bool {
	t := r.take(ticketID)
	if t == nil {
		return false
	}
	t.answer <- a
	return true
}

// Dismiss puts everything aside that a session waits for.
func (r *Registry) Dismiss(sessionID string) {
	for _, p := range r.List(sessionID) {
		r.Answer(p.ID, Answer{By: Dismissed})
	}
}

// Get returns a pending thing.
func (r *Registry) Get(ticketID string) (Pending, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.open[ticketID]
	if !ok {
		return Pending{}, false
	}
	return t.Pending, true
}

// List returns what a session waits for, oldest first.
func (r *Registry) List(sessionID string) []Pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Pending
	for _, t := range r.open {
		if t.SessionID == sessionID {
			out = append(out, t.Pending)
		}
	}
	sort.Slice(out, func(a, b int) bool { return out[a].ID < out[b].ID })
	return out
}

func (r *Registry) take(ticketID string) *Ticket {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.open[ticketID]
	delete(r.open, ticketID)
	return t
}
