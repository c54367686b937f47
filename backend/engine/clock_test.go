package engine_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/llm/script"
)

// TestAClockThatIsSetDuringARunPutsNothingOutOfOrder sets the clock forward and
// back by up to some hours at every look at it, and back between two starts.
func TestAClockThatIsSetDuringARunPutsNothingOutOfOrder(t *testing.T) {
	var scripted []script.Turn
	for range 3 {
		scripted = append(scripted, write("a.txt", "1"), script.Calls(script.Tool("fs_list", map[string]any{"path": "."})), script.Says("done"))
	}
	r := newRig(t, turns("m", scripted...))
	var looks, back atomic.Int64
	r.now = func() time.Time {
		n := looks.Add(1)
		jump := []time.Duration{0, 3 * time.Hour, -2 * time.Hour, -time.Millisecond, time.Hour}[n%5]
		return time.Now().Round(0).Add(jump - time.Duration(back.Load())) // without the time that is never set
	}
	r.restart()
	s, _ := r.saved("m", "full")
	var runs []string
	for _, text := range []string{"one", "two", "three"} {
		if text == "three" {
			back.Store(int64(5 * time.Hour))
			r.restart()
		}
		runs = append(runs, r.send(s, text))
		began := time.Now()
		if end := r.finished(runs[len(runs)-1]); end.State != event.RunIsCompleted || end.ElapsedMS < 0 {
			t.Errorf("the run ended %+v", end)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the run took %v: something waited for the clock", took)
		}
	}
	var last event.Envelope
	for _, e := range r.seen {
		if e.SessionID != s.ID || e.Passing() {
			continue
		}
		if e.Seq <= last.Seq || e.At < last.At {
			t.Errorf("%s has seq %d at %d after %d at %d", e.Type, e.Seq, e.At, last.Seq, last.At)
		}
		last = e
		switch d := e.Data.(type) {
		case event.IterationFinished:
			if d.ElapsedMS < 0 {
				t.Errorf("an iteration took %d ms", d.ElapsedMS)
			}
		case event.ToolFinished:
			if d.Message.Result.ElapsedMS < 0 {
				t.Errorf("a call took %d ms", d.Message.Result.ElapsedMS)
			}
		}
	}
	snap := r.snapshot(s)
	var got []string
	for _, run := range snap.Runs {
		got = append(got, run.ID)
		if run.StartedAt < run.CreatedAt || run.FinishedAt < run.StartedAt {
			t.Errorf("a run was made at %d, began at %d and ended at %d", run.CreatedAt, run.StartedAt, run.FinishedAt)
		}
	}
	if !slices.Equal(got, runs) {
		t.Errorf("the runs are %v, want %v", got, runs)
	}
	if !slices.IsSortedFunc(snap.Messages, func(a, b chat.Message) int { return int(a.CreatedAt - b.CreatedAt) }) {
		t.Error("the messages are dated out of order")
	}
}
