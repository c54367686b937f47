// Package clarify keeps what runs wait for: questions and approvals. One asks
// and waits, another answers, and each is settled exactly once: by an answer,
// by its default, by running out of time, or by being dismissed.
//
// It stores nothing and tells nobody itself. Its callbacks do, in this order
// for each: OnAsked has returned before anybody can settle it, and OnSettled
// has returned before the one who asked goes on.
package clarify

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/id"
)

// Pending is an open question or approval; exactly one of the two is set.
type Pending struct {
	ID        string // made when empty; the payload carries it as well
	SessionID string
	RunID     string
	Question  *event.ClarificationAsked
	Approval  *event.ApprovalAsked
	Since     time.Time // set by Ask
}

// Answer is what somebody says to it.
type Answer struct {
	Text    string // question: the answer, or the value of an option
	Decide  bool   // question: let the agent decide
	Skip    bool   // question: go on without an answer
	Dismiss bool   // stop the run instead
	Allow   bool   // approval
	Scope   string // approval: once (default) or session
	Note    string // approval: why not, told to the model
	By      string // person by default; nobody where nobody can be asked
}

// State is how a pending matter ended.
type State string

// The ends there are.
const (
	Answered  State = "answered"
	Expired   State = "expired"   // time ran out and there was no default
	Dismissed State = "dismissed" // nobody waits for it any more
)

// Outcome is how one was settled. By is person, default, nobody, agent (the
// person lets it decide) or skip.
type Outcome struct {
	State   State
	Text    string
	By      string
	Allowed bool
	Scope   string
	Note    string
}

// Registry keeps what is pending. The zero value works.
type Registry struct {
	Now       func() time.Time             // nil takes the clock
	OnAsked   func(Pending) error          // an error withdraws it: Ask returns it
	OnSettled func(Pending, Outcome) error // an error keeps it pending, and Answer returns it
	Expire    time.Duration                // how long an undated question stays open; 0 is for ever
	mu        sync.Mutex
	open      map[string]*wait
}

// wait is one pending matter. Busy serialises those who want to settle it.
type wait struct {
	Pending
	busy    chan struct{} // holds one token while nobody is settling it
	settled chan Outcome  // gets the one outcome
}

// Ask puts a matter and waits until it is settled. When ctx ends first it is
// dismissed and the context's error is returned. A question with a waiting
// time takes its default after that, or expires when it has none.
func (r *Registry) Ask(ctx context.Context, p Pending) (Outcome, error) {
	if (p.Question == nil) == (p.Approval == nil) {
		return Outcome{}, fmt.Errorf("ask: neither or both of question and approval given")
	}
	if p.ID == "" {
		p.ID = id.New()
	}
	if p.Question != nil {
		q := *p.Question
		q.ID, p.Question = p.ID, &q
	} else {
		a := *p.Approval
		a.ID, p.Approval = p.ID, &a
	}
	p.Since = r.now()
	w := &wait{Pending: p, busy: make(chan struct{}, 1), settled: make(chan Outcome, 1)}
	if !r.add(w) {
		return Outcome{}, fmt.Errorf("ask %s: it is pending already", p.ID)
	}
	if r.OnAsked != nil {
		if err := r.OnAsked(p); err != nil {
			r.remove(p.ID)
			w.busy <- struct{}{} // whoever tries to settle it learns that it is gone
			return Outcome{}, fmt.Errorf("ask: %w", err)
		}
	}
	w.busy <- struct{}{} // from here on it can be settled

	late, outcome := r.limit(p)
	var timer <-chan time.Time
	if late > 0 {
		t := time.NewTimer(late)
		defer t.Stop()
		timer = t.C
	}
	for {
		select {
		case o := <-w.settled:
			return o, nil
		case <-ctx.Done():
			if r.settle(w, Outcome{State: Dismissed}) != nil {
				select {
				case o := <-w.settled:
					return o, nil // somebody else was first
				default:
					r.remove(p.ID) // it cannot be stored, and nobody waits for it
				}
			}
			return Outcome{State: Dismissed}, ctx.Err()
		case <-timer:
			timer = nil
			if err := r.settle(w, outcome); err != nil && r.find(p.ID) == w {
				r.remove(p.ID)
				return Outcome{}, fmt.Errorf("settle %s: %w", p.ID, err)
			}
		}
	}
}

