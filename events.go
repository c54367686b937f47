package main

import (
	"context"
	"time"

	"gofer/backend/event"
)

// Every emit is one script on the web view's own thread, in a queue without
// bounds. So events travel in batches: a window that shows 60 pictures a second
// gains nothing from more.
const (
	batchWait = 16 * time.Millisecond
	batchSize = 64
)

// forward reads the events of all sessions and emits them in order, as lists.
// A list without entries says that the stream broke and was opened again: what
// lies between was missed, and the page loads what it shows anew. forward ends
// when ctx ends.
func forward(ctx context.Context, open func(context.Context) (<-chan event.Envelope, error), emit func([]event.Envelope)) {
	for again := false; ctx.Err() == nil; again = true {
		events, err := open(ctx)
		if err == nil {
			if again {
				emit([]event.Envelope{})
			}
			pump(ctx, events, emit)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// pump emits what comes out of events until it is closed or ctx ends. The
// first event after a pause leaves at once; the ones after it wait their turn.
func pump(ctx context.Context, events <-chan event.Envelope, emit func([]event.Envelope)) {
	var batch []event.Envelope
	var last time.Time
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	flush := func() {
		if len(batch) > 0 {
			emit(batch)
			batch, last = nil, time.Now()
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-events:
			if !open {
				flush()
				return
			}
			batch = append(batch, e)
			if len(batch) >= batchSize || time.Since(last) >= batchWait {
				timer.Stop()
				flush()
			} else if len(batch) == 1 {
				timer.Reset(batchWait - time.Since(last))
			}
		case <-timer.C:
			flush()
		}
	}
}
