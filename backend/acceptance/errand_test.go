//go:build linux

package acceptance

import (
	"context"
	"strings"
	"testing"
	"time"

	"gofer/backend/cli"
	"gofer/backend/engine"
	"gofer/backend/errand"
	"gofer/backend/event"
	"gofer/backend/host"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// errands are the two that every way in must do.
var errands = []struct {
	name, prompt string
	script       func(model string) script.Script
	check        func(*errand.Site, string) []string
	calls        int
}{
	{"SaveLinks", errand.SaveLinksPrompt, errand.SaveLinks, errand.CheckLinks, 3},
	{"ReadAll", errand.ReadAllPrompt, errand.ReadAll, errand.CheckAll, 101},
}

func seeded(t *testing.T, o errand.Options) *errand.Site {
	t.Helper()
	s, err := errand.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestErrandsOfTheEngineEndWell(t *testing.T) {
	p := open(t, newHome(t))
	for _, c := range errands {
		t.Run(c.name, func(t *testing.T) {
			pages := 19 // just enough for a hundred calls; the command line does all 30
			if long() {
				pages = 30
			}
			site, model := seeded(t, errand.Options{Seed: 41, Pages: pages}), llmtest.Serve(t, c.script("errand"))
			session := p.session(engine.SessionSpec{Mode: "full", MaxIterations: 1000, Endpoint: &engine.Endpoint{BaseURL: model.URL, Model: "errand"}})
			stop := lively(t, p, func() string { return session.ID })
			runID := p.send(session.ID, c.prompt+site.Origin+"/")
			end := p.finished(session.ID, runID, 3*time.Minute)
			judgeErrand(t, end, c.calls, stop())
			for _, wrong := range c.check(site, session.Workspace) {
				t.Error(wrong)
			}
			s := read(t, p.dir, session.ID)
			s.check(t)
			sameEvents(t, "the engine's events", s.events, p.told(session.ID))
		})
	}
}

func judgeErrand(t *testing.T, end event.RunFinished, calls int, took []time.Duration) {
	t.Helper()
	if end.State != event.RunIsCompleted || end.Reason != "" || end.Calls < calls {
		t.Errorf("the run ended %s (%s, %+v) after %d calls, want completed after %d or more", end.State, end.Reason, end.Error, end.Calls, calls)
	}
	slow, worst := p95(took)
	t.Logf("%d calls in %.1f s; %d bound calls meanwhile: p95 %.1f ms, largest %.1f ms", end.Calls, float64(end.ElapsedMS)/1000, len(took), ms(slow), ms(worst))
	if len(took) == 0 || slow > time.Second {
		t.Errorf("p95 of %d bound calls was %v, want under a second even here", len(took), slow)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func TestErrandsOfTheCommandLineEndWell(t *testing.T) {
	for _, c := range errands {
		t.Run(c.name, func(t *testing.T) {
			site, model, dir, cwd := seeded(t, errand.Options{Seed: 42}), llmtest.Serve(t, c.script("errand")), newHome(t), t.TempDir()
			run := start(t, spec{home: dir, cwd: cwd}, "run", "--json", "--mode", "full", "--headless", "--max-iterations", "1000",
				"--base-url", model.URL, "--model", "errand", c.prompt+site.Origin+"/")
			first, ok := <-run.events
			if !ok {
				t.Fatalf("nothing was printed; standard error:\n%s", run.stderr())
			}
			// Somebody else looks on from another process, as a window would.
			guest, leave, err := host.OpenDir(t.Context(), dir, false, cli.Builder(version), host.Options{Version: version})
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
			watching, unwatch := context.WithCancel(t.Context())
			defer unwatch()
			seen, err := guest.Events(watching, first.SessionID)
			if err != nil {
				t.Fatal(err)
			}
			stop := lively(t, guest, func() string { return first.SessionID })
			printed, looked := []event.Envelope{first}, []event.Envelope{}
			ended := false
			for e := range seen {
				looked = append(looked, e)
				if _, ended = e.Data.(event.RunFinished); ended {
					break
				}
			}
			took := stop()
			leave()
			if !ended {
				t.Error("the host ended before its guest had seen the end of the run")
			}
			// It may say that it waits for its guest, and nothing else.
			code, said := run.code(t, 10*time.Second), strings.TrimSpace(run.stderr())
			if code != 0 || said != "" && (strings.Contains(said, "\n") || !strings.HasPrefix(said, "Done. Another Gofer command still uses this one")) {
				t.Errorf("got exit code %d and on standard error %q, want 0 and nothing", code, said)
			}
			for e := range run.events {
				printed = append(printed, e)
			}
			end, _ := printed[len(printed)-1].Data.(event.RunFinished)
			t.Logf("the guest saw %d of %d events, the end too: %v", len(looked), len(printed), ended)
			judgeErrand(t, end, c.calls, took)
			for _, wrong := range c.check(site, cwd) {
				t.Error(wrong)
			}
			s := read(t, dir, first.SessionID)
			s.check(t)
			sameEvents(t, "--json", s.events, printed)
			sameEvents(t, "the guest", s.events, looked)
			if lines := strings.Count(run.stdout(), "\n"); lines != len(printed) {
				t.Errorf("got %d lines on standard output, %d of them events", lines, len(printed))
			}
		})
	}
}
