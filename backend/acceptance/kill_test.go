//go:build linux

package acceptance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/errand"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
)

// moment says when a process is killed: at the first thing of a kind after
// some calls were answered.
type moment struct {
	kind  string
	calls int           // answered calls of this process before
	delay time.Duration // after the thing was seen
}

// The kinds of moments.
const (
	anyEvent   = "any event"
	actingCall = "an acting call has begun"
	postCame   = "the site has the form, its effect not done"
	postDone   = "the site has done the effect, not answered"
)

// looked are the calls that the long errand looks after before a repeat.
var looked = []string{"browser_click", "web_fetch", "fs_write"}

// slaughter is one errand whose processes are killed one after the other.
type slaughter struct {
	t         *testing.T
	dir, cwd  string
	site      *errand.Site
	armed     atomic.Pointer[arm]
	sessionID string
	runID     string
	kills     map[string]int
	gone      []time.Duration // until the browser was gone
	starts    []time.Duration // until the next process was up
}

// arm is a kill that waits for the site to get a form.
type arm struct {
	kind string
	done func()
}

func TestAKilledErrandLosesNothingAndDoesNothingTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0xdead))
	if !long() {
		s := newSlaughter(t, errand.Options{Seed: 71, Pages: 9})
		s.run([]moment{{postDone, 3, 0}, {anyEvent, 2 + rng.IntN(6), delay(rng)}, {postCame, 4, 0}, {actingCall, 3 + rng.IntN(6), delay(rng)}})
		return
	}
	total, inside := 0, 0
	for round := range 5 {
		var moments []moment
		for _, kind := range []string{anyEvent, postDone, anyEvent, postCame, actingCall, anyEvent} {
			moments = append(moments, moment{kind, 4 + rng.IntN(22), delay(rng)})
		}
		s := newSlaughter(t, errand.Options{Seed: 700 + uint64(round)})
		s.run(moments)
		for kind, n := range s.kills {
			if total += n; kind != anyEvent {
				inside += n
			}
		}
	}
	t.Logf("%d kills in all, %d of them inside an acting call", total, inside)
	if total < 30 || inside < 5 {
		t.Errorf("got %d kills, %d inside an acting call; want 30 and at least 5", total, inside)
	}
}

func delay(rng *rand.Rand) time.Duration { return time.Duration(rng.IntN(40)) * time.Millisecond }

// newSlaughter prepares a home with a provider, because a model server named on
// a command line is forgotten with its process.
func newSlaughter(t *testing.T, o errand.Options) *slaughter {
	s := &slaughter{t: t, dir: newHome(t), cwd: t.TempDir(), site: seeded(t, o), kills: map[string]int{}}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = front.Serve(l) }()
	t.Cleanup(func() { front.Close() })
	s.site.Origin = "http://" + l.Addr().String()
	model := llmtest.Serve(t, errand.ReadAll("errand"))
	p := open(t, s.dir)
	if _, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Scripted", BaseURL: model.URL, Model: "errand", Default: true}); err != nil {
		t.Fatal(err)
	}
	p.unnamed()
	p.end()
	return s
}

