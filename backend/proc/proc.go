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
	if err := ctx.Err(); err != nil {
		return Outcome{Exit: -1}, err
	}
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return Outcome{Exit: -1}, fmt.Errorf("folder %s: %w", c.Dir, os.ErrNotExist)
		}
	}
	mark, err := newMark()
	if err != nil {
		return Outcome{Exit: -1}, err
	}
	limited, stop := ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		limited, stop = context.WithTimeout(ctx, c.Timeout)
	}
	defer stop()

	size := c.Cap
	if size <= 0 {
		size = DefaultCap
	}
	live := newLive(c.OnOutput)
	stdout, stderr := &headTail{cap: size, live: live}, &headTail{cap: size, live: live}

	cmd := shell(limited, c.Line)
	cmd.Dir = c.Dir
	cmd.Env = append(append(Environ(), c.Env...), marker+"="+mark)
	cmd.Stdin = nil // the null device: reading ends at once
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = waitDelay
	job, err := newJob(cmd, marker+"="+mark)
	if err != nil {
		return Outcome{Exit: -1}, fmt.Errorf("prepare command: %w", err)
	}
	defer job.close()
	var killed atomic.Bool
	cmd.Cancel = func() error {
		err := job.kill()
		killed.Store(err == nil)
		return err
	}

	began := time.Now()
	if err := cmd.Start(); err != nil {
		return Outcome{Exit: -1}, fmt.Errorf("start command: %w", err)
	}
	if err := job.started(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return Outcome{Exit: -1}, fmt.Errorf("start command: %w", err)
	}
	done := live.start()
	waited := cmd.Wait()
	ended, left := job.sweep(sweepTime)
	done()

	out := Outcome{
		Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.text(), Stderr: stderr.text(),
		Truncated: stdout.dropped() > 0 || stderr.dropped() > 0,
		Left:      left, Elapsed: time.Since(began),
	}
	stopped := killed.Load()
	if !stopped {
		out.Ended = ended // after a stop this goes without saying
	}
	// Someone held the pipes open after the shell had ended. If nobody was
	// found to end, somebody may be hiding.
	out.Unknown = errors.Is(waited, exec.ErrWaitDelay) && len(ended) == 0 && len(left) == 0
	if err := ctx.Err(); err != nil && stopped {
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
