package host

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"gofer/backend/fault"
)

// protocol is the version of what goes over the socket. A host and a client
// that differ in it do not talk.
const protocol = 1

// maxLine bounds one message either way; a variable, so that tests need not
// move that much.
var maxLine = 64 << 20

var errLongLine = errors.New("message over 64 MB")

// Hello is the first line a host sends.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	Kind     string `json:"kind"` // Window or Terminal
	PID      int    `json:"pid"`
}

// The kinds of hosts. A terminal command is host only while it lives.
const (
	Window   = "window"
	Terminal = "terminal"
)

// request is a line from a client: a call, or the wish to cancel one.
type request struct {
	ID     uint64          `json:"id"`
	Method string          `json:"method,omitempty"`
	A      string          `json:"a,omitempty"` // first text argument, mostly an id
	B      string          `json:"b,omitempty"` // second text argument
	Body   json.RawMessage `json:"body,omitempty"`
	Cancel bool            `json:"cancel,omitempty"`
}

// reply is a line from the host.
type reply struct {
	ID     uint64          `json:"id,omitempty"`
	Hello  *Hello          `json:"hello,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *fault.Fault    `json:"error,omitempty"`
	Event  json.RawMessage `json:"event,omitempty"` // an event.Envelope
	End    bool            `json:"end,omitempty"`   // no more events of this call
	Bye    *fault.Fault    `json:"bye,omitempty"`   // the host ends
}

// lineWriter writes whole lines from several goroutines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) write(message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(raw) >= maxLine {
		return errLongLine
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(raw, '\n'))
	return err
}

// readLine returns the next line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			return nil, errLongLine
		}
		if err == nil {
			if line == nil {
				return piece[:len(piece)-1], nil // valid until the next read
			}
			return append(line, piece[:len(piece)-1]...), nil
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

func body[T any](r request) (T, error) {
	var v T
	if len(r.Body) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(r.Body, &v); err != nil {
		return v, fault.Wrap(fault.Invalid, fmt.Sprintf("The request %s cannot be read.", r.Method), "Use the same version of Gofer everywhere.", err)
	}
	return v, nil
}
