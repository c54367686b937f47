//go:build linux

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// TestAKilledProcessLeavesNoBrowserAndAProfileThatWorks kills a process whose
// browser shows a page, again and again on one profile.
func TestAKilledProcessLeavesNoBrowserAndAProfileThatWorks(t *testing.T) {
	times := 2
	if long() {
		times = 50
	}
	site := numbered(t)
	model := llmtest.Serve(t, script.Script{Model: "page", By: script.ByHistory, Doubt: "nothing is doubted", Turns: []script.Turn{
		script.Calls(script.Tool("browser_open", args{"url": site + "/one"})), {Text: []string{"Done."}, Hold: "never"},
	}})
	dir := newHome(t)
	p := open(t, dir)
	if _, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Scripted", BaseURL: model.URL, Model: "page", Default: true}); err != nil {
		t.Fatal(err)
	}
	p.unnamed()
	var sessions []string
	for range times {
		sessions = append(sessions, p.session(engine.SessionSpec{Mode: "full", Headless: true}).ID)
	}
	p.end()
	var gone, opened []time.Duration
	for n, session := range sessions {
		began := time.Now()
		c := start(t, spec{home: dir, as: "prompt"}, session, "Go.")
		var result *chat.ToolResult
		for e := range c.events {
			if d, ok := e.Data.(event.ToolFinished); ok {
				result = d.Message.Result
				break
			}
		}
		if result == nil || result.State != chat.CallSucceeded || result.Outcome != "/one" {
			t.Fatalf("start %d on the profile: the page gave %+v\n%s", n+1, result, c.stderr())
		}
		opened = append(opened, time.Since(began))
		if len(browsers(dir)) == 0 {
			t.Fatal("no browser runs")
		}
		c.kill()
		gone = append(gone, until(t, 3*time.Second, "no browser is left of a killed process", func() bool { return len(browsers(dir)) == 0 }))
	}
	slow, worst := p95(gone)
	up, upWorst := p95(opened)
	t.Logf("%d of %d kills left no browser: gone after p95 %.0f ms, largest %.0f ms; the profile worked at each next start, page there after p95 %.0f ms, largest %.0f ms", len(gone), times, ms(slow), ms(worst), ms(up), ms(upWorst))
}

// TestABrowserThatIsKilledInACallEndsTheCallAndTheNextOneWorks kills the browser
// while it waits for what never comes.
func TestABrowserThatIsKilledInACallEndsTheCallAndTheNextOneWorks(t *testing.T) {
	times := 2
	if long() {
		times = 50
	}
	p := open(t, newHome(t))
	var ended, worked []time.Duration
	for n := range times {
		b := &bench{here: p, silent: newSilent(t)}
		turns := append(opens("/fine?first")(b), script.Calls(script.Tool("browser_wait", args{"text": "never there", "timeout": 20})), opens("/fine")(b)[0])
		b.model = llmtest.Serve(t, script.Script{Model: "kill", Doubt: "nothing is doubted", Turns: append(turns, script.Says("Done."))})
		b.session = p.session(engine.SessionSpec{Mode: "full", Headless: true, Endpoint: &engine.Endpoint{BaseURL: b.model.URL, Model: "kill"}})
		runID := p.send(b.session.ID, "Go.")
		until(t, 20*time.Second, "the call waits", func() bool {
			began := 0
			for _, e := range p.told(b.session.ID) {
				if _, ok := e.Data.(event.ToolStarted); ok {
					began++
				}
			}
			return began == 2
		})
		time.Sleep(time.Duration(n%5) * 20 * time.Millisecond)
		for _, pid := range roots(p.dir) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		answered := func(n int) func() bool {
			return func() bool {
				for _, e := range p.told(b.session.ID) {
					if _, ok := e.Data.(event.ToolFinished); ok {
						n--
					}
				}
				return n <= 0
			}
		}
		ended = append(ended, until(t, 5*time.Second, "the call has ended", func() bool { return answered(2)() }))
		worked = append(worked, until(t, 20*time.Second, "the next call has ended", func() bool { return answered(3)() }))
		if end := p.finished(b.session.ID, runID, 10*time.Second); end.State != event.RunIsCompleted {
			t.Errorf("kill %d: the run ended %s (%+v)", n+1, end.State, end.Error)
		}
		var results []chat.ToolResult
		for _, e := range p.told(b.session.ID) {
			if d, ok := e.Data.(event.ToolFinished); ok {
				results = append(results, *d.Message.Result)
			}
		}
		if len(results) != 3 || results[1].State != chat.CallFailed || results[2].State != chat.CallSucceeded || results[2].Outcome != "Fine" {
			t.Fatalf("kill %d: the calls gave %+v; want a failure and the page", n+1, results)
		}
	}
	_, slowest := p95(ended)
	_, worst := p95(worked)
	t.Logf("%d kills in a call: it ended within %.0f ms, the next one worked within %.0f ms", times, ms(slowest), ms(worst))
	if slowest > time.Second || worst > 8*time.Second {
		t.Errorf("a call ended after %v, the next one worked after %v; want 1 s and 8 s at most", slowest, worst)
	}
}