// limit says after which time a matter settles itself, and how.
func (r *Registry) limit(p Pending) (time.Duration, Outcome) {
	if p.Question == nil {
		return 0, Outcome{} // an approval never lapses
	}
	q := p.Question.Question
	late := time.Duration(q.WaitMS) * time.Millisecond
	if late <= 0 {
		late = r.Expire
	}
	if q.Default != "" {
		return late, Outcome{State: Answered, Text: q.Default, By: "default"}
	}
	return late, Outcome{State: Expired}
}

// Answer settles a pending matter. When it has been settled already, or is
// not known, the fault says so.
func (r *Registry) Answer(ctx context.Context, id string, a Answer) error {
	w := r.find(id)
	if w == nil {
		return gone()
	}
	o, err := w.outcome(a)
	if err != nil {
		return err
	}
	return r.settleIn(ctx, w, o)
}

// Dismiss settles all that is pending in a session, such as when its run is
// stopped or a new message comes, and says how many there were.
func (r *Registry) Dismiss(session string) int {
	n := 0
	for _, p := range r.List(session) {
		if w := r.find(p.ID); w != nil && r.settle(w, Outcome{State: Dismissed}) == nil {
			n++
		}
	}
	return n
}

// List returns what is pending in a session, oldest first; "" lists all.
func (r *Registry) List(session string) []Pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []Pending{}
	for _, w := range r.open {
		if session == "" || w.SessionID == session {
			list = append(list, w.Pending)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		if !list[i].Since.Equal(list[j].Since) {
			return list[i].Since.Before(list[j].Since)
		}
		return list[i].ID < list[j].ID
	})
	return list
}

// Find returns one pending matter.
func (r *Registry) Find(id string) (Pending, bool) {
	if w := r.find(id); w != nil {
		return w.Pending, true
	}
	return Pending{}, false
}

// outcome checks an answer against what was asked.
func (w *wait) outcome(a Answer) (Outcome, error) {
	by := a.By
	if by == "" {
		by = "person"
	}
	if a.Dismiss {
		return Outcome{State: Dismissed, By: by}, nil
	}
	if w.Approval != nil {
		o := Outcome{State: Answered, Allowed: a.Allow, Note: a.Note, By: by}
		if !a.Allow {
			return o, nil
		}
		switch a.Scope {
		case "", "once":
			o.Scope = "once"
		case "session":
			if w.Approval.Session == "" {
				return Outcome{}, fault.New(fault.Invalid, "This cannot be allowed for the whole session.", "Allow it once or deny it.")
			}
			o.Scope = "session"
		default:
			return Outcome{}, fault.New(fault.Invalid, fmt.Sprintf("An approval cannot hold for %q.", a.Scope), "Say once or session.")
		}
		if by != "person" {
			return Outcome{}, fault.New(fault.Denied, "Only a person can allow this.", "Answer it in the window or in a terminal.")
		}
		return o, nil
	}
	switch {
	case by == "nobody":
		return Outcome{State: Answered, By: by}, nil
	case a.Decide:
		return Outcome{State: Answered, By: "agent"}, nil
	case a.Skip:
		return Outcome{State: Answered, By: "skip"}, nil
	case a.Text == "":
		return Outcome{}, fault.New(fault.Invalid, "The answer is empty.", "Write an answer, skip the question, or let the agent decide.")
	}
	return Outcome{State: Answered, Text: a.Text, By: by}, nil
}

func (r *Registry) settle(w *wait, o Outcome) error {
	return r.settleIn(context.Background(), w, o)
}

// settleIn ends a matter with an outcome, unless it has ended already.
func (r *Registry) settleIn(ctx context.Context, w *wait, o Outcome) error {
	select {
	case <-w.busy:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.find(w.ID) != w {
		w.busy <- struct{}{}
		return gone()
	}
	if r.OnSettled != nil {
		if err := r.OnSettled(w.Pending, o); err != nil {
			w.busy <- struct{}{}
			return err
		}
	}
	r.remove(w.ID)
	w.settled <- o
	w.busy <- struct{}{}
	return nil
}

func gone() error {
	return fault.New(fault.NotFound, "This was answered already or is no longer asked.", "Look at the session again.")
}

func (r *Registry) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Registry) add(w *wait) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]*wait{}
	}
	if _, there := r.open[w.ID]; there {
		return false
	}
	r.open[w.ID] = w
	return true
}

func (r *Registry) remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, id)
}

func (r *Registry) find(id string) *wait {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[id]
}
