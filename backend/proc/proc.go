// Package proc starts a child process, keeps a bounded part of its output, and
// ends it with everything it started.
//
// Its promises: Run returns within about a second after its time is up or its
// context has ended; a flood of output costs no memory; a child cannot prompt,
// since it has no terminal and no input; no process it started outlives the
// call without being named in the outcome.
package proc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// DefaultCap is how many bytes of each stream are kept when a command names no cap.
const DefaultCap = 64 << 10

const (
	waitDelay = 500 * time.Millisecond // how long output may trickle in after the end
	sweepTime = 700 * time.Millisecond // how long survivors are looked for and ended
	marker    = "GOFER_JOB"            // names the job in the environment of all it starts
)

// Command is a line for the system's shell.
type Command struct {
	Line     string        // as one would type it
	Dir      string        // folder it runs in; empty takes the current one
	Env      []string      // NAME=value, added to Environ
	Timeout  time.Duration // 0 leaves it to the context
	OnOutput func(string)  // live output of both streams, thinned out; called from one goroutine at a time
	Cap      int           // bytes kept of each stream, half from its start, half from its end
	Sandbox  *Sandbox      // what it may touch; nil runs it with the rights of the person
}

// Outcome is what became of a command.
type Outcome struct {
	Exit      int    // exit code; -1 when it was killed
	Stdout    string // valid UTF-8
	Stderr    string
	Truncated bool  // output was left out of Stdout or Stderr
	TimedOut  bool  // Timeout ran out
	Ended     []int // processes it had left running, which were ended
	Left      []int // processes that could not be ended
	Unknown   bool  // somebody who could not be found still holds its output
	Elapsed   time.Duration
}

// Run runs a command to its end. It returns an error only when the command
// could not be started or when ctx ended; in the latter case the outcome holds
// what there was.
func Run(ctx context.Context, c Command) (Outcome, error) {
	p, err := Start(ctx, c)
	if err != nil {
		return Outcome{Exit: -1}, err
	}
	return p.Wait()
}

// Process is a command under way. It ends with the context it was started in;
// Wait has to be called once, by whoever started it.
type Process struct {
	cmd            *exec.Cmd
	job            *job
	outer          context.Context // as it was given, without the limit
	release        func()
	stdout, stderr *headTail
	killed         atomic.Bool
	began          time.Time
	flush          func()
}

// Start starts a command.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("folder %s: %w", c.Dir, os.ErrNotExist)
		}
	}
	mark, err := newMark()
	if err != nil {
		return nil, err
	}
	limited, release := ctx, func() {}
	if c.Timeout > 0 {
		limited, release = context.WithTimeout(ctx, c.Timeout)
	}
	size := c.Cap
	if size <= 0 {
		size = DefaultCap
	}
	live := newLive(c.OnOutput)
	p := &Process{outer: ctx, release: release, stdout: &headTail{cap: size, live: live}, stderr: &headTail{cap: size, live: live}}
	if p.cmd, err = command(limited, c); err != nil {
		release()
		return nil, err
	}
	p.cmd.Dir = c.Dir
	p.cmd.Env = append(append(Environ(), c.Env...), marker+"="+mark)
	p.cmd.Stdin = nil // the null device: reading ends at once
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.WaitDelay = waitDelay
	if p.job, err = newJob(p.cmd, marker+"="+mark); err != nil {
		release()
		return nil, fmt.Errorf("prepare command: %w", err)
	}
	p.cmd.Cancel = func() error {
		err := p.job.kill()
		p.killed.Store(err == nil)
		return err
	}
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		p.close()
		return nil, fmt.Errorf("start command: %w", err)
	}
	if err := p.job.started(); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.close()
		return nil, fmt.Errorf("start command: %w", err)
	}
	p.flush = live.start()
	return p, nil
}

// command prepares a line for the shell, inside its sandbox if it has one.
func command(ctx context.Context, c Command) (*exec.Cmd, error) {
	if c.Sandbox == nil {
		return shell(ctx, c.Line), nil
	}
	if err := SandboxWorks(); err != nil {
		return nil, err
	}
	dir := c.Dir
	if dir == "" {
		dir = "/"
	}
	return exec.CommandContext(ctx, sandboxProgram, sandboxArgs(*c.Sandbox, dir, c.Line)...), nil
}

func (p *Process) close() {
	p.job.close()
	p.release()
}

// Output returns what was kept of both streams so far, as valid UTF-8, and
// whether something was left out.
func (p *Process) Output() (stdout, stderr string, truncated bool) {
	return p.stdout.text(), p.stderr.text(), p.stdout.dropped() > 0 || p.stderr.dropped() > 0
}

// Wait waits for the end, ends what the command has left running and says what
// became of it. It returns an error only when the context has ended; then too
// the outcome holds what there was.
func (p *Process) Wait() (Outcome, error) {
	defer p.close()
	waited := p.cmd.Wait()
	ended, left := p.job.sweep(sweepTime)
	p.flush()

	out := Outcome{Exit: p.cmd.ProcessState.ExitCode(), Left: left, Elapsed: time.Since(p.began)}
	out.Stdout, out.Stderr, out.Truncated = p.Output()
	stopped := p.killed.Load()
	if !stopped {
		out.Ended = ended // after a stop this goes without saying
	}
	// Someone held the pipes open after the shell had ended. If nobody was
	// found to end, somebody may be hiding.
	out.Unknown = errors.Is(waited, exec.ErrWaitDelay) && len(ended) == 0 && len(left) == 0
	if err := p.outer.Err(); err != nil && stopped {
		return out, err
	}
	out.TimedOut = stopped
	var exit *exec.ExitError
	if waited == nil || stopped || errors.As(waited, &exit) || errors.Is(waited, exec.ErrWaitDelay) {
		return out, nil
	}
	return out, fmt.Errorf("run command: %w", waited)
}

func newMark() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a marker: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
