package engine

import (
	"context"
	"sync"
)

// slots bound how many runs are at work. A run that waits for a person gives
// its slot back; when it goes on it stands at the head of the queue.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting []chan struct{}
}

func newSlots(n int) *slots { return &slots{free: max(n, 1)} }

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

func (s *slots) pass() {
	if len(s.waiting) > 0 {
		close(s.waiting[0])
		s.waiting = s.waiting[1:]
		return
	}
	s.free++
}
