package engine

import (
	"context"
	"sync"
)

// slots bound how many runs are at work. A run that waits for a person gives
// its slot back; when it goes on it stands at the head of the queue.
type slots struct {
	mu      sync.Mutex
	size    int
	free    int // below zero while more are at work than the size allows
	waiting []chan struct{}
}

func newSlots(n int) *slots {
	n = max(n, 1)
	return &slots{size: n, free: n}
}

// resize changes how many runs may be at work. Those at work go on.
func (s *slots) resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = max(n, 1)
	s.free += n - s.size
	s.size = n
	for s.free > 0 && len(s.waiting) > 0 {
		s.free--
		s.next()
	}
}

// take waits for a slot; ahead stands before those that wait already.
func (s *slots) take(ctx context.Context, ahead bool) error {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if ahead {
		s.waiting = append([]chan struct{}{turn}, s.waiting...)
	} else {
		s.waiting = append(s.waiting, turn)
	}
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, w := range s.waiting {
			if w == turn {
				s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
				return ctx.Err()
			}
		}
		s.pass() // the turn came at the same moment
		return ctx.Err()
	}
}

// give returns a slot.
func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass()
}

// pass hands a slot to the next in the queue, or puts it back.
func (s *slots) pass() {
	if s.free >= 0 && len(s.waiting) > 0 {
		s.next()
		return
	}
	s.free++
}

func (s *slots) next() {
	close(s.waiting[0])
	s.waiting = s.waiting[1:]
}
