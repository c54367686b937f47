package host

import (
	"context"
	"sync"

	"gofer/backend/event"
)

// stream holds the events of one call until they are read. It never makes the
// connection wait, because answers to other calls come over it too.
type stream struct {
	id  uint64
	out chan event.Envelope

	mu    sync.Mutex
	queue []event.Envelope
	ended bool
	wake  chan struct{}
}

func newStream() *stream {
	return &stream{out: make(chan event.Envelope), wake: make(chan struct{}, 1)}
}

func (s *stream) push(e event.Envelope) {
	s.mu.Lock()
	if !s.ended {
		s.queue = append(s.queue, e)
	}
	s.mu.Unlock()
	s.poke()
}

// finish says that no more will come; what is there is still read.
func (s *stream) finish() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.poke()
}

func (s *stream) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pump hands the events out until they end or ctx does, which leave is told.
func (s *stream) pump(ctx context.Context, leave func()) {
	defer close(s.out)
	for {
		s.mu.Lock()
		batch, ended := s.queue, s.ended
		s.queue = nil
		s.mu.Unlock()
		for _, e := range batch {
			select {
			case s.out <- e:
			case <-ctx.Done():
				leave()
				return
			}
		}
		if ended && len(batch) == 0 {
			return
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			leave()
			return
		}
	}
}
