package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"gofer/backend/fault"
)

// maxCalls bounds what one client may have going on at once.
const maxCalls = 256

// Raise is what a second window hands to the first.
type Raise struct {
	Args []string `json:"args"` // its arguments
	Dir  string   `json:"dir"`  // the folder it was started in
}

// server answers clients. It accepts them before the engine is ready; their
// calls wait.
type server struct {
	hello   Hello
	onRaise func(Raise)

	ctx    context.Context // ends when the server closes; parent of every call
	cancel context.CancelFunc
	ready  chan struct{} // closed once service or failure is set

	service Service
	failure error

	mu      sync.Mutex
	clients map[*peer]struct{}
	left    chan struct{} // closed, and made anew, when a client leaves
	closing bool
	wg      sync.WaitGroup
}

func newServer(hello Hello, onRaise func(Raise)) *server {
	ctx, cancel := context.WithCancel(context.Background())
	return &server{hello: hello, onRaise: onRaise, ctx: ctx, cancel: cancel, ready: make(chan struct{}), clients: map[*peer]struct{}{}, left: make(chan struct{})}
}

// serve accepts clients until the listener closes.
func (s *server) serve(ln net.Listener) {
	s.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				select { // such as too many open files: try again, not at once
				case <-s.ctx.Done():
					return
				case <-time.After(50 * time.Millisecond):
					continue
				}
			}
			s.admit(conn)
		}
	})
}

