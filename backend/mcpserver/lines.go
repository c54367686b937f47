package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine bounds one message from the client.
	maxLine = 16 << 20
	// grace is how long calls that go on at the end of input may still take,
	// so that a client that pipes its requests gets its answers.
	grace = 300 * time.Millisecond
	// endLimit is how long cancelled calls may take to end.
	endLimit = 5 * time.Second
)

// lines carries messages over standard input and output, one per line. What is
// no message is answered with an error and skipped: a slip of the client ends
// nothing. A tool call is handed on when the one before it has its place in
// line, since the calls are taken up side by side. At the end of input it ends the calls that go on, waits for their
// answers to be written, and only then says so.
type lines struct {
	in     io.Reader
	out    io.Writer
	cancel context.CancelFunc // ends the calls that go on

	incoming chan jsonrpc.Message
	closed   chan struct{}
	once     sync.Once

	mu      sync.Mutex
	open    map[jsonrpc.ID]bool // calls read and not yet answered
	settled chan struct{}       // told when open may be empty
	entered chan struct{}       // told when a tool call has its place in line
	last    jsonrpc.ID          // of the tool call handed on last
	writing sync.Mutex
}

var _ mcp.Transport = (*lines)(nil)

func newLines(in io.Reader, out io.Writer, cancel context.CancelFunc) *lines {
	return &lines{
		in: in, out: out, cancel: cancel,
		incoming: make(chan jsonrpc.Message), closed: make(chan struct{}),
		open: map[jsonrpc.ID]bool{}, settled: make(chan struct{}, 1), entered: make(chan struct{}, 1),
	}
}

// Connect implements mcp.Transport.
func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	go l.read() // ends with the input, or with the process: nothing can interrupt it
	return l, nil
}

// SessionID implements mcp.Connection.
func (l *lines) SessionID() string { return "" }

// Read implements mcp.Connection.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, open := <-l.incoming:
		if !open {
			return nil, io.EOF
		}
		return m, nil
	case <-l.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = l.put(raw)
	if r, ok := m.(*jsonrpc.Response); ok {
		l.mu.Lock()
		delete(l.open, r.ID)
		l.mu.Unlock()
		select {
		case l.settled <- struct{}{}:
		default:
		}
	}
	return err
}

func (l *lines) put(raw []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.out.Write(append(raw, '\n'))
	return err
}

// Close implements mcp.Connection.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *lines) read() {
	defer close(l.incoming)
	in := bufio.NewReaderSize(l.in, 64<<10)
	for {
		text, err := nextLine(in)
		if errors.Is(err, errLong) {
			l.refuse(nil, jsonrpc.CodeInvalidRequest, "The message is over 16 MB.")
			continue
		}
		if !l.take(text) {
			return
		}
		if err != nil {
			l.drain()
			return
		}
	}
}

var errLong = errors.New("line too long")

// nextLine returns the next line; a long one is read to its end and dropped.
func nextLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if long = long || len(text)+len(piece) > maxLine; long {
			text = nil
		} else {
			text = append(text, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			return nil, errLong
		}
		return text, err
	}
}

// take hands on the messages of one line. There should be one; more are taken
// too. It reports false when the connection is closed.
func (l *lines) take(text []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			l.refuse(nil, jsonrpc.CodeParseError, "This is not JSON: "+err.Error())
			return true
		}
		if raw[0] == '[' {
			l.refuse(nil, jsonrpc.CodeInvalidRequest, "Send one message per line; lists of messages are not taken.")
			continue
		}
		m, err := decode(raw)
		if err != nil {
			l.refuse(idOf(raw), jsonrpc.CodeInvalidRequest, "This is not a JSON-RPC message: "+err.Error())
			continue
		}
		if !l.pass(m) {
			return false
		}
	}
}

// decode reads a message. An object that asks nothing and answers nothing is
// none, although it could be taken for an empty answer.
func decode(raw json.RawMessage) (jsonrpc.Message, error) {
	m, err := jsonrpc.DecodeMessage(raw)
	if r, ok := m.(*jsonrpc.Response); ok && err == nil && r.Result == nil && r.Error == nil {
		return nil, errors.New("it has neither method, result nor error")
	}
	return m, err
}

func (l *lines) pass(m jsonrpc.Message) bool {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		l.mu.Lock()
		taken := l.open[r.ID]
		l.open[r.ID] = true
		l.mu.Unlock()
		if taken {
			l.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("The id %v belongs to a call that still goes on.", r.ID.Raw()))
			return true
		}
	}
	r, ok := m.(*jsonrpc.Request)
	if ok = ok && r.IsCall() && r.Method == "tools/call"; ok && !l.settle() {
		return false
	}
	select {
	case l.incoming <- m:
	case <-l.closed:
		return false
	}
	if ok {
		l.last = r.ID
	}
	return true
}

// settle waits until the tool call handed on last has its place in line, or an
// answer. It is false when the connection is closed.
func (l *lines) settle() bool {
	for l.last.IsValid() {
		l.mu.Lock()
		goesOn := l.open[l.last]
		l.mu.Unlock()
		if !goesOn {
			break
		}
		select {
		case <-l.entered:
			l.last = jsonrpc.ID{}
			return true
		case <-l.settled:
		case <-l.closed:
			return false
		}
	}
	select { // one that was answered before anybody asked
	case <-l.entered:
	default:
	}
	return true
}

// enter is told by a tool call that has its place in line.
func (l *lines) enter() {
	select {
	case l.entered <- struct{}{}:
	default:
	}
}

// idOf finds the id of a message that is none, null when it has none either.
func idOf(raw []byte) any {
	var m struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

func (l *lines) refuse(id any, code int, message string) {
	type wireError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	raw, err := json.Marshal(struct {
		Version string    `json:"jsonrpc"`
		ID      any       `json:"id"`
		Error   wireError `json:"error"`
	}{"2.0", id, wireError{code, message}})
	if err == nil {
		_ = l.put(raw) // a client that does not listen is noticed by the next answer
	}
}

// drain waits for the calls that go on at the end of input: first for a
// moment, then cancelled.
func (l *lines) drain() {
	defer l.cancel()
	if l.quiet(grace) {
		return
	}
	l.cancel()
	l.quiet(endLimit)
}

// quiet waits until every call is answered.
func (l *lines) quiet(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		l.mu.Lock()
		none := len(l.open) == 0
		l.mu.Unlock()
		if none {
			return true
		}
		select {
		case <-l.settled:
		case <-timer.C:
			return false
		case <-l.closed:
			return false
		}
	}
}
