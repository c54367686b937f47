package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gofer/backend/proc"
	"gofer/backend/tool"
)

//go:embed jobs.md
var jobsAbout string

const (
	mostJobs  = 8                      // under way at once
	keptJobs  = 20                     // that have ended and can still be read
	firstLook = 500 * time.Millisecond // a job that fails at once says so in the answer to its start
	stopLimit = 3 * time.Second        // for a job to end once it is told to
)

// Jobs are the background jobs of one owner. They end when it is closed.
type Jobs struct {
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	mu   sync.Mutex
	list []*job // oldest first
	made int
}

// NewJobs makes the place where jobs of an owner are kept.
func NewJobs() *Jobs {
	j := &Jobs{}
	j.life, j.end = context.WithCancel(context.Background())
	return j
}

// Close ends all jobs with everything they started, and waits for that.
func (j *Jobs) Close() {
	j.end()
	j.work.Wait()
}

// job is one command in the background.
type job struct {
	id, command, dir string
	boxed            bool // it runs in a sandbox
	began            time.Time
	process          *proc.Process
	stop             context.CancelFunc
	over             chan struct{} // closed when out is there
	out              proc.Outcome
	stopped          atomic.Bool // somebody told it to end
}

func (b *job) running() bool {
	select {
	case <-b.over:
		return false
	default:
		return true
	}
}

var errMany = errors.New("too many jobs")

func (j *Jobs) start(command, dir string, sandbox *proc.Sandbox) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	running := 0
	for _, b := range j.list {
		if b.running() {
			running++
		}
	}
	if running >= mostJobs {
		return nil, errMany
	}
	ctx, stop := context.WithCancel(j.life)
	p, err := proc.Start(ctx, proc.Command{Line: command, Dir: dir, Cap: outputCap, Sandbox: sandbox})
	if err != nil {
		stop()
		return nil, err
	}
	j.made++
	b := &job{id: fmt.Sprintf("j%d", j.made), command: command, dir: dir, boxed: sandbox != nil, began: time.Now(), process: p, stop: stop, over: make(chan struct{})}
	j.list = append(j.list, b)
	j.forget()
	j.work.Go(func() {
		defer close(b.over)
		defer stop()
		b.out, _ = p.Wait() // an error says that it was stopped, which is known
	})
	return b, nil
}

// forget drops the oldest jobs that have ended; the lock is held.
func (j *Jobs) forget() {
	ended := 0
	for i := len(j.list) - 1; i >= 0; i-- {
		if j.list[i].running() {
			continue
		}
		if ended++; ended > keptJobs {
			j.list = slices.Delete(j.list, i, i+1)
		}
	}
}

func (j *Jobs) find(id string) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, b := range j.list {
		if b.id == strings.TrimSpace(id) {
			return b
		}
	}
	return nil
}

func (j *Jobs) all() []*job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

type jobsArgs struct {
	Action  string `json:"action" enum:"start,list,output,stop" about:"What to do"`
	Command string `json:"command,omitempty" about:"start: command line for the shell"`
	Cwd     string `json:"cwd,omitempty" about:"start: folder to run in; default the workspace"`
	Job     string `json:"job,omitempty" about:"output, stop: which one, such as j1"`
	Outside bool   `json:"outside_sandbox,omitempty" about:"start: as in shell_exec"`
}

// Background starts, lists, reads and stops commands in the background.
func Background(workspace string, jobs *Jobs, box Box) tool.Tool {
	return tool.New("shell_jobs", jobsAbout, tool.Acts, func(ctx context.Context, a jobsArgs) (tool.Result, error) {
		switch a.Action {
		case "start":
			return jobs.begin(ctx, workspace, a, box.of(ctx))
		case "list":
			return jobs.told(), nil
		}
		b := jobs.find(a.Job)
		if b == nil {
			return tool.Failed("There is no job %q. List them with action list.", a.Job), nil
		}
		if a.Action == "stop" {
			return b.ended(ctx)
		}
		return b.shown(), nil
	},
		tool.Titled(func(a jobsArgs) string { return strings.TrimSpace(a.Action + " " + a.Command + a.Job) }),
		tool.Claiming(func(_ context.Context, a jobsArgs) ([]tool.Claim, error) {
			if a.Action != "start" || strings.TrimSpace(a.Command) == "" {
				return nil, nil // nothing new is run
			}
			return []tool.Claim{{Class: tool.RunCommand, Object: a.Command, Detail: folder(workspace, a.Cwd), Outside: a.Outside}}, nil
		}))
}

func (j *Jobs) begin(ctx context.Context, workspace string, a jobsArgs, sandbox *proc.Sandbox) (tool.Result, error) {
	if refusal := unfit(a.Command); refusal != "" {
		return tool.Failed("%s", refusal), nil
	}
	if a.Cwd == "" {
		if err := os.MkdirAll(workspace, 0o755); err != nil {
			return tool.Failed("The workspace %s cannot be made: %v. Name another folder in cwd.", workspace, err), nil
		}
	}
	dir := folder(workspace, a.Cwd)
	b, err := j.start(a.Command, dir, sandbox)
	switch {
	case errors.Is(err, errMany):
		return tool.Failed("%d jobs are running already. Stop one first.", mostJobs), nil
	case errors.Is(err, os.ErrNotExist):
		return tool.Failed("There is no folder %s to run in. Look with fs_list, or leave cwd out.", dir), nil
	case err != nil:
		return tool.Failed("The command could not be started: %v.", err), nil
	}
	look := time.NewTimer(firstLook)
	defer look.Stop()
	select {
	case <-b.over:
	case <-look.C:
	case <-ctx.Done(): // it runs, and is found in the list
		return tool.Result{}, ctx.Err()
	}
	return b.shown(), nil
}

// told lists the jobs.
func (j *Jobs) told() tool.Result {
	all := j.all()
	if len(all) == 0 {
		return tool.Text("There are no jobs.")
	}
	var b strings.Builder
	for _, one := range all {
		fmt.Fprintf(&b, "%s %s: %s\n", one.id, one.state(), brief(one.command))
	}
	return tool.Text("%s", strings.TrimSuffix(b.String(), "\n"))
}

// state says in a few words how a job stands.
func (b *job) state() string {
	switch {
	case b.running():
		return fmt.Sprintf("runs since %v", time.Since(b.began).Round(time.Second))
	case b.stopped.Load():
		return "was stopped"
	case b.out.Exit < 0:
		return "was ended by a signal"
	}
	return fmt.Sprintf("ended with exit code %d", b.out.Exit)
}

// shown is how a job stands and what it has printed.
func (b *job) shown() tool.Result {
	out := b.out
	if b.running() {
		out = proc.Outcome{}
		out.Stdout, out.Stderr, out.Truncated = b.process.Output()
	}
	r := tool.Result{Outcome: b.state(), Failed: !b.running() && !b.stopped.Load() && out.Exit != 0}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: %s\n", b.id, b.state(), brief(b.command))
	left(&text, out)
	if b.boxed && r.Failed {
		text.WriteString(boxed)
	}
	r.Origin = streams(&text, b.command, out)
	r.Text = strings.TrimSuffix(text.String(), "\n")
	return r
}

// ended stops a job.
func (b *job) ended(ctx context.Context) (tool.Result, error) {
	if !b.running() {
		return b.shown(), nil
	}
	b.stopped.Store(true)
	b.stop()
	late := time.NewTimer(stopLimit)
	defer late.Stop()
	select {
	case <-b.over:
		return b.shown(), nil
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	case <-late.C:
		return tool.Failed("%s was told to end and still runs.", b.id), nil
	}
}
