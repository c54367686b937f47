package route

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// answers is a model that gives prepared answers in order. An error after a
// bar comes before anything was said.
type answers []any

// mute is an error before the first piece.
type mute struct{ *llm.Error }

func (a *answers) Stream(_ context.Context, _ llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	next := (*a)[0]
	*a = (*a)[1:]
	switch v := next.(type) {
	case *llm.Error:
		emit(llm.Delta{Kind: llm.DeltaText, Text: "half"})
		return llm.Reply{}, v
	case mute:
		return llm.Reply{}, v.Error
	case string:
		emit(llm.Delta{Kind: llm.DeltaText, Text: v})
		return llm.Reply{Parts: []chat.Part{{Type: chat.Text, Text: v}}}, nil
	}
	panic("no such answer")
}

// listener is a route whose callbacks write a log.
type listener struct {
	*Route
	log []string
}

func (l *listener) note(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

func listen(legs ...*answers) *listener {
	l := &listener{}
	l.Route = &Route{
		Name:    "Everyday",
		OnRetry: func(n int, d time.Duration, e *llm.Error) { l.note("retry %d after %s: %s", n, d, e.Kind) },
		OnSwitch: func(from, to Leg, e *llm.Error) {
			if e == nil {
				l.note("back from %s to %s", from.Name, to.Name)
				return
			}
			l.note("%s to %s: %s", from.Name, to.Name, e.Kind)
		},
		OnRestart: func() { l.note("restart") },
		Wait:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Jitter:    func() float64 { return 0 },
	}
	for i, a := range legs {
		name := fmt.Sprintf("m%d", i+1)
		l.Legs = append(l.Legs, Leg{Key: name, Name: name, Model: a})
	}
	return l
}

func (l *listener) play(ctx context.Context) (string, llm.Reply, *llm.Error) {
	l.log = nil
	reply, err := l.Stream(ctx, llm.Request{}, func(d llm.Delta) { l.note("%s", d.Text) })
	return strings.Join(l.log, "; "), reply, asError(err)
}

func kind(e *llm.Error) llm.ErrorKind {
	if e == nil {
		return ""
	}
	return e.Kind
}

var (
	busy  = &llm.Error{Kind: llm.Overloaded, Retryable: true, Message: "busy"}
	slow  = &llm.Error{Kind: llm.RateLimit, Retryable: true, RetryAfter: 5 * time.Second}
	hour  = &llm.Error{Kind: llm.RateLimit, Retryable: true, RetryAfter: time.Hour}
	cut   = &llm.Error{Kind: llm.StreamBroken, Retryable: true}
	quota = &llm.Error{Kind: llm.Quota, Message: "no money"}
	key   = &llm.Error{Kind: llm.Auth, Message: "wrong key"}
	long  = &llm.Error{Kind: llm.ContextLength}
)

func TestARouteRetriesWithinLimitsThenMovesOn(t *testing.T) {
	for _, c := range []struct {
		name string
		legs []*answers
		want string
		kind llm.ErrorKind
	}{
		{"a good answer is taken", []*answers{{"yes"}, {"no"}}, "yes", ""},
		{"one retry", []*answers{{cut, "yes"}}, "half; retry 2 after 1s: stream_broken; restart; yes", ""},
		{"two retries of nothing", []*answers{{mute{cut}, mute{cut}, "yes"}}, "retry 2 after 1s: stream_broken; restart; retry 3 after 1s: stream_broken; restart; yes", ""},
		{"a busy server waits longer", []*answers{{mute{busy}, mute{busy}, "yes"}}, "retry 2 after 1s: overloaded; restart; retry 3 after 2s: overloaded; restart; yes", ""},
		{"retry-after", []*answers{{slow, "yes"}}, "half; retry 2 after 5s: rate_limit; restart; yes", ""},
		{"who asks for an hour is left alone", []*answers{{hour}, {"yes"}}, "half; m1 to m2: rate_limit; restart; yes", ""},
		{"the next model", []*answers{{busy, busy}, {"yes"}}, "half; retry 2 after 1s: overloaded; restart; half; m1 to m2: overloaded; restart; yes", ""},
		{"no retry without money", []*answers{{quota}, {"yes"}}, "half; m1 to m2: quota; restart; yes", ""},
		{"no retry with a wrong key", []*answers{{key}, {"yes"}}, "half; m1 to m2: auth; restart; yes", ""},
		{"too long stays", []*answers{{long}, {"no"}}, "half", llm.ContextLength},
		{"all fail", []*answers{{quota}, {key}}, "half; m1 to m2: quota; restart; half", llm.Auth},
		{"no models", nil, "", llm.BadRequest},
	} {
		got, _, e := listen(c.legs...).play(t.Context())
		if got != c.want || kind(e) != c.kind {
			t.Errorf("%s: got %q, error %v; want %q, kind %q", c.name, got, e, c.want, c.kind)
		}
	}
}

func TestWhenAllFailOneErrorHasEachReason(t *testing.T) {
	_, _, e := listen(&answers{quota}, &answers{key}).play(t.Context())
	if e == nil || len(e.Reasons) != 2 || e.Reasons[0].Model != "m1" || e.Reasons[0].Err != quota || e.Reasons[1].Err != key || e.Message != "No model in Everyday answered." || e.Hint == "" {
		t.Fatalf("got %+v", e)
	}
}

func TestAFailedModelRestsAndIsTakenAgainAfterwards(t *testing.T) {
	now := time.Now()
	rests := &Rests{Now: func() time.Time { return now }}
	one, two := &answers{quota, "back"}, &answers{"a", "b", "c", "d"}
	first := listen(one, two)
	first.Rests = rests
	got, _, _ := first.play(t.Context())
	again, _, _ := first.play(t.Context())
	other := listen(one, two)
	other.Rests = rests
	third, _, _ := other.play(t.Context())
	now = now.Add(longRest)
	back, _, _ := other.play(t.Context())
	for i, c := range []struct{ got, want string }{
		{got, "half; m1 to m2: quota; restart; a"}, {again, "b"}, {third, "m1 to m2: quota; c"}, {back, "back from m2 to m1; back"},
	} {
		if c.got != c.want {
			t.Errorf("call %d: got %q, want %q", i+1, c.got, c.want)
		}
	}
	rests.begin("p/m", quota)
	rests.Wake("p/")
	if rests.why("p/m") != nil {
		t.Error("a woken model still rests")
	}
}

func TestARestingModelIsBetterThanNone(t *testing.T) {
	l := listen(&answers{"yes"}, &answers{quota})
	l.Rests = &Rests{}
	l.Rests.begin("m1", busy)
	if got, _, e := l.play(t.Context()); got != "m1 to m2: overloaded; half; m2 to m1: quota; restart; yes" || e != nil {
		t.Errorf("got %q, %v", got, e)
	}
}

func TestALongConversationGoesOnlyToALargerWindow(t *testing.T) {
	l := listen(&answers{long}, &answers{"no"}, &answers{"yes"})
	l.Legs[0].Facts.Input, l.Legs[1].Facts.Input, l.Legs[2].Facts.Input = 100, 100, 200
	if got, _, e := l.play(t.Context()); got != "half; m1 to m3: context_length; restart; yes" || e != nil {
		t.Errorf("got %q, %v", got, e)
	}
	l = listen(&answers{"no"}, &answers{"yes"})
	l.Legs[0].Facts.Input = 1
	if _, err := l.Stream(t.Context(), llm.Request{System: "longer than that"}, func(llm.Delta) {}); err != nil || strings.Join(l.log, "; ") != "m1 to m2: context_length" {
		t.Errorf("a window that is known to be too small: got %v, %v", l.log, err)
	}
}

func TestAReplyHasItsCostAndAGuessWhereNothingWasCounted(t *testing.T) {
	l := listen(&answers{"four words of text"})
	l.Legs[0].Facts.Price = &llm.Price{Input: 1, Output: 1_000_000}
	_, reply, _ := l.play(t.Context())
	if u := reply.Usage; u == nil || !u.Estimated || u.Output == 0 || u.Cost < 1 {
		t.Errorf("got %+v", reply.Usage)
	}
	price := &llm.Price{Input: 2, Output: 10, Cached: 0.5}
	if got := price.Cost(chat.Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}); got != 2.4 {
		t.Errorf("got %v dollars, want 2.4", got)
	}
}

