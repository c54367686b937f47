package clarify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gofer/backend/event"
	"gofer/backend/fault"
)

// log remembers what a registry reports.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.lines)
}

func watched() (*Registry, *log) {
	l := &log{}
	return &Registry{
		OnAsked:   func(p Pending) error { l.add("asked %s", p.ID); return nil },
		OnSettled: func(p Pending, o Outcome) error { l.add("%s %s", o.State, p.ID); return nil },
	}, l
}

func question(id string, q event.Question) Pending {
	return Pending{ID: id, SessionID: "s", Question: &event.ClarificationAsked{Question: q}}
}

func approval(id, session string) Pending {
	return Pending{ID: id, SessionID: "s", Approval: &event.ApprovalAsked{Tool: "fs_write", Session: session}}
}

type answer struct {
	Outcome
	err error
}

// asks starts to ask and returns where the outcome comes out.
func asks(ctx context.Context, r *Registry, p Pending) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		o, err := r.Ask(ctx, p)
		out <- answer{o, err}
	}()
	return out
}

func TestAnAnswerReachesTheOneWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := watched()
		for _, c := range []struct {
			p    Pending
			a    Answer
			want Outcome
		}{
			{question("q", event.Question{Title: "?"}), Answer{Text: "blue"}, Outcome{State: Answered, Text: "blue", By: "person"}},
			{question("q", event.Question{Title: "?"}), Answer{Decide: true}, Outcome{State: Answered, By: "agent"}},
			{question("q", event.Question{Title: "?"}), Answer{Skip: true}, Outcome{State: Answered, By: "skip"}},
			{question("q", event.Question{Title: "?"}), Answer{By: "nobody"}, Outcome{State: Answered, By: "nobody"}},
			{question("q", event.Question{Title: "?"}), Answer{Dismiss: true}, Outcome{State: Dismissed, By: "person"}},
			{approval("a", ""), Answer{Allow: true}, Outcome{State: Answered, Allowed: true, Scope: "once", By: "person"}},
			{approval("a", "Write"), Answer{Allow: true, Scope: "session"}, Outcome{State: Answered, Allowed: true, Scope: "session", By: "person"}},
			{approval("a", "Write"), Answer{Note: "not there"}, Outcome{State: Answered, Note: "not there", By: "person"}},
			{approval("a", ""), Answer{By: "nobody"}, Outcome{State: Answered, By: "nobody"}},
		} {
			out := asks(t.Context(), r, c.p)
			synctest.Wait()
			if list := r.List("s"); len(list) != 1 || len(r.List("other")) != 0 {
				t.Fatalf("pending are %+v", list)
			}
			if err := r.Answer(t.Context(), c.p.ID, c.a); err != nil {
				t.Fatal(err)
			}
			if got := <-out; got.err != nil || got.Outcome != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		}
		if len(r.List("")) != 0 {
			t.Error("something is left")
		}
		if want := "[asked q answered q asked q answered q"; l.all()[:len(want)] != want {
			t.Errorf("reported %s", l.all())
		}
	})
}

func TestAnswersThatDoNotFitChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := watched()
		ask := asks(t.Context(), r, approval("a", ""))
		ques := asks(t.Context(), r, question("q", event.Question{Title: "?"}))
		synctest.Wait()
		for id, list := range map[string][]Answer{
			"a": {{Allow: true, Scope: "session"}, {Allow: true, Scope: "always"}, {Allow: true, By: "nobody"}},
			"q": {{}},
			"x": {{Text: "x"}},
		} {
			for _, a := range list {
				err := r.Answer(t.Context(), id, a)
				var f *fault.Fault
				if !errors.As(err, &f) || f.Hint == "" {
					t.Errorf("%s with %+v: %v", id, a, err)
				}
			}
		}
		if len(r.List("s")) != 2 || l.all() != "[asked a asked q]" && l.all() != "[asked q asked a]" {
			t.Errorf("reported %s", l.all())
		}
		if n := r.Dismiss("other"); n != 0 {
			t.Errorf("dismissed %d of another session", n)
		}
		if n := r.Dismiss("s"); n != 2 {
			t.Errorf("dismissed %d", n)
		}
		for _, out := range []<-chan answer{ask, ques} {
			if got := <-out; got.err != nil || got.State != Dismissed {
				t.Errorf("got %+v", got)
			}
		}
	})
}

func TestTheDefaultIsTakenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := watched()
		began := time.Now()
		got := <-asks(t.Context(), r, question("q", event.Question{Default: "red", WaitMS: 5000}))
		if got.err != nil || got.Outcome != (Outcome{State: Answered, Text: "red", By: "default"}) || time.Since(began) != 5*time.Second {
			t.Errorf("got %+v after %v", got, time.Since(began))
		}
		got = <-asks(t.Context(), r, question("q", event.Question{WaitMS: 1000}))
		if got.err != nil || got.State != Expired {
			t.Errorf("got %+v", got)
		}
		r.Expire = 30 * time.Minute
		got = <-asks(t.Context(), r, question("q", event.Question{}))
		if got.err != nil || got.State != Expired || time.Since(began) != 30*time.Minute+6*time.Second {
			t.Errorf("got %+v after %v", got, time.Since(began))
		}
		if l.all() != "[asked q answered q asked q expired q asked q expired q]" {
			t.Errorf("reported %s", l.all())
		}
	})
}

func TestAnApprovalNeverLapses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Registry{Expire: time.Minute}
		out := asks(t.Context(), r, approval("a", ""))
		time.Sleep(100 * time.Hour) // the clock of the test jumps
		synctest.Wait()
		if len(r.List("s")) != 1 {
			t.Fatal("it is gone")
		}
		if err := r.Answer(t.Context(), "a", Answer{}); err != nil {
			t.Fatal(err)
		}
		if got := <-out; got.Allowed {
			t.Error("it was allowed")
		}
	})
}

func TestAStopDismisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := watched()
		ctx, stop := context.WithCancel(t.Context())
		out := asks(ctx, r, approval("a", ""))
		synctest.Wait()
		stop()
		if got := <-out; !errors.Is(got.err, context.Canceled) || got.State != Dismissed {
			t.Errorf("got %+v", got)
		}
		if err := r.Answer(t.Context(), "a", Answer{Allow: true}); fault.From(err).Code != fault.NotFound {
			t.Errorf("got %v", err)
		}
		if l.all() != "[asked a dismissed a]" {
			t.Errorf("reported %s", l.all())
		}
	})
}

func TestOfManyExactlyOneSettles(t *testing.T) {
	for range 200 {
		var settled, accepted atomic.Int32
		r := &Registry{OnSettled: func(Pending, Outcome) error { settled.Add(1); return nil }}
		ctx, stop := context.WithCancel(context.Background())
		asked := make(chan struct{})
		r.OnAsked = func(Pending) error { close(asked); return nil }
		out := asks(ctx, r, question("q", event.Question{Default: "d", WaitMS: 1}))
		<-asked
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if r.Answer(context.Background(), "q", Answer{Text: fmt.Sprint(i)}) == nil {
					accepted.Add(1)
				}
			})
		}
		wg.Go(func() { accepted.Add(int32(r.Dismiss("s"))) })
		wg.Go(stop)
		got := <-out
		wg.Wait()
		stop()
		if settled.Load() != 1 || accepted.Load() > 1 || accepted.Load() == 1 && got.err != nil {
			t.Fatalf("settled %d times, accepted %d, got %+v", settled.Load(), accepted.Load(), got)
		}
	}
}

func TestWhatCannotBeStoredIsNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		fail := true
		r := &Registry{OnSettled: func(Pending, Outcome) error {
			if fail {
				return full
			}
			return nil
		}}
		out := asks(t.Context(), r, approval("a", ""))
		synctest.Wait()
		if err := r.Answer(t.Context(), "a", Answer{Allow: true}); !errors.Is(err, full) {
			t.Fatalf("got %v", err)
		}
		if fail = false; r.Answer(t.Context(), "a", Answer{Allow: true}) != nil {
			t.Fatal("the second answer was not taken")
		}
		if got := <-out; !got.Allowed || got.err != nil {
			t.Errorf("got %+v", got)
		}
		r.OnAsked = func(Pending) error { return full }
		if _, err := r.Ask(t.Context(), approval("b", "")); !errors.Is(err, full) || len(r.List("")) != 0 {
			t.Errorf("got %v", err)
		}
	})
}

func TestIdsAreMadeAndCarried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1000, 0)
		r := &Registry{Now: func() time.Time { return now }}
		out := asks(t.Context(), r, question("", event.Question{Title: "?"}))
		synctest.Wait()
		p := r.List("")[0]
		if p.ID == "" || p.Question.ID != p.ID || !p.Since.Equal(now) {
			t.Errorf("got %+v", p)
		}
		if found, ok := r.Find(p.ID); !ok || found.ID != p.ID {
			t.Error("it is not found")
		}
		if _, err := r.Ask(t.Context(), question(p.ID, event.Question{})); err == nil {
			t.Error("the same id was taken twice")
		}
		if _, err := r.Ask(t.Context(), Pending{}); err == nil {
			t.Error("nothing was asked")
		}
		r.Dismiss("")
		<-out
	})
}
