package clarify

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gofer/backend/event"
)

func question(wait int64, fallback string) Pending {
	return Pending{SessionID: "s", Question: &event.ClarificationAsked{Question: event.Question{Title: "Which?", Default: fallback, WaitMS: wait}}}
}

func TestAnAnswerSettlesOnce(t *testing.T) {
	r := New(time.Now)
	ticket := r.Open(question(0, ""))
	if got := r.List("s"); len(got) != 1 || got[0].Question.ID != ticket.ID {
		t.Fatalf("List = %+v", got)
	}
	if !r.Answer(ticket.ID, Answer{Text: "a", By: "person"}) || r.Answer(ticket.ID, Answer{Text: "b"}) {
		t.Fatal("the second answer was taken too")
	}
	if got, err := ticket.Wait(t.Context()); err != nil || got.Text != "a" {
		t.Fatalf("Wait = %+v, %v", got, err)
	}
	if len(r.List("s")) != 0 {
		t.Fatal("still listed")
	}
}

func TestADefaultIsTakenWhenTheTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticket := New(time.Now).Open(question(3000, "yes"))
		start := time.Now()
		got, err := ticket.Wait(t.Context())
		if err != nil || got.Text != "yes" || got.By != "default" || time.Since(start) != 3*time.Second {
			t.Fatalf("Wait = %+v, %v after %s", got, err, time.Since(start))
		}
	})
}

func TestAnApprovalNeverLapses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(time.Now)
		ticket := r.Open(Pending{SessionID: "s", Approval: &event.ApprovalAsked{Tool: "shell_exec"}})
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if got, err := ticket.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || got.Allow {
			t.Fatalf("Wait = %+v, %v", got, err)
		}
		if r.Answer(ticket.ID, Answer{Allow: true}) {
			t.Fatal("answered after its run was gone")
		}
	})
}

func TestDismissPutsAsideOnlyTheSessionsOwn(t *testing.T) {
	r := New(time.Now)
	mine := r.Open(question(0, ""))
	other := r.Open(Pending{SessionID: "o", Question: &event.ClarificationAsked{}})
	r.Dismiss("s")
	if got, err := mine.Wait(t.Context()); err != nil || got.By != Dismissed {
		t.Fatalf("Wait = %+v, %v", got, err)
	}
	if _, ok := r.Get(other.ID); !ok {
		t.Fatal("another session's question is gone")
	}
}