// roots are the browsers of a home without the processes they started.
func roots(dir string) []int {
	return processes(func(args string) bool {
		return strings.Contains(args, "--user-data-dir="+dir+"/") && !strings.Contains(args, "--type=")
	})
}

// TestManyStepsWithPicturesStaySmallAndFast looks at a page step after step.
func TestManyStepsWithPicturesStaySmallAndFast(t *testing.T) {
	steps := 30
	if long() {
		steps = 100
	}
	site := numbered(t)
	turns := []script.Turn{script.Calls(script.Tool("browser_open", args{"url": site + "/0"}))}
	for n := 1; len(turns) < steps; n++ {
		turns = append(turns, script.Calls(script.Tool("browser_open", args{"url": fmt.Sprintf("%s/%d", site, n)}), script.Tool("browser_screenshot", args{})))
	}
	model := llmtest.Serve(t, script.Script{Model: "steps", Turns: append(turns, script.Says("Done."))})
	p := open(t, newHome(t))
	session := p.session(engine.SessionSpec{Mode: "full", Headless: true, MaxIterations: 500, Endpoint: &engine.Endpoint{BaseURL: model.URL, Model: "steps"}})
	size := func() (n int64) {
		for _, name := range []string{"gofer.db", "gofer.db-wal"} {
			if info, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	replies := func() (at []int64) {
		for _, e := range p.told(session.ID) {
			if d, ok := e.Data.(event.IterationFinished); ok {
				at = append(at, d.ElapsedMS)
			}
		}
		return at
	}
	runID := p.send(session.ID, "Go.")
	until(t, 60*time.Second, "three steps are done", func() bool { return len(replies()) >= 3 })
	memoryBefore, sizeBefore, routines := memory(t, os.Getpid(), "VmRSS"), size(), runtime.NumGoroutine()
	end := p.finished(session.ID, runID, 5*time.Minute)
	if end.State != event.RunIsCompleted || end.Calls != 2*steps-1 {
		t.Fatalf("the run ended %s after %d calls (%+v)", end.State, end.Calls, end.Error)
	}
	grown, larger, more := mb(memory(t, os.Getpid(), "VmRSS")-memoryBefore), float64(size()-sizeBefore)/(1<<20), runtime.NumGoroutine()-routines
	took := replies()
	mean := func(ms []int64) (sum int64) {
		for _, m := range ms {
			sum += m
		}
		return sum / int64(len(ms))
	}
	early, late := mean(took[1:11]), mean(took[steps-10:steps])
	t.Logf("%d steps with a picture each: resident +%.1f MB, database +%.1f MB, %+d goroutines; the first ten took %d ms each, the last ten %d ms", steps, grown, larger, more, early, late)
	if grown > 150 || larger > 60 || more > 10 {
		t.Errorf("it grew by %.1f MB, the database by %.1f MB, and %d goroutines are left; want 150, 60 and 10 at most", grown, larger, more)
	}
	if long() && float64(late) > 1.5*float64(early)+20 { // others load the machine while the short form runs
		t.Errorf("a step took %d ms at first and %d ms in the end", early, late)
	}
}
