package logbook

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// open is where the end of a text begins that may be the beginning of a secret;
// the length of the text when there is no such end.
func (r *Redactor) open(text string) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	at := len(text)
	for _, form := range r.forms {
		for n := min(len(form)-1, len(text)); n > len(text)-at; n-- {
			if strings.HasSuffix(text, form[:n]) {
				at = len(text) - n
				break
			}
		}
	}
	return at
}

// Stream takes the secrets out of one text that comes in pieces. It belongs to
// one goroutine at a time.
type Stream struct {
	r    *Redactor
	held string
}

// Stream begins a text.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Next takes a piece and returns what may be told of the text so far. An end
// that may be the beginning of a secret is held until more is known.
func (s *Stream) Next(piece string) string {
	text := s.r.Known(s.held + piece)
	at := s.r.open(text)
	s.held = text[at:]
	return text[:at]
}

// Rest returns what was held when the text has ended.
func (s *Stream) Rest() string {
	rest := s.held
	s.held = ""
	return rest
}

// longestLine is how much of a line without an end is held.
const longestLine = 64 << 10

// Writer redacts what is written to it, line by line, so that it does not
// matter how the writes cut the text. It is safe for use by several goroutines.
type Writer struct {
	r    *Redactor
	mu   sync.Mutex
	to   io.Writer
	line []byte // without an end yet
}

// Writer makes a writer in front of another one.
func (r *Redactor) Writer(to io.Writer) *Writer { return &Writer{r: r, to: to} }

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = append(w.line, p...)
	end := bytes.LastIndexByte(w.line, '\n') + 1
	if end == 0 && len(w.line) > longestLine {
		end = w.r.open(string(w.line))
	}
	return len(p), w.pass(end)
}

// Flush writes out a last line without an end.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pass(len(w.line))
}

func (w *Writer) pass(end int) error {
	if end == 0 {
		return nil
	}
	text := w.r.Redact(string(w.line[:end]))
	w.line = append(w.line[:0], w.line[end:]...)
	_, err := io.WriteString(w.to, text)
	return err
}
