package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds one event and one JSON reply.
const maxEvent = 32 << 20

var errTooLarge = errors.New("one event of the reply is larger than 32 MB")

// events reads server-sent events the tolerant way: any line end, a missing
// space, a byte order mark, a last event that nobody closed.
type events struct {
	r      *bufio.Reader
	skipLF bool // the line before ended with CR; a LF now belongs to it
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReaderSize(r, 32<<10)} }

// start returns the first byte that is neither a byte order mark nor white
// space, without taking it.
func (e *events) start() (byte, error) {
	if bom, err := e.r.Peek(1); err == nil && bom[0] == 0xEF {
		if bom, err := e.r.Peek(3); err == nil && bytes.Equal(bom, []byte("\xEF\xBB\xBF")) {
			_, _ = e.r.Discard(3)
		}
	}
	for {
		b, err := e.r.Peek(1)
		if err != nil {
			return 0, err
		}
		if b[0] != ' ' && b[0] != '\t' && b[0] != '\r' && b[0] != '\n' {
			return b[0], nil
		}
		_, _ = e.r.Discard(1)
	}
}

// rest returns everything that is left.
func (e *events) rest() ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(e.r, maxEvent+1))
	if len(body) > maxEvent {
		return nil, errTooLarge
	}
	return body, err
}

// next returns the name and the data of the next event that has data. At the
// end of the body it returns an event that nobody closed, then the error.
func (e *events) next() (name string, data []byte, err error) {
	has := false
	for {
		line, err := e.line()
		if err != nil {
			if has && errors.Is(err, io.EOF) {
				return name, data, nil
			}
			return "", nil, err
		}
		if len(line) == 0 {
			if has {
				return name, data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if has {
				data = append(data, '\n')
			}
			has = true
			data = append(data, value...)
			if len(data) > maxEvent {
				return "", nil, errTooLarge
			}
		case "event":
			name = string(value)
		}
	}
}

// line returns the next line without its end. A CR ends a line at once, so
// that nothing waits for a LF that is still on its way.
func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		if e.r.Buffered() == 0 {
			if _, err := e.r.Peek(1); err != nil {
				if len(line) > 0 && errors.Is(err, io.EOF) {
					return line, nil
				}
				return nil, err
			}
		}
		chunk, _ := e.r.Peek(e.r.Buffered())
		if e.skipLF {
			e.skipLF = false
			if chunk[0] == '\n' {
				_, _ = e.r.Discard(1)
				continue
			}
		}
		i := bytes.IndexAny(chunk, "\r\n")
		if i < 0 {
			line = append(line, chunk...)
			_, _ = e.r.Discard(len(chunk))
			if len(line) > maxEvent {
				return nil, errTooLarge
			}
			continue
		}
		line = append(line, chunk[:i]...)
		e.skipLF = chunk[i] == '\r'
		_, _ = e.r.Discard(i + 1)
		return line, nil
	}
}
