package route

import (
	"strings"
	"sync"
	"time"

	"gofer/backend/llm"
)

// How long a model that failed is left alone.
const (
	shortRest = time.Minute
	longRest  = 10 * time.Minute // after a refused key or an empty account
)

// Rests are the models that have failed lately; a route tries them last. It is
// safe for use by several routes. A nil one rests nobody.
type Rests struct {
	Now func() time.Time // nil takes the clock

	mu sync.Mutex
	by map[string]rest
}

type rest struct {
	until time.Time
	cause *llm.Error
}

func (r *Rests) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// begin lets a model rest. What would fail with any model rests nobody.
func (r *Rests) begin(key string, cause *llm.Error) {
	if r == nil {
		return
	}
	length := max(shortRest, cause.RetryAfter)
	switch cause.Kind {
	case llm.ContextLength, llm.BadRequest, llm.Cancelled:
		return
	case llm.Auth, llm.Quota:
		length = max(longRest, cause.RetryAfter)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]rest{}
	}
	r.by[key] = rest{r.now().Add(length), cause}
}

func (r *Rests) end(key string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.by, key)
}

// why returns what a resting model failed with, nil for one that does not rest.
func (r *Rests) why(key string) *llm.Error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.by[key]; ok && r.now().Before(s.until) {
		return s.cause
	}
	delete(r.by, key)
	return nil
}

// Wake ends the rest of every model whose key starts so: its provider was
// changed, or has just answered.
func (r *Rests) Wake(prefix string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.by {
		if strings.HasPrefix(key, prefix) {
			delete(r.by, key)
		}
	}
}
