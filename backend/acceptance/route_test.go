//go:build linux

package acceptance

import (
	"strings"
	"testing"
	"time"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// account sorts what a child printed by what it says about models.
type account struct {
	retries  []event.RouteRetrying
	switches []event.RouteSwitched
	notices  []string
	end      event.RunFinished
	session  string
}

func tell(c *child) account {
	var out account
	for e := range c.events {
		out.session = e.SessionID
		switch d := e.Data.(type) {
		case event.RouteRetrying:
			out.retries = append(out.retries, d)
		case event.RouteSwitched:
			out.switches = append(out.switches, d)
		case event.Notice:
			out.notices = append(out.notices, d.Text)
		case event.RunFinished:
			out.end = d
		}
	}
	return out
}

func TestTheCommandLineTellsRetriesSwitchesAndErrorsWithTheirKinds(t *testing.T) {
	t.Parallel()
	always := func(model string, f script.Failure) script.Script {
		f.Times = 99
		return script.Script{Model: model, Turns: []script.Turn{{Text: []string{"never"}, Fail: []script.Failure{f}}}}
	}
	m := llmtest.Serve(t,
		always("busy", script.Failure{Status: 503}), always("poor", script.Failure{Status: 402, Message: "no credits"}),
		script.Script{Model: "good", Turns: []script.Turn{script.Says("Here I am."), script.Says("Still here.")}},
	)
	s := spec{home: newHome(t), env: []string{"GOFER_KEYRING=off"}}
	put(t, s.home+"/settings.json", `{"titles": "prompt"}`)
	do := func(args ...string) {
		t.Helper()
		if code, _, stderr := gofer(t, s, args...); code != 0 {
			t.Fatalf("%v ended with %d\n%s", args, code, stderr)
		}
	}
	for _, name := range []string{"busy", "poor", "good"} {
		do("providers", "add", "--name", name, "--base-url", m.URL, "--model", name)
	}
	do("routes", "add", "Everyday", "busy", "poor", "good", "--default")
	do("routes", "add", "Hopeless", "busy=busy", "poor")

	c := start(t, s, "run", "--json", "--headless", "go")
	if code := c.code(t, 30*time.Second); code != 0 {
		t.Errorf("got exit code %d, want 0\n%s", code, c.stderr())
	}
	got := tell(c)
	if len(got.retries) != 2 || got.retries[0].Kind != "overloaded" || got.retries[1].Attempt != 3 || got.retries[0].Reason == "" {
		t.Errorf("told retries %+v", got.retries)
	}
	if len(got.switches) != 2 || got.switches[0].Kind != "overloaded" || got.switches[1].Kind != "quota" || got.switches[1].To != "good good" || got.switches[1].Reason == "" {
		t.Errorf("told switches %+v", got.switches)
	}
	c = start(t, s, "run", "--json", "--headless", "--route", "hopeless", "go")
	if code := c.code(t, 30*time.Second); code != 1 {
		t.Errorf("got exit code %d, want 1\n%s", code, c.stderr())
	}
	if got := tell(c); got.end.State != event.RunIsFailed || got.end.Reason != "quota" || got.end.Error == nil || len(got.end.Error.Reasons) != 2 || got.end.Error.Reasons[0].Code != "overloaded" {
		t.Errorf("the run ended %+v, %+v", got.end, got.end.Error)
	}
	code, stdout, stderr := gofer(t, s, "run", "--headless", "--route", "Hopeless", "go")
	t.Logf("exit code %d\n%s%s", code, stdout, stderr)
	plain(t, stderr, "No model in Hopeless answered.", "busy busy: ", "poor poor: ", "no credits")
	code, stdout, stderr = gofer(t, s, "run", "--headless", "go")
	t.Logf("exit code %d\n%s%s", code, stdout, stderr)
	if code != 0 || stdout != "Still here.\n" {
		t.Errorf("got %d and %q", code, stdout)
	}
	plain(t, stderr, "Switched to poor poor, because", "Switched to good good, because")
}

func TestASilentStreamIsToldAndEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	stalls := script.Turn{Text: []string{"One ", "two."}, Fail: []script.Failure{{Kind: script.FailStall, After: 2, Times: 1}}}
	m := llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{stalls}})
	p := open(t, newHome(t))
	p.unnamed()
	if _, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Slow", BaseURL: m.URL, Model: "m", Limits: &config.Limits{Silence: 18}}); err != nil {
		t.Fatal(err)
	}
	session := p.session(engine.SessionSpec{Mode: "full"})
	runID := p.send(session.ID, "go")
	find := func(fits func(event.Envelope) bool) bool {
		for _, e := range p.told(session.ID) {
			if fits(e) {
				return true
			}
		}
		return false
	}
	noticed := until(t, 20*time.Second, "the silence is told", func() bool {
		return find(func(e event.Envelope) bool {
			d, ok := e.Data.(event.Notice)
			return ok && strings.Contains(d.Text, "Slow m has said nothing for 15 seconds")
		})
	})
	retried := noticed + until(t, 8*time.Second, "the call has ended at its limit", func() bool {
		return find(func(e event.Envelope) bool {
			d, ok := e.Data.(event.RouteRetrying)
			return ok && d.Kind == "stream_broken" && strings.Contains(d.Reason, "18s")
		})
	})
	t.Logf("told after %v, ended after %v", noticed.Round(time.Millisecond), retried.Round(time.Millisecond))
	if retried < 17*time.Second {
		t.Errorf("the call ended after %v, before its limit", retried)
	}
	if end := p.finished(session.ID, runID, 10*time.Second); end.State != event.RunIsCompleted {
		t.Errorf("the run ended %+v, %+v", end, end.Error)
	}
}

func TestStopDuringASilentStreamClosesTheConnectionAtOnce(t *testing.T) {
	t.Parallel()
	stalls := script.Turn{Text: []string{"One ", "two."}, Fail: []script.Failure{{Kind: script.FailStall, After: 2, Times: 1}}}
	m := llmtest.Serve(t, script.Script{Model: "m", Turns: []script.Turn{stalls}})
	p := open(t, newHome(t))
	session := p.session(engine.SessionSpec{Mode: "full", Endpoint: &engine.Endpoint{BaseURL: m.URL, Model: "m"}})
	runID := p.send(session.ID, "go")
	until(t, 20*time.Second, "the stream has begun", func() bool {
		for _, e := range p.told(session.ID) {
			if e.Type == "message.delta" {
				return true
			}
		}
		return false
	})
	began := time.Now()
	if err := p.Stop(t.Context(), session.ID); err != nil {
		t.Fatal(err)
	}
	stopped := time.Since(began)
	closed := stopped + until(t, time.Second, "the connection is closed", func() bool {
		r := m.Requests()
		return len(r) == 1 && r[0].Left
	})
	t.Logf("stopped after %v, connection closed after %v", stopped.Round(time.Millisecond), closed.Round(time.Millisecond))
	if stopped > time.Second || closed > time.Second {
		t.Errorf("stopped after %v, closed after %v; want under a second", stopped, closed)
	}
	if end := p.finished(session.ID, runID, time.Second); end.State != event.RunIsCancelled {
		t.Errorf("the run ended %s", end.State)
	}
	time.Sleep(300 * time.Millisecond)
	if n := len(m.Requests()); n != 1 {
		t.Errorf("%d requests were made, want no further one", n)
	}
}
