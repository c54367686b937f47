package route

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// answers is a model that gives prepared answers in order.
type answers []any

func (a *answers) Stream(_ context.Context, _ llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	next := (*a)[0]
	*a = (*a)[1:]
	switch v := next.(type) {
	case *llm.Error:
		emit(llm.Delta{Kind: llm.DeltaText, Text: "half"})
		return llm.Reply{}, v
	case string:
		emit(llm.Delta{Kind: llm.DeltaText, Text: v})
		return llm.Reply{Parts: []chat.Part{{Type: chat.Text, Text: v}}}, nil
	}
	panic("no such answer")
}

func play(t *testing.T, ctx context.Context, legs ...*answers) (string, error) {
	t.Helper()
	var log []string
	note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	r := &Route{
		OnRetry:   func(n int, d time.Duration, e *llm.Error) { note("retry %d after %s: %s", n, d, e.Kind) },
		OnSwitch:  func(from, to string, e *llm.Error) { note("%s to %s: %s", from, to, e.Kind) },
		OnRestart: func() { note("restart") },
		Wait:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	for i, l := range legs {
		r.Legs = append(r.Legs, Leg{fmt.Sprintf("m%d", i+1), l})
	}
	_, err := r.Stream(ctx, llm.Request{}, func(d llm.Delta) { note("%s", d.Text) })
	return strings.Join(log, "; "), err
}

func TestARouteRetriesOnceThenMovesOn(t *testing.T) {
	busy := &llm.Error{Kind: llm.Overloaded, Retryable: true}
	slow := &llm.Error{Kind: llm.RateLimit, Retryable: true, RetryAfter: 5 * time.Second}
	hour := &llm.Error{Kind: llm.RateLimit, Retryable: true, RetryAfter: time.Hour}
	quota := &llm.Error{Kind: llm.Quota}
	long := &llm.Error{Kind: llm.ContextLength}
	for _, c := range []struct {
		name string
		legs []*answers
		want string
		kind llm.ErrorKind
	}{
		{"a good answer is taken", []*answers{{"yes"}, {"no"}}, "yes", ""},
		{"one retry", []*answers{{busy, "yes"}}, "half; retry 2 after 1s: overloaded; restart; yes", ""},
		{"retry-after", []*answers{{slow, "yes"}}, "half; retry 2 after 5s: rate_limit; restart; yes", ""},
		{"retry-after is capped", []*answers{{hour, "yes"}}, "half; retry 2 after 1m0s: rate_limit; restart; yes", ""},
		{"the next model", []*answers{{busy, busy}, {"yes"}}, "half; retry 2 after 1s: overloaded; restart; half; m1 to m2: overloaded; restart; yes", ""},
		{"no retry without money", []*answers{{quota}, {"yes"}}, "half; m1 to m2: quota; restart; yes", ""},
		{"too long stays", []*answers{{long}, {"no"}}, "half", llm.ContextLength},
		{"all fail", []*answers{{quota}, {quota}}, "half; m1 to m2: quota; restart; half", llm.Quota},
		{"no models", nil, "", llm.BadRequest},
	} {
		got, err := play(t, t.Context(), c.legs...)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		var kind llm.ErrorKind
		if e := asError(err); e != nil {
			kind = e.Kind
		}
		if kind != c.kind {
			t.Errorf("%s: got error %v, want kind %q", c.name, err, c.kind)
		}
	}
}

func TestAStopDuringTheWaitEndsTheRoute(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := New(Leg{"m", &answers{&llm.Error{Kind: llm.Overloaded, Retryable: true}}})
	r.Wait = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	_, err := r.Stream(ctx, llm.Request{}, func(llm.Delta) {})
	if e := asError(err); e == nil || e.Kind != llm.Cancelled {
		t.Errorf("got %v, want a cancelled call", err)
	}
}
