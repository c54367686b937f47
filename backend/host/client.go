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

	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/home"
)

// ErrNoHost says that nobody serves the home.
var ErrNoHost = errors.New("no running Gofer")

// helloLimit is how long a host may take to greet. It greets before it does
// anything else, so one that does not is stuck.
const helloLimit = 5 * time.Second

// Client is the Service of a host in another process.
type Client struct {
	conn  net.Conn
	hello Hello
	out   lineWriter
	done  chan struct{} // closed when the connection has ended

	mu      sync.Mutex
	last    uint64
	calls   map[uint64]chan reply
	streams map[uint64]*stream
	gone    *fault.Fault // why it has ended
}

// Dial connects to the host of a home. Without one the error wraps ErrNoHost.
func Dial(ctx context.Context, h *home.Home) (*Client, error) {
	var addresses []string
	said, ok := h.Host()
	if ok {
		addresses = append(addresses, said.Address)
	}
	if own, err := h.Address(); err == nil && own != said.Address {
		addresses = append(addresses, own)
	}
	for _, address := range addresses {
		conn, err := dial(ctx, address)
		if err != nil {
			continue
		}
		c, err := greet(ctx, conn)
		if errors.Is(err, ErrNoHost) {
			continue
		}
		return c, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, ErrNoHost
}

func greet(ctx context.Context, conn net.Conn) (*Client, error) {
	if err := sameUser(conn); err != nil {
		_ = conn.Close()
		return nil, fault.Wrap(fault.Denied, "Somebody else answers in place of Gofer.", "Restart Gofer.", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	defer stop()
	_ = conn.SetReadDeadline(time.Now().Add(helloLimit))
	in := bufio.NewReaderSize(conn, 64<<10)
	line, err := readLine(in)
	var first reply
	if err == nil {
		err = json.Unmarshal(line, &first)
	}
	var netErr net.Error
	switch {
	case ctx.Err() != nil:
		_ = conn.Close()
		return nil, ctx.Err()
	case errors.As(err, &netErr) && netErr.Timeout():
		_ = conn.Close()
		return nil, fault.Wrap(fault.Busy, "A running Gofer holds the data folder and does not answer.", "Wait a moment, or end it.", err)
	case err != nil || first.Hello == nil: // it is just ending
		_ = conn.Close()
		return nil, ErrNoHost
	case first.Hello.Protocol != protocol:
		_ = conn.Close()
		return nil, fault.New(fault.Unavailable, fmt.Sprintf("Another version of Gofer (%s) is running.", first.Hello.Version), "Quit it, then start again.")
	}
	if !stop() {
		_ = conn.Close()
		return nil, ctx.Err()
	}
	_ = conn.SetReadDeadline(time.Time{})
	c := &Client{conn: conn, hello: *first.Hello, out: lineWriter{w: conn}, done: make(chan struct{}), calls: map[uint64]chan reply{}, streams: map[uint64]*stream{}}
	go c.read(in)
	return c, nil
}

// Host says who serves.
func (c *Client) Host() Hello { return c.hello }

// Done is closed when the host has ended or the client was closed.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close leaves the host; its calls end there too.
func (c *Client) Close() {
	c.end(fault.New(fault.Unavailable, "The connection to Gofer was closed.", "Start the command again."))
	<-c.done
}

// Raise hands the arguments of a second window over to the host's window.
func (c *Client) Raise(ctx context.Context, r Raise) error {
	return c.call(ctx, request{Method: "Raise"}, r, nil)
}

func (c *Client) read(in *bufio.Reader) {
	defer close(c.done)
	for {
		line, err := readLine(in)
		var r reply
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			c.end(fault.Wrap(fault.Unavailable, fmt.Sprintf("The Gofer that did the work (process %d) has ended.", c.hello.PID),
				"Start the command again.", err))
			break
		}
		if r.Bye != nil {
			c.end(r.Bye)
			break
		}
		c.deliver(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.streams {
		s.finish()
		delete(c.streams, id)
	}
}

// end notes why the connection ends; the first reason counts.
func (c *Client) end(why *fault.Fault) {
	c.mu.Lock()
	if c.gone == nil {
		c.gone = why
	}
	c.mu.Unlock()
	_ = c.conn.Close()
}

func (c *Client) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		return nil
	}
	return c.gone
}

func (c *Client) deliver(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.streams[r.ID]; ok && (r.Event != nil || r.End) {
		var e event.Envelope
		// An event this version does not know leaves a gap in seq, as a lost
		// one would.
		if r.Event != nil && json.Unmarshal(r.Event, &e) == nil {
			s.push(e)
		}
		if r.End {
			s.finish()
			delete(c.streams, r.ID)
		}
		return
	}
	if answer, ok := c.calls[r.ID]; ok {
		delete(c.calls, r.ID)
		answer <- r
	}
}

// call asks and waits for the answer. When ctx ends first, the host is told to
// end the call.
func (c *Client) call(ctx context.Context, r request, args, result any) error {
	return c.ask(ctx, r, args, result, nil)
}

func (c *Client) ask(ctx context.Context, r request, args, result any, s *stream) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if args != nil {
		raw, err := json.Marshal(args)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Method, err)
		}
		if string(raw) != "null" {
			r.Body = raw
		}
	}
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	r.ID = c.last
	c.calls[r.ID] = answer
	if s != nil {
		s.id = r.ID
		c.streams[r.ID] = s
	}
	c.mu.Unlock()
	if err := c.out.write(r); err != nil {
		c.forget(r.ID)
		if gone := c.why(); gone != nil {
			return gone
		}
		return fault.Wrap(fault.Invalid, fmt.Sprintf("The request %s could not be sent: %v.", r.Method, err), "Send less at once.", err)
	}
	select {
	case a := <-answer:
		return a.into(r.Method, result)
	case <-ctx.Done():
		c.cancelCall(r.ID)
		return ctx.Err()
	case <-c.done:
		select {
		case a := <-answer: // it came with the last line
			return a.into(r.Method, result)
		default:
			return c.why()
		}
	}
}

func (a reply) into(method string, result any) error {
	if a.Error != nil {
		return a.Error
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fault.Wrap(fault.Internal, fmt.Sprintf("The answer to %s cannot be read.", method), "Use the same version of Gofer everywhere.", err)
	}
	return nil
}

func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
	if s, ok := c.streams[id]; ok {
		s.finish()
		delete(c.streams, id)
	}
}

func (c *Client) cancelCall(id uint64) {
	c.forget(id)
	_ = c.out.write(request{ID: id, Cancel: true}) // a host that is gone has cancelled it
}

// Events follows a session. The channel closes when ctx ends, and after the
// last event when the host ends.
func (c *Client) Events(ctx context.Context, sessionID string) (<-chan event.Envelope, error) {
	s := newStream()
	if err := c.ask(ctx, request{Method: "Events", A: sessionID}, nil, nil, s); err != nil {
		s.finish()
		return nil, err
	}
	go s.pump(ctx, func() { c.cancelCall(s.id) })
	return s.out, nil
}
