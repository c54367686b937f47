// Package route is an ordered fallback that is itself a Model. Each model is
// tried, once more after a short wait when that may help, and the next one is
// taken when it does not. It promises that a reply is never mixed of two
// attempts: OnRestart comes before anything of a further attempt.
package route

import (
	"context"
	"errors"
	"time"

	"gofer/backend/llm"
)

// The waits before a retry.
const (
	DefaultWait = time.Second
	MaxWait     = time.Minute // however long a server asks for
)

// Leg is one model of a route.
type Leg struct {
	Name  string // provider and model, for people
	Model llm.Model
}

// Route tries its legs in order. Set the callbacks before the first Stream;
// any may be nil. They are called from the goroutine of Stream.
type Route struct {
	Legs []Leg

	OnRetry   func(attempt int, wait time.Duration, cause *llm.Error) // attempt counts from 2
	OnSwitch  func(from, to string, cause *llm.Error)
	OnRestart func() // what was emitted so far is void

	Wait func(ctx context.Context, d time.Duration) error // nil sleeps
}

var _ llm.Model = (*Route)(nil)

// New makes a route of legs.
func New(legs ...Leg) *Route { return &Route{Legs: legs} }

// Stream returns the first reply that succeeds. On failure it returns what the
// last attempt had received and its error.
func (r *Route) Stream(ctx context.Context, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	reply := llm.Reply{}
	var err error = &llm.Error{Kind: llm.BadRequest, Message: "No model is set up.", Hint: "Add a provider in the settings."}
	for i, leg := range r.Legs {
		if i > 0 {
			if !elsewhere(err) {
				return reply, err
			}
			if r.OnSwitch != nil {
				r.OnSwitch(r.Legs[i-1].Name, leg.Name, asError(err))
			}
			r.restart()
		}
		if reply, err = r.try(ctx, leg.Model, req, emit); err == nil {
			return reply, nil
		}
	}
	return reply, err
}

// try asks one model, and once more when trying again may help.
func (r *Route) try(ctx context.Context, m llm.Model, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	reply, err := m.Stream(ctx, req, emit)
	cause := asError(err)
	if cause == nil || !cause.Retryable || ctx.Err() != nil {
		return reply, err
	}
	wait := min(max(DefaultWait, cause.RetryAfter), MaxWait)
	if r.OnRetry != nil {
		r.OnRetry(2, wait, cause)
	}
	if r.wait(ctx, wait) != nil {
		return reply, &llm.Error{Kind: llm.Cancelled, Message: "The request was stopped.", Cause: ctx.Err()}
	}
	r.restart()
	return m.Stream(ctx, req, emit)
}

func (r *Route) restart() {
	if r.OnRestart != nil {
		r.OnRestart()
	}
}

func (r *Route) wait(ctx context.Context, d time.Duration) error {
	if r.Wait != nil {
		return r.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// elsewhere reports whether another model may succeed where this one failed.
// A conversation that is too long is shortened instead.
func elsewhere(err error) bool {
	e := asError(err)
	return e != nil && e.Kind != llm.Cancelled && e.Kind != llm.ContextLength
}

func asError(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
