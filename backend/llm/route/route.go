// Package route is an ordered fallback that is itself a Model. Each model is
// tried, once or twice more after a wait when that may help, and the next one
// is taken when it does not. It promises that a reply is never mixed of two
// attempts: OnRestart comes before anything of a further attempt.
package route

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// The waits before a retry, and the one after which a person is told.
const (
	DefaultWait  = time.Second
	MaxWait      = time.Minute // a server that asks for more is left alone
	DefaultQuiet = 15 * time.Second
)

// How often a call is tried again: more often when nothing of a reply came.
const (
	retriesOfNothing = 2
	retriesOfAPiece  = 1
)

// Leg is one model of a route.
type Leg struct {
	Key   string // names it among all legs, for Rests
	Name  string // provider and model, for people
	Model llm.Model
	Facts llm.Facts
	// MaxOutput bounds the tokens of a reply here; 0 sends no limit of its own.
	MaxOutput int
}

// Route tries its legs in order. Set its fields before the first Stream; any
// callback may be nil. They are called from the goroutine of Stream.
type Route struct {
	Name string // for the sentence when all fail
	Legs []Leg

	Rests *Rests // shared by routes; nil rests nobody

	OnRetry   func(attempt int, wait time.Duration, cause *llm.Error) // attempt counts from 2
	OnSwitch  func(from, to Leg, cause *llm.Error)                    // cause is nil when an earlier model is taken again
	OnRestart func()                                                  // what was emitted so far is void
	OnQuiet   func(leg Leg, silence time.Duration)                    // nothing was said for so long

	Quiet  time.Duration                                    // 0 takes DefaultQuiet
	Wait   func(ctx context.Context, d time.Duration) error // nil sleeps
	Jitter func() float64                                   // 0 to 1; nil takes chance

	at int // leg that was tried last
}

var _ llm.Model = (*Route)(nil)

// New makes a route of legs.
func New(legs ...Leg) *Route { return &Route{Legs: legs} }

// Stream returns the first reply that succeeds, with its cost. On failure it
// returns what the last attempt had received and its error; when several
// models failed, one error with the reason of each.
func (r *Route) Stream(ctx context.Context, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	if len(r.Legs) == 0 {
		return llm.Reply{}, &llm.Error{Kind: llm.BadRequest, Message: "No model is set up.", Hint: "Add a provider in the settings."}
	}
	var reply llm.Reply
	var err error
	var failed []llm.Reason
	size := llm.Estimate(req)
	for _, i := range r.order(size) {
		if len(failed) > 0 && !r.helps(i, failed, size) {
			continue
		}
		r.move(i, failed, size)
		leg := r.Legs[i]
		if reply, err = r.try(ctx, leg, req, emit); err == nil {
			r.Rests.end(leg.Key)
			return counted(reply, req, leg), nil
		}
		cause := asError(err)
		if cause == nil || cause.Kind == llm.Cancelled {
			return reply, err
		}
		failed = append(failed, llm.Reason{Model: leg.Name, Err: cause})
		r.Rests.begin(leg.Key, cause)
	}
	return reply, r.allFailed(failed)
}

// order lists the legs to try: those that rest come last, and so do those
// whose window is known to be too small.
func (r *Route) order(size int) []int {
	fit, small, resting := []int{}, []int{}, []int{}
	for i, leg := range r.Legs {
		switch {
		case leg.Facts.Input > 0 && size > leg.Facts.Input:
			small = append(small, i)
		case r.Rests.why(leg.Key) != nil:
			resting = append(resting, i)
		default:
			fit = append(fit, i)
		}
	}
	return slices.Concat(fit, resting, small)
}

// helps reports whether a leg may succeed where others failed. A conversation
// that was too long for one is tried only with a model that takes more; else
// it is for the caller to shorten.
func (r *Route) helps(i int, failed []llm.Reason, size int) bool {
	last := failed[len(failed)-1]
	if last.Err.Kind != llm.ContextLength {
		return true
	}
	window := 0
	for _, leg := range r.Legs {
		if leg.Name == last.Model {
			window = leg.Facts.Input
		}
	}
	mine := r.Legs[i].Facts.Input
	return mine > window && mine > size
}

