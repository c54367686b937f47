package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-rod/rod/lib/proto"
)

// conn speaks the DevTools protocol over a pair of pipes. Messages leave in the
// order of send, so mouse events sent together arrive in order. Events are
// handed to on in the reader, which therefore must never wait.
type conn struct {
	on func(session, method string, params json.RawMessage)

	mu      sync.Mutex
	wake    *sync.Cond
	seq     int
	queue   [][]byte
	pending map[int]chan answer
	ended   bool

	done chan struct{} // closed when the other side is gone
}

type answer struct {
	result json.RawMessage
	err    error
}

// protocolError is an error the browser answered with.
type protocolError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *protocolError) Error() string { return e.Message }

var errConnEnded = errors.New("the connection to the browser ended")

func newConn(r io.Reader, w io.Writer, on func(session, method string, params json.RawMessage)) *conn {
	c := &conn{on: on, pending: map[int]chan answer{}, done: make(chan struct{})}
	c.wake = sync.NewCond(&c.mu)
	go c.write(w)
	go c.read(r)
	return c
}

func (c *conn) write(w io.Writer) {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.ended {
			c.wake.Wait()
		}
		if c.ended {
			c.mu.Unlock()
			return
		}
		batch := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, m := range batch {
			if _, err := w.Write(m); err != nil {
				c.end()
				return
			}
		}
	}
}

func (c *conn) read(r io.Reader) {
	defer c.end()
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		raw, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID        int             `json:"id"`
			Session   string          `json:"sessionId"`
			Method    string          `json:"method"`
			Params    json.RawMessage `json:"params"`
			Result    json.RawMessage `json:"result"`
			ErrorBody *protocolError  `json:"error"`
		}
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		if m.ID == 0 {
			c.on(m.Session, m.Method, m.Params)
			continue
		}
		c.mu.Lock()
		ch := c.pending[m.ID]
		delete(c.pending, m.ID)
		c.mu.Unlock()
		if ch != nil {
			a := answer{result: m.Result}
			if m.ErrorBody != nil {
				a.err = m.ErrorBody
			}
			ch <- a
		}
	}
}

// end marks the connection dead; every pending call is answered.
func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	close(c.done) // first: whoever gets an error below must find it dead when it tries again
	for id, ch := range c.pending {
		ch <- answer{err: errConnEnded}
		delete(c.pending, id)
	}
	c.wake.Broadcast()
}

// send puts a message in line and returns where its answer will be.
func (c *conn) send(session, method string, params any) <-chan answer {
	ch := make(chan answer, 1)
	if params == nil {
		params = struct{}{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		ch <- answer{err: errConnEnded}
		return ch
	}
	c.seq++
	raw, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{c.seq, session, method, params})
	if err != nil {
		ch <- answer{err: fmt.Errorf("%s: %w", method, err)}
		return ch
	}
	c.pending[c.seq] = ch
	c.queue = append(c.queue, append(raw, 0))
	c.wake.Signal()
	return ch
}

// call sends and waits; out may be nil.
func (c *conn) call(ctx context.Context, session, method string, params, out any) error {
	select {
	case a := <-c.send(session, method, params):
		return a.into(method, out)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a answer) into(method string, out any) error {
	if a.err != nil {
		return fmt.Errorf("%s: %w", method, a.err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.result, out); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// ask is call with the typed request of the protocol package.
func (c *conn) ask(ctx context.Context, session string, req proto.Request, out any) error {
	return c.call(ctx, session, req.ProtoReq(), req, out)
}
