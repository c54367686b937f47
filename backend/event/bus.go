package event

import (
	"slices"
	"sync"
)

// Bus hands events to its subscribers in the order they were published. It
// never blocks the publisher: each subscriber has an unbounded queue, in which
// deltas of the same message are merged while they wait.
type Bus struct {
	Hide func(any) any // what is told of a payload; nil tells it as it is

	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// Subscription is one reader of a bus.
type Subscription struct {
	bus     *Bus
	session string // "" reads every session
	mu      sync.Mutex
	queue   []Envelope
	wake    chan struct{}
	out     chan Envelope
	done    chan struct{}
	once    sync.Once
}

// Publish hands events to every subscriber, in order.
func (b *Bus) Publish(events ...Envelope) {
	if b.Hide != nil {
		events = slices.Clone(events)
		for i := range events {
			events[i].Data = b.Hide(events[i].Data).(Data)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		s.push(events)
	}
}

// Subscribe reads the events of one session, or of all when sessionID is "".
// Close the subscription when done.
func (b *Bus) Subscribe(sessionID string) *Subscription {
	s := &Subscription{bus: b, session: sessionID, wake: make(chan struct{}, 1), out: make(chan Envelope), done: make(chan struct{})}
	b.mu.Lock()
	if b.subs == nil {
		b.subs = map[*Subscription]struct{}{}
	}
	b.subs[s] = struct{}{}
	b.mu.Unlock()
	go s.pump()
	return s
}

// C is where the events come out. It is closed after Close.
func (s *Subscription) C() <-chan Envelope { return s.out }

// Close ends the subscription; waiting events are dropped.
func (s *Subscription) Close() {
	s.once.Do(func() {
		s.bus.mu.Lock()
		delete(s.bus.subs, s)
		s.bus.mu.Unlock()
		close(s.done)
	})
}

func (s *Subscription) push(events []Envelope) {
	s.mu.Lock()
	for _, e := range events {
		if s.session != "" && e.SessionID != s.session {
			continue
		}
		if n := len(s.queue); n > 0 && merge(&s.queue[n-1], e) {
			continue
		}
		s.queue = append(s.queue, e)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Subscription) pump() {
	defer close(s.out)
	for {
		s.mu.Lock()
		batch := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, e := range batch {
			select {
			case s.out <- e:
			case <-s.done:
				return
			}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-s.wake:
		case <-s.done:
			return
		}
	}
}

// mergeLimit bounds how long merged text grows, in bytes.
const mergeLimit = 64 << 10

// merge adds a delta to the one before it when both belong to the same text.
func merge(last *Envelope, e Envelope) bool {
	switch d := e.Data.(type) {
	case MessageDelta:
		p, ok := last.Data.(MessageDelta)
		if !ok || p.MessageID != d.MessageID || p.Kind != d.Kind || p.Call != d.Call || len(p.Text) > mergeLimit {
			return false
		}
		p.Text += d.Text
		if d.Name != "" {
			p.Name = d.Name
		}
		last.Data = p
		return true
	case ToolProgress:
		p, ok := last.Data.(ToolProgress)
		if !ok || p.CallID != d.CallID || len(p.Text) > mergeLimit {
			return false
		}
		p.Text += d.Text
		last.Data = p
		return true
	}
	return false
}