// serve passes requests on to the site; a form may be the last thing the
// process under test ever sent.
func (s *slaughter) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		if a := s.armed.Swap(nil); a != nil {
			if a.kind == postDone {
				s.site.ServeHTTP(discard{http.Header{}}, r)
			}
			a.done()
			return
		}
	}
	s.site.ServeHTTP(w, r)
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// run plays the errand, kills it at every moment, and lets it end well.
func (s *slaughter) run(moments []moment) {
	t := s.t
	for n, m := range moments {
		var c *child
		if n == 0 {
			c = start(t, spec{home: s.dir, cwd: s.cwd}, "run", "--json", "--mode", "full", "--headless", "--max-iterations", "1000", errand.ReadAllPrompt+s.site.Origin+"/")
		} else {
			c = start(t, spec{home: s.dir, cwd: s.cwd, as: "continue"}, s.sessionID, s.runID)
		}
		told := s.killAt(c, m)
		if t.Failed() {
			t.Fatalf("standard error of the process:\n%s", c.stderr())
		}
		s.kills[m.kind]++
		s.gone = append(s.gone, until(t, 3*time.Second, "no browser is left of a killed process", func() bool { return len(browsers(s.dir)) == 0 }))
		checkKept(t, s.dir, s.sessionID, told)
		began := time.Now()
		p := open(t, s.dir)
		s.starts = append(s.starts, time.Since(began))
		snapshot, err := p.Snapshot(t.Context(), s.sessionID, engine.SnapshotQuery{Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		if len(snapshot.Runs) != 1 || snapshot.Runs[0].State != event.RunIsInterrupted {
			t.Fatalf("after the kill at %v the runs are %+v, want one that is interrupted", m, snapshot.Runs)
		}
		if n == len(moments)-1 {
			s.finish(p)
			return
		}
		p.end()
	}
}

// killAt follows a process to its moment, kills it, and returns what it told.
func (s *slaughter) killAt(c *child, m moment) (told []event.Envelope) {
	t := s.t
	formed := make(chan struct{})
	answered, waiting := 0, false
	limit := time.After(90 * time.Second)
	for {
		select {
		case <-formed:
			for e := range c.events { // what was printed before the end
				told = append(told, e)
			}
			return told
		case <-limit:
			t.Errorf("the moment %+v did not come", m)
			c.kill()
			return told
		case e, ok := <-c.events:
			if !ok {
				select {
				case <-formed:
					return told
				case <-time.After(5 * time.Second):
				}
				t.Errorf("the process ended before its moment %+v", m)
				return told
			}
			told = append(told, e)
			if s.runID == "" && e.RunID != "" {
				s.sessionID, s.runID = e.SessionID, e.RunID
			}
			switch d := e.Data.(type) {
			case event.ToolFinished:
				answered++
			case event.RunFinished:
				t.Errorf("the run ended %s (%+v) before its moment %+v", d.State, d.Error, m)
				return told
			}
			if answered < m.calls || waiting {
				continue
			}
			call, began := e.Data.(event.ToolStarted)
			switch {
			case m.kind == postCame || m.kind == postDone:
				s.armed.Store(&arm{m.kind, func() { c.kill(); close(formed) }})
				waiting = true
			case m.kind == anyEvent, m.kind == actingCall && began && slices.Contains(looked, call.Call.Name):
				waiting = true
				time.AfterFunc(m.delay, func() { c.kill(); close(formed) })
			}
		}
	}
}

// checkKept looks into the database before anybody else does: it is whole, and
// everything that was told is in it.
func checkKept(t *testing.T, dir, sessionID string, told []event.Envelope) {
	t.Helper()
	whole(t, dir)
	kept := read(t, dir, sessionID)
	sameEvents(t, "a killed process", kept.events, told)
	stored := map[string]bool{}
	for _, m := range kept.messages {
		stored[m.ID] = true
	}
	for _, e := range told {
		var m chat.Message
		switch d := e.Data.(type) {
		case event.RunQueued:
			m = d.Message
		case event.MessageFinished:
			m = d.Message
		case event.ToolFinished:
			m = d.Message
		}
		if m.ID != "" && !stored[m.ID] {
			t.Errorf("the message of %s (seq %d) was told and is lost", e.Type, e.Seq)
		}
	}
}

// finish goes on with the run in this process and looks at everything it did.
func (s *slaughter) finish(p *here) {
	t := s.t
	if runID, err := p.Continue(context.WithoutCancel(t.Context()), s.runID); err != nil || runID != s.runID {
		t.Fatalf("Continue = %s, %v, want the same run", runID, err)
	}
	end := p.finished(s.sessionID, s.runID, 2*time.Minute)
	if end.State != event.RunIsCompleted || end.Reason != "" {
		t.Errorf("the run ended %s (%s, %+v), want completed", end.State, end.Reason, end.Error)
	}
	for _, wrong := range errand.CheckAll(s.site, s.cwd) {
		t.Error(wrong)
	}
	p.end()
	kept := read(t, s.dir, s.sessionID)
	kept.check(t)
	unknown, repeated := s.checkUnknown(kept.events)
	slow, worst := p95(s.gone)
	up, upWorst := p95(s.starts)
	t.Logf("%d pages, %d calls, kills %v: %d acting calls of unknown outcome, %d of them repeated after a look; browser gone after p95 %.0f ms (largest %.0f), next start p95 %.0f ms (largest %.0f)",
		len(s.site.Pages), end.Calls, s.kills, unknown, repeated, ms(slow), ms(worst), ms(up), ms(upWorst))
}

// checkUnknown finds the calls that were under way at a kill: each is answered
// as unknown, and is repeated, if at all, after somebody has looked.
func (s *slaughter) checkUnknown(log []event.Envelope) (unknown, repeated int) {
	t := s.t
	open, doubtful := map[string]chat.ToolCall{}, map[string]bool{} // by id; by what is called
	broken := map[string]bool{}
	interrupts, looks, page := 0, 0, ""
	// a click says nothing of the page it is on
	name := func(c chat.ToolCall) string { return fmt.Sprintf("%s %s on %s", c.Name, c.Arguments, page) }
	for _, e := range log {
		switch d := e.Data.(type) {
		case event.ToolStarted:
			open[d.Call.ID] = d.Call
			if d.Call.Name == "browser_open" {
				page = string(d.Call.Arguments)
			}
			if doubtful[name(d.Call)] {
				if repeated++; looks == 0 {
					t.Errorf("%s was repeated without a look", name(d.Call))
				}
				delete(doubtful, name(d.Call))
			}
			if strings.HasSuffix(d.Call.Name, "_read") || strings.HasSuffix(d.Call.Name, "_list") {
				looks++
			}
		case event.RunInterrupted:
			interrupts++
			for id := range open {
				broken[id] = true
			}
		case event.ToolFinished:
			r := d.Message.Result
			if c, ok := open[r.CallID]; ok && broken[r.CallID] {
				if r.State != chat.CallUnknown {
					t.Errorf("%s was under way at a kill and is answered as %s", name(c), r.State)
				}
				if slices.Contains(looked, c.Name) {
					unknown++
					doubtful[name(c)], looks = true, 0
				}
			} else if r.State == chat.CallUnknown {
				t.Errorf("%s is answered as unknown for no reason", r.Name)
			}
			delete(open, r.CallID)
		}
	}
	kills := 0
	for _, n := range s.kills {
		kills += n
	}
	if interrupts != kills || len(open) > 0 {
		t.Errorf("the log has %d interruptions after %d kills, and %d open calls", interrupts, kills, len(open))
	}
	if sure := s.kills[postCame] + s.kills[postDone]; unknown < sure || repeated < s.kills[postCame] {
		t.Errorf("%d acting calls were unknown and %d repeated, want at least %d and %d", unknown, repeated, sure, s.kills[postCame])
	}
	return unknown, repeated
}
