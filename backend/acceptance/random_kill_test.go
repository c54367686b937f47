//go:build linux

package acceptance

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// TestKillsAtRandomMomentsLoseNothingThatWasTold kills process after process of
// one run after the other, whatever they are at: starting, storing, calling.
// Every call leaves a line in a file, which nobody asks for twice.
func TestKillsAtRandomMomentsLoseNothingThatWasTold(t *testing.T) {
	times := 8
	if long() {
		times = 200
	}
	const lines = 40
	var turns []script.Turn
	for i := range lines {
		turns = append(turns, script.Calls(script.Tool("shell_exec", args{"command": fmt.Sprintf("echo line %d. >> log", i)}), script.Tool("fs_list", args{"path": "."})))
	}
	model := llmtest.Serve(t, script.Script{Model: "lines", By: script.ByHistory, Doubt: "nothing is doubted", Turns: append(turns, script.Says("Done."))})
	dir := newHome(t)
	p := open(t, dir)
	if _, err := p.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Scripted", BaseURL: model.URL, Model: "lines", Default: true}); err != nil {
		t.Fatal(err)
	}
	p.unnamed()
	p.end()

	rng := rand.New(rand.NewPCG(11, 200))
	var starts []time.Duration
	kills, unknown, offered, done := 0, 0, 0, 0
	for kills < times {
		cwd := t.TempDir()
		p := open(t, dir)
		session := p.session(engine.SessionSpec{Mode: "full", Workspace: cwd})
		p.end()
		runID, over, doubtful := "", false, 0
		for !over && kills < times {
			as, last := "prompt", "Go."
			if runID != "" {
				as, last = "continue", runID
			}
			c := start(t, spec{home: dir, cwd: cwd, as: as}, session.ID, last)
			time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
			c.kill()
			kills++
			var told []event.Envelope
			for e := range c.events {
				told = append(told, e)
			}
			if len(told) > 0 {
				checkKept(t, dir, session.ID, told)
			}
			began := time.Now()
			p := open(t, dir)
			starts = append(starts, time.Since(began))
			runs := p.runs(session.ID)
			switch {
			case len(runs) == 0:
				if len(told) > 0 {
					t.Errorf("kill %d: a run was told and is lost", kills)
				}
			case runs[0].State == event.RunIsInterrupted, !runs[0].State.Final(): // offered, or it goes on by itself
				runID = runs[0].ID
				offered++
			default:
				over = true
				done++
				if runs[0].State != event.RunIsCompleted {
					t.Errorf("kill %d: the run ended %s (%+v)", kills, runs[0].State, runs[0].Error)
				}
			}
			p.end()
			doubtful = checkLines(t, dir, session.ID, cwd)
			if t.Failed() {
				t.Fatalf("at kill %d; standard error of the process:\n%s", kills, c.stderr())
			}
		}
		unknown += doubtful
	}
	slow, worst := p95(starts)
	t.Logf("%d kills: 0 told messages lost, database whole each time; the run was offered or went on %d times, %d runs had ended; %d calls were of unknown outcome, none was made twice; next start p95 %.0f ms, largest %.0f ms", kills, offered, done, unknown, ms(slow), ms(worst))
	if slow > 3*time.Second {
		t.Errorf("the next start took %v (p95), want less than 3 s", slow)
	}
	if offered < times/2 {
		t.Errorf("only %d of %d kills left a run to go on with", offered, kills)
	}
}

// runs returns the runs of a session.
func (p *here) runs(sessionID string) []engine.Run {
	p.t.Helper()
	snapshot, err := p.Snapshot(p.t.Context(), sessionID, engine.SnapshotQuery{Limit: -1})
	if err != nil {
		p.t.Fatal(err)
	}
	return snapshot.Runs
}

// checkLines compares what the calls of a session left in the file with what is
// stored of them. It returns how many are of unknown outcome.
func checkLines(t *testing.T, dir, sessionID, cwd string) (unknown int) {
	t.Helper()
	log, _ := os.ReadFile(filepath.Join(cwd, "log"))
	states := map[string]chat.CallState{}
	calls := map[string]string{} // lines by call
	for _, m := range read(t, dir, sessionID).messages {
		for _, c := range m.Calls {
			if _, line, ok := strings.Cut(string(c.Arguments), "echo "); ok {
				calls[c.ID] = line[:strings.IndexByte(line, '.')+1]
			}
		}
		if m.Result != nil && calls[m.Result.CallID] != "" {
			states[calls[m.Result.CallID]] = m.Result.State
		}
	}
	for _, line := range calls {
		switch n := strings.Count(string(log), line+"\n"); {
		case n > 1:
			t.Errorf("%q was made %d times", line, n)
		case states[line] == chat.CallSucceeded && n == 0:
			t.Errorf("%q was told to be done and is not", line)
		case states[line] == chat.CallUnknown:
			unknown++
		}
	}
	return unknown
}
