//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// shell prepares the line for bash, or sh where there is none. Neither reads a
// start file when run like this.
func shell(ctx context.Context, line string) *exec.Cmd {
	name := "/bin/sh"
	if path, err := exec.LookPath("bash"); err == nil {
		name = path
	}
	return exec.CommandContext(ctx, name, "-c", line)
}

// job is a child and all it started: its session, its descendants, and
// whatever carries its marker in the environment.
type job struct {
	cmd  *exec.Cmd
	mark string

	mu   sync.Mutex
	seen map[int]process // members found while the child lived, for those who hide later
}

// process is a running process as the scan saw it. Start tells it from a later
// one of the same number.
type process struct {
	pid, parent, group, session int
	start                       string
}

func newJob(cmd *exec.Cmd, mark string) (*job, error) {
	// An own session: no terminal to prompt on, and a group to kill.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return &job{cmd: cmd, mark: mark, seen: map[int]process{}}, nil
}

func (j *job) started() error { return nil }

func (j *job) close() {}

// kill ends the whole job at once. Descendants are looked up first: once their
// parent is dead, one that also dropped the marker could not be told any more.
func (j *job) kill() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	members := j.members()
	err := syscall.Kill(-j.cmd.Process.Pid, syscall.SIGKILL)
	for _, p := range members {
		if p.pid != j.cmd.Process.Pid {
			end(p)
		}
	}
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// sweep ends what the child has left running. It looks again until nothing is
// found, since a process may fork while it is hunted.
func (j *job) sweep(limit time.Duration) (ended, left []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	hit := map[int]bool{}
	for until := time.Now().Add(limit); ; {
		members := j.members()
		if len(members) == 0 {
			break
		}
		for _, p := range members {
			hit[p.pid] = true
			end(p)
		}
		if time.Now().After(until) {
			for _, p := range j.members() {
				left = append(left, p.pid)
				delete(hit, p.pid)
			}
			break
		}
		time.Sleep(5 * time.Millisecond) // the kernel needs a moment to end them
	}
	for pid := range hit {
		ended = append(ended, pid)
	}
	return ended, left
}

// members lists the living processes of the job, the child itself only while
// it has not been waited for.
func (j *job) members() []process {
	root := j.cmd.Process.Pid
	all := processes()
	in := map[int]bool{}
	if p, ok := all[root]; ok && p.session == root {
		in[root] = true
	}
	for pid, p := range all {
		if before, ok := j.seen[pid]; ok && before.start == p.start {
			in[pid] = true
		} else if pid != os.Getpid() && (p.session == root || p.group == root || marked(p, j.mark)) {
			in[pid] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for pid, p := range all {
			if !in[pid] && in[p.parent] {
				in[pid], grew = true, true
			}
		}
	}
	members := make([]process, 0, len(in))
	for pid := range in {
		j.seen[pid] = all[pid]
		members = append(members, all[pid])
	}
	return members
}

// end kills one process, never another that took its number meanwhile where
// the system has handles on processes.
func end(p process) {
	handle, err := os.FindProcess(p.pid)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if now, ok := lookup(p.pid); ok && now.start == p.start {
		_ = handle.Kill()
	}
}
