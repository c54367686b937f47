package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/home"
	"gofer/backend/llm/script"
)

// rig is an engine on a folder of its own, with a scripted model.
type rig struct {
	engine *engine.Engine
	model  *model
	dir    string
}

func newRig(turns ...script.Turn) (*rig, error) {
	dir, err := os.MkdirTemp("", "gofer-bench-")
	if err != nil {
		return nil, err
	}
	h, err := home.Open(filepath.Join(dir, "home"))
	if err != nil {
		return nil, err
	}
	e, err := engine.Build(h, engine.Options{Version: "bench", Headless: true})
	if err != nil {
		return nil, err
	}
	m, err := startModel(dir, turns...)
	if err != nil {
		return nil, err
	}
	return &rig{engine: e, model: m, dir: dir}, nil
}

func (r *rig) close() {
	r.engine.Close()
	r.model.close()
	os.RemoveAll(r.dir)
}

func (r *rig) session(ctx context.Context, iterations int) (engine.Session, error) {
	return r.engine.CreateSession(ctx, engine.SessionSpec{
		Mode: "full", Workspace: filepath.Join(r.dir, "work"), MaxIterations: iterations,
		Endpoint: &engine.Endpoint{BaseURL: r.model.URL, Model: "m"},
	})
}

// run sends a prompt and waits for its end.
func (r *rig) run(ctx context.Context, sessionID, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := r.engine.Events(ctx, sessionID)
	if err != nil {
		return err
	}
	if _, err := r.engine.SendPrompt(ctx, sessionID, chat.Prompt{Text: text}); err != nil {
		return err
	}
	for e := range events {
		if f, ok := e.Data.(event.RunFinished); ok {
			if f.State != event.RunIsCompleted {
				return fmt.Errorf("the run ended %s: %+v", f.State, f.Error)
			}
			return nil
		}
	}
	return ctx.Err()
}

// A run is as long as a session allows by default, and played a few times.
const rounds, runs = 100, 4

// loopOverhead is the time from the end of a reply to the next request, with a
// call that costs nothing in between: stored, guarded, made, stored, told.
func loopOverhead(ctx context.Context) (figure, error) {
	f := figure{name: "loop overhead per iteration, runs of 100", reach: 5 * time.Millisecond}
	var turns []script.Turn
	for i := range rounds * runs {
		if i > 0 && i%rounds == 0 {
			turns = append(turns, script.Says("done"))
		}
		turns = append(turns, script.Calls(script.Tool("fs_list", map[string]any{"path": fmt.Sprintf("dir%d", i%7)})))
	}
	r, err := newRig(append(turns, script.Says("done"))...)
	if err != nil {
		return f, err
	}
	defer r.close()
	for i := range 7 {
		if err := os.MkdirAll(filepath.Join(r.dir, "work", fmt.Sprintf("dir%d", i)), 0o755); err != nil {
			return f, err
		}
	}
	for range runs {
		s, err := r.session(ctx, rounds+5)
		if err != nil {
			return f, err
		}
		if err := r.run(ctx, s.ID, "go"); err != nil {
			return f, err
		}
	}
	requests, err := r.model.requests(ctx)
	if err != nil {
		return f, err
	}
	for i := 1; i < len(requests); i++ {
		if i%(rounds+1) == 0 {
			continue // a new run, not an iteration
		}
		before := requests[i-1]
		f.ours = append(f.ours, requests[i].At.Sub(before.At.Add(before.Took)))
	}
	f.floor, err = replay(ctx, requests)
	return f, err
}

// replay sends the same bodies with a bare client, one after the other.
func replay(ctx context.Context, requests []request) ([]time.Duration, error) {
	dir, err := os.MkdirTemp("", "gofer-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	turns := make([]script.Turn, len(requests))
	for i := range turns {
		turns[i] = script.Says("ok")
	}
	model, err := startModel(dir, turns...)
	if err != nil {
		return nil, err
	}
	defer model.close()
	for _, q := range requests {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, model.URL+"/chat/completions", bytes.NewReader(q.Body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	var out []time.Duration
	got, err := model.requests(ctx)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(got); i++ {
		out = append(out, got[i].At.Sub(got[i-1].At.Add(got[i-1].Took)))
	}
	return out, nil
}

// promptToRequest is the time from an accepted prompt to its first request, in
// a session of a thousand messages.
func promptToRequest(ctx context.Context) (figure, error) {
	f := figure{name: "prompt to request, 1,000-message session", reach: 20 * time.Millisecond}
	const before, measured = 500, 40
	var turns []script.Turn
	for i := range before + measured {
		turns = append(turns, script.Says(fmt.Sprintf("Answer %d: the lamps in the hall are lit from dusk to dawn, the ones in the yard until midnight.", i)))
	}
	r, err := newRig(turns...)
	if err != nil {
		return f, err
	}
	defer r.close()
	s, err := r.session(ctx, 100)
	if err != nil {
		return f, err
	}
	for i := range before {
		if err := r.run(ctx, s.ID, fmt.Sprintf("Question %d: which lamps are lit?", i)); err != nil {
			return f, err
		}
	}
	var starts []time.Time
	for range measured {
		starts = append(starts, time.Now())
		if err := r.run(ctx, s.ID, "And now?"); err != nil {
			return f, err
		}
	}
	requests, err := r.model.requests(ctx)
	if err != nil {
		return f, err
	}
	for i, start := range starts {
		f.ours = append(f.ours, requests[before+i].At.Sub(start))
	}
	f.floor, err = replay(ctx, requests[before:])
	return f, err
}

// startToSessions is the time a fresh process takes to open a home and list
// its sessions, beside a process that only says its version.
func startToSessions(ctx context.Context) (figure, error) {
	f := figure{name: "gofer-cli: process start to listed sessions", reach: 300 * time.Millisecond, median: true}
	binary := filepath.Join("build", "bin", "gofer-cli")
	if _, err := os.Stat(binary); err != nil {
		return f, fmt.Errorf("%s is missing: run make build first", binary)
	}
	dir, err := os.MkdirTemp("", "gofer-bench-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	for range 15 {
		for _, c := range []struct {
			args []string
			into *[]time.Duration
		}{{[]string{"sessions", "list"}, &f.ours}, {[]string{"--version"}, &f.floor}} {
			cmd := exec.CommandContext(ctx, binary, c.args...)
			cmd.Env = append(os.Environ(), home.EnvDir+"="+filepath.Join(dir, "home"))
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return f, fmt.Errorf("%v: %w\n%s", c.args, err, out)
			}
			*c.into = append(*c.into, time.Since(start))
		}
	}
	return f, nil
}
