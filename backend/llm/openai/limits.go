package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"gofer/backend/llm"
)

func withDefaults(l llm.Limits) llm.Limits {
	d := llm.DefaultLimits()
	pick := func(v, other time.Duration) time.Duration {
		if v > 0 {
			return v
		}
		return other
	}
	return llm.Limits{
		Connect:   pick(l.Connect, d.Connect),
		FirstByte: pick(l.FirstByte, d.FirstByte),
		Silence:   pick(l.Silence, d.Silence),
		Ceiling:   pick(l.Ceiling, d.Ceiling),
	}
}

// The limits that can end a call.
var (
	errFirstByte = errors.New("no first byte in time")
	errSilence   = errors.New("silence in the stream")
	errCeiling   = errors.New("the call took too long")
)

// timeout is a limit that was reached.
type timeout struct {
	limit error
	after time.Duration
}

func (t *timeout) Error() string { return fmt.Sprintf("%v: %s", t.limit, t.after) }
func (t *timeout) Unwrap() error { return t.limit }

// watch ends a call whose server keeps silent. Every byte resets it.
type watch struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	silence time.Duration
	timer   *time.Timer
	ceiling *time.Timer

	mu    sync.Mutex
	cause *timeout // what the timer means when it fires
}

func watchOver(ctx context.Context, l llm.Limits) (context.Context, *watch) {
	w := &watch{silence: l.Silence, cause: &timeout{errFirstByte, l.FirstByte}}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(l.FirstByte, func() {
		w.mu.Lock()
		cause := w.cause
		w.mu.Unlock()
		w.cancel(cause)
	})
	w.ceiling = time.AfterFunc(l.Ceiling, func() { w.cancel(&timeout{errCeiling, l.Ceiling}) })
	return w.ctx, w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.ceiling.Stop()
	w.cancel(nil)
}

// alive notes a sign of life.
func (w *watch) alive() {
	w.mu.Lock()
	w.cause = &timeout{errSilence, w.silence}
	d := w.silence
	w.mu.Unlock()
	w.timer.Reset(d)
}

// soon shortens the limit of silence, once nothing more is needed.
func (w *watch) soon(d time.Duration) {
	w.mu.Lock()
	w.silence = min(w.silence, d)
	d = w.silence
	w.mu.Unlock()
	w.timer.Reset(d)
}

// reason returns the limit that ended the call instead of the cancelled
// context the transport speaks of.
func (w *watch) reason(err error) error {
	var t *timeout
	if errors.As(context.Cause(w.ctx), &t) {
		return t
	}
	return err
}

// stream is the body of a reply, watched.
type stream struct {
	r io.Reader
	w *watch
}

func (w *watch) body(r io.Reader) *stream { return &stream{r, w} }

// Read passes bytes on and counts each as a sign of life.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if n > 0 {
		s.w.alive()
	}
	return n, err
}

// drain reads what is left for a moment, so that the connection can be used again.
func (s *stream) drain() {
	s.w.soon(30 * time.Millisecond)
	_, _ = io.CopyN(io.Discard, s, 64<<10)
}