// move says that another leg is tried than the time before, and why.
func (r *Route) move(to int, failed []llm.Reason, size int) {
	from := r.Legs[r.at]
	if to == r.at {
		return
	}
	r.at = to
	cause := r.Rests.why(from.Key)
	switch {
	case len(failed) > 0:
		cause = failed[len(failed)-1].Err
	case from.Facts.Input > 0 && size > from.Facts.Input:
		cause = &llm.Error{Kind: llm.ContextLength, Message: "The conversation is too long for " + from.Name + "."}
	}
	if r.OnSwitch != nil {
		r.OnSwitch(from, r.Legs[to], cause)
	}
	if len(failed) > 0 {
		r.restart()
	}
}

// try asks one model, and again when trying again may help.
func (r *Route) try(ctx context.Context, leg Leg, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	for attempt := 1; ; attempt++ {
		said := false
		reply, err := r.listen(ctx, leg, req, func(d llm.Delta) { said = true; emit(d) })
		cause := asError(err)
		retries := retriesOfNothing
		if said {
			retries = retriesOfAPiece
		}
		if cause == nil || !cause.Retryable || ctx.Err() != nil || attempt > retries || cause.RetryAfter > MaxWait {
			return reply, err
		}
		wait := max(cause.RetryAfter, r.backOff(attempt, cause))
		if r.OnRetry != nil {
			r.OnRetry(attempt+1, wait, cause)
		}
		if r.wait(ctx, wait) != nil {
			return reply, &llm.Error{Kind: llm.Cancelled, Message: "The request was stopped.", Cause: ctx.Err()}
		}
		r.restart()
	}
}

// backOff is the wait that nobody asked for: a second, longer each time when
// the server is busy, and not the same for all who wait.
func (r *Route) backOff(attempt int, cause *llm.Error) time.Duration {
	wait := DefaultWait
	if cause.Kind != llm.RateLimit && cause.Kind != llm.Overloaded {
		return wait
	}
	wait *= time.Duration(1 << (attempt - 1))
	if cause.RetryAfter > 0 {
		return wait
	}
	jitter := rand.Float64
	if r.Jitter != nil {
		jitter = r.Jitter
	}
	return wait + time.Duration(jitter()*float64(wait)/4)
}

// listen asks one model once and tells when it keeps silent. The model speaks
// from a goroutine of its own, which has ended when listen returns.
func (r *Route) listen(ctx context.Context, leg Leg, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	if leg.MaxOutput > 0 && (req.MaxTokens == 0 || req.MaxTokens > leg.MaxOutput) {
		req.MaxTokens = leg.MaxOutput
	}
	if r.OnQuiet == nil {
		return leg.Model.Stream(ctx, req, emit)
	}
	quiet := r.Quiet
	if quiet == 0 {
		quiet = DefaultQuiet
	}
	pieces, ended := make(chan llm.Delta), make(chan end, 1)
	go func() {
		var e end
		defer func() {
			e.panicked = recover()
			ended <- e
		}()
		e.reply, e.err = leg.Model.Stream(ctx, req, func(d llm.Delta) { pieces <- d })
	}()
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		select {
		case d := <-pieces:
			emit(d)
			timer.Reset(quiet)
		case <-timer.C:
			r.OnQuiet(leg, quiet)
		case e := <-ended:
			if e.panicked != nil {
				panic(e.panicked) // where the run's owner can catch it
			}
			return e.reply, e.err
		}
	}
}

// end is what came of a call.
type end struct {
	reply    llm.Reply
	err      error
	panicked any
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

// allFailed makes one error of all. The kind is that of the last.
func (r *Route) allFailed(failed []llm.Reason) error {
	last := failed[len(failed)-1].Err
	if len(failed) == 1 {
		return last
	}
	name := r.Name
	if name == "" {
		name = "this route"
	}
	out := &llm.Error{
		Kind: last.Kind, Status: last.Status, Reasons: failed, Cause: last,
		Message: fmt.Sprintf("No model in %s answered.", name), Hint: "Look at the reason of each model, then try again or change the route.",
	}
	for _, f := range failed {
		out.Retryable = out.Retryable || f.Err.Retryable
	}
	return out
}

// counted adds what a reply cost. Where the server counted nothing, the tokens
// are a guess.
func counted(reply llm.Reply, req llm.Request, leg Leg) llm.Reply {
	usage := tokens(reply, req)
	usage.Cost = leg.Facts.Price.Cost(usage)
	reply.Usage = &usage
	return reply
}

func asError(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

func tokens(reply llm.Reply, req llm.Request) chat.Usage {
	if reply.Usage != nil {
		return *reply.Usage
	}
	return chat.Usage{Input: llm.Estimate(req), Output: llm.EstimateReply(reply), Estimated: true}
}
