// Package shell holds the tool that runs a command. The guard decides whether
// a command runs; what runs has the rights of the person.
package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gofer/backend/proc"
	"gofer/backend/tool"
)

//go:embed exec.md
var execAbout string

const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = 10 * time.Minute
	slack          = 5 * time.Second // for ending what a command has started
	outputCap      = 24 << 10        // bytes of each stream the model reads
)

type execArgs struct {
	Command   string `json:"command" about:"Command line for the shell"`
	TimeoutMS int64  `json:"timeout_ms,omitempty" about:"Default 30000, at most 600000"`
	Cwd       string `json:"cwd,omitempty" about:"Folder to run in; default the workspace"`
	Outside   bool   `json:"outside_sandbox,omitempty" about:"Where commands run in a sandbox: run this one outside, for the network or other folders; the person is asked"`
}

// Box returns the sandbox that the call of a context runs in, nil for none.
type Box func(ctx context.Context) *proc.Sandbox

// of asks for the sandbox of a call.
func (b Box) of(ctx context.Context) *proc.Sandbox {
	if b == nil {
		return nil
	}
	return b(ctx)
}

// boxed tells a model what it ran into.
const boxed = "It ran in a sandbox: no network, and only the workspace can be written. If it needs more, call again with outside_sandbox; the person is asked.\n"

func (a execArgs) timeout() time.Duration {
	if a.TimeoutMS <= 0 {
		return defaultTimeout
	}
	return min(time.Duration(a.TimeoutMS)*time.Millisecond, maxTimeout)
}

// All returns the shell tools of one workspace.
func All(workspace string, jobs *Jobs, box Box) []tool.Tool {
	return []tool.Tool{Exec(workspace, box), Background(workspace, jobs, box)}
}

// unfit says why a line cannot be run, or "".
func unfit(command string) string {
	switch {
	case strings.TrimSpace(command) == "":
		return "The command is empty. Say what to run."
	case strings.ContainsRune(command, 0):
		return "A command cannot hold a NUL character."
	}
	return ""
}

// Exec runs a command in the workspace or another folder.
func Exec(workspace string, box Box) tool.Tool {
	return tool.New("shell_exec", execAbout, tool.Acts, func(ctx context.Context, a execArgs) (tool.Result, error) {
		if refusal := unfit(a.Command); refusal != "" {
			return tool.Failed("%s", refusal), nil
		}
		if a.Cwd == "" {
			if err := os.MkdirAll(workspace, 0o755); err != nil {
				return tool.Failed("The workspace %s cannot be made: %v. Name another folder in cwd.", workspace, err), nil
			}
		}
		dir := folder(workspace, a.Cwd)
		sandbox := box.of(ctx)
		out, err := proc.Run(ctx, proc.Command{
			Line: a.Command, Dir: dir, Timeout: a.timeout(), Cap: outputCap, Sandbox: sandbox,
			OnOutput: func(s string) { tool.Progress(ctx, s) },
		})
		switch {
		case errors.Is(err, os.ErrNotExist):
			return tool.Failed("There is no folder %s to run in. Look with fs_list, or leave cwd out.", dir), nil
		case ctx.Err() != nil:
			return result(a, out, sandbox != nil), ctx.Err()
		case err != nil:
			return tool.Failed("The command could not be run: %v.", err), nil
		}
		return result(a, out, sandbox != nil), nil
	},
		tool.Titled(func(a execArgs) string { return a.Command }),
		tool.WithinOf(func(a execArgs) time.Duration { return a.timeout() + slack }),
		tool.Claiming(func(_ context.Context, a execArgs) ([]tool.Claim, error) {
			if strings.TrimSpace(a.Command) == "" {
				return nil, nil
			}
			return []tool.Claim{{Class: tool.RunCommand, Object: a.Command, Detail: folder(workspace, a.Cwd), Outside: a.Outside}}, nil
		}))
}

// folder is where a command runs, without links.
func folder(workspace, cwd string) string {
	if cwd == "~" || strings.HasPrefix(cwd, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			cwd = filepath.Join(home, cwd[1:])
		}
	}
	if !filepath.IsAbs(cwd) {
		cwd = filepath.Join(workspace, cwd)
	}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		return real
	}
	return filepath.Clean(cwd)
}

func result(a execArgs, out proc.Outcome, sandbox bool) tool.Result {
	var b strings.Builder
	var r tool.Result
	switch {
	case out.TimedOut:
		fmt.Fprintf(&b, "Timed out after %v and was ended, with all it had started. Set timeout_ms higher if it needs more time.\n", a.timeout())
		r.Outcome, r.Failed = "timed out", true
	case out.Exit < 0:
		b.WriteString("Was ended by a signal.\n")
		r.Outcome, r.Failed = "ended", true
	default:
		fmt.Fprintf(&b, "Exit code %d.\n", out.Exit)
		r.Outcome, r.Failed = fmt.Sprintf("exit %d", out.Exit), out.Exit != 0
	}
	left(&b, out)
	if sandbox && r.Failed {
		b.WriteString(boxed)
	}
	r.Origin = streams(&b, a.Command, out)
	r.Text = strings.TrimSuffix(b.String(), "\n")
	return r
}

// left tells of what a command has left behind.
func left(b *strings.Builder, out proc.Outcome) {
	if n := len(out.Ended); n > 0 {
		fmt.Fprintf(b, "It had left a process running (%s), which was ended.\n", numbers(out.Ended))
	}
	if len(out.Left) > 0 {
		fmt.Fprintf(b, "It left a process running that could not be ended: %s.\n", numbers(out.Left))
	}
	if out.Unknown {
		b.WriteString("It may have left a process running that could not be found.\n")
	}
	if out.Truncated {
		b.WriteString("The output is truncated: its start and its end are shown. Write it to a file to read all of it.\n")
	}
}

// streams writes what a command has printed as text from outside, and returns
// its origin, "" when there is nothing.
func streams(b *strings.Builder, command string, out proc.Outcome) (origin string) {
	for _, part := range []struct{ name, text string }{{"stdout", out.Stdout}, {"stderr", out.Stderr}} {
		if part.text == "" {
			fmt.Fprintf(b, "%s is empty.\n", part.name)
			continue
		}
		b.WriteString(tool.Fence(part.name+" of "+brief(command), part.text))
		b.WriteByte('\n')
		origin = "output of " + brief(command)
	}
	return origin
}

// brief is a command short enough to name where its output came from.
func brief(command string) string {
	line, _, cut := strings.Cut(strings.TrimSpace(command), "\n")
	if letters := []rune(line); len(letters) > 80 {
		line, cut = string(letters[:80]), true
	}
	if cut {
		line += " …"
	}
	return line
}

func numbers(pids []int) string {
	return strings.Trim(fmt.Sprint(pids), "[]")
}