func (s *server) admit(conn net.Conn) {
	if err := sameUser(conn); err != nil {
		_ = conn.Close()
		return
	}
	p := &peer{server: s, conn: conn, out: lineWriter{w: conn}, calls: map[uint64]context.CancelFunc{}, callers: map[string]bool{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		_ = conn.Close()
		return
	}
	s.clients[p] = struct{}{}
	s.wg.Go(func() {
		p.run()
		s.mu.Lock()
		delete(s.clients, p)
		close(s.left)
		s.left = make(chan struct{})
		s.mu.Unlock()
	})
}

// start lets waiting calls go on with the engine, or with why there is none.
func (s *server) start(service Service, failure error) {
	s.service, s.failure = service, failure
	close(s.ready)
}

// linger waits until no client is connected.
func (s *server) linger(o Options) {
	if o.Quit == nil {
		return
	}
	for told := false; ; told = true {
		s.mu.Lock()
		n := len(s.clients)
		left := s.left
		s.mu.Unlock()
		if n == 0 {
			return
		}
		if !told && o.Lingering != nil {
			o.Lingering(n)
		}
		select {
		case <-left:
		case <-o.Quit:
			return
		}
	}
}

// close tells the clients goodbye, ends their calls, and waits for them.
func (s *server) close(bye *fault.Fault) {
	s.mu.Lock()
	s.closing = true
	for p := range s.clients {
		// A client that does not read must not hold up the end.
		_ = p.conn.SetWriteDeadline(time.Now().Add(time.Second))
		_ = p.out.write(reply{Bye: bye})
		_ = p.conn.Close()
	}
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
}

// peer is one connected client.
type peer struct {
	server *server
	conn   net.Conn
	out    lineWriter

	mu      sync.Mutex
	calls   map[uint64]context.CancelFunc
	callers map[string]bool // outside callers opened here; closed with the connection
	wg      sync.WaitGroup
}

func (p *peer) run() {
	ctx, cancel := context.WithCancel(p.server.ctx)
	defer p.leave()
	defer p.wg.Wait()
	defer cancel()
	defer p.conn.Close()
	if err := p.out.write(reply{Hello: &p.server.hello}); err != nil {
		return
	}
	in := bufio.NewReaderSize(p.conn, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil {
			return // not one of ours
		}
		if r.Cancel {
			p.mu.Lock()
			if stop, ok := p.calls[r.ID]; ok {
				stop()
			}
			p.mu.Unlock()
			continue
		}
		p.begin(ctx, r)
	}
}

// begin runs a call beside the others.
func (p *peer) begin(ctx context.Context, r request) {
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	_, taken := p.calls[r.ID]
	crowded := len(p.calls) >= maxCalls
	if !taken && !crowded {
		p.calls[r.ID] = cancel
	}
	p.mu.Unlock()
	if taken || crowded {
		cancel()
		p.refuse(r.ID, fault.New(fault.Busy, "Too many requests are going on at once.", "Wait for some of them to end."))
		return
	}
	p.wg.Go(func() {
		defer func() {
			p.mu.Lock()
			delete(p.calls, r.ID)
			p.mu.Unlock()
			cancel()
		}()
		p.answer(ctx, r)
	})
}

func (p *peer) answer(ctx context.Context, r request) {
	if r.Method == "Raise" { // needs no engine
		p.raise(r)
		return
	}
	select {
	case <-p.server.ready:
	case <-ctx.Done():
		p.refuse(r.ID, ctx.Err())
		return
	}
	if err := p.server.failure; err != nil {
		p.refuse(r.ID, err)
		return
	}
	if r.Method == "Events" {
		p.stream(ctx, r)
		return
	}
	call, ok := methods[r.Method]
	if !ok {
		p.refuse(r.ID, fault.New(fault.Invalid, fmt.Sprintf("The running Gofer does not know %q.", r.Method), "Use the same version of Gofer everywhere."))
		return
	}
	result, err := call(ctx, p.server.service, r)
	if err != nil {
		p.refuse(r.ID, err)
		return
	}
	p.track(r, result)
	raw, err := json.Marshal(result)
	if err == nil {
		err = p.out.write(reply{ID: r.ID, Result: raw})
	}
	if err != nil {
		p.refuse(r.ID, fault.Wrap(fault.Internal, fmt.Sprintf("The answer to %s could not be sent: %v.", r.Method, err), "Ask for less at once.", err))
	}
}

func (p *peer) refuse(id uint64, err error) {
	_ = p.out.write(reply{ID: id, Error: fault.From(err)}) // a client that is gone needs no answer
}

// stream sends the events of a call until it is cancelled or they end. The
// first line, an empty result, says that none will be missed from here on.
func (p *peer) stream(ctx context.Context, r request) {
	events, err := p.server.service.Events(ctx, r.A)
	if err != nil {
		p.refuse(r.ID, err)
		return
	}
	if p.out.write(reply{ID: r.ID, Result: json.RawMessage("null")}) != nil {
		return
	}
	for e := range events {
		raw, err := json.Marshal(e)
		if err != nil {
			continue // the gap in seq makes the client load again
		}
		if ctx.Err() != nil || p.out.write(reply{ID: r.ID, Event: raw}) != nil {
			break
		}
	}
	_ = p.out.write(reply{ID: r.ID, End: true})
}

func (p *peer) raise(r request) {
	raise, err := body[Raise](r)
	if err == nil && p.server.onRaise == nil {
		err = noWindow(p.server.hello)
	}
	if err != nil {
		p.refuse(r.ID, err)
		return
	}
	p.server.onRaise(raise)
	_ = p.out.write(reply{ID: r.ID, Result: json.RawMessage("null")})
}

// track remembers the outside callers of this client.
func (p *peer) track(r request, result any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Method {
	case "OpenCaller":
		if id, ok := result.(string); ok {
			p.callers[id] = true
		}
	case "CloseCaller":
		delete(p.callers, r.A)
	}
}

// leave closes what a client left open, whether it said goodbye or was killed.
func (p *peer) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.server.ctx), 5*time.Second)
	defer cancel()
	for id := range p.callers {
		_ = p.server.service.CloseCaller(ctx, id)
	}
}

func noWindow(h Hello) *fault.Fault {
	return fault.New(fault.Busy, fmt.Sprintf("A Gofer command in a terminal (process %d) is using the data folder.", h.PID),
		"The window opens when that command has ended.")
}