func TestAStopDuringTheWaitEndsTheRoute(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := New(Leg{Name: "m", Model: &answers{busy}}, Leg{Name: "n", Model: &answers{}})
	r.Wait = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	_, err := r.Stream(ctx, llm.Request{}, func(llm.Delta) {})
	if e := asError(err); e == nil || e.Kind != llm.Cancelled {
		t.Errorf("got %v, want a cancelled call", err)
	}
}

// pauses is a model that keeps silent between its pieces.
type pauses []time.Duration

func (p pauses) Stream(_ context.Context, _ llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	for _, d := range p {
		time.Sleep(d)
		emit(llm.Delta{Text: "."})
	}
	return llm.Reply{}, nil
}

func TestSilenceIsToldAfterAWhileOnceAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, told := time.Now(), []time.Duration{}
		r := New(Leg{Name: "m", Model: pauses{50 * time.Second, time.Second, 16 * time.Second}})
		r.OnQuiet = func(_ Leg, d time.Duration) { told = append(told, time.Since(began)) }
		if _, err := r.Stream(t.Context(), llm.Request{}, func(llm.Delta) {}); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{15 * time.Second, 66 * time.Second}; fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("told after %v, want %v", told, want)
		}
	})
}

func TestAPanicOfAModelReachesTheCaller(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("nothing was caught")
		}
	}()
	r := New(Leg{Name: "m", Model: &answers{errors.New("no such")}})
	r.OnQuiet = func(Leg, time.Duration) {}
	_, _ = r.Stream(t.Context(), llm.Request{}, func(llm.Delta) {})
}
