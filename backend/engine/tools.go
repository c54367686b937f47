package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"gofer/backend/browser"
	"gofer/backend/fault"
	"gofer/backend/guard"
	"gofer/backend/id"
	"gofer/backend/proc"
	"gofer/backend/store"
	"gofer/backend/tool"
	"gofer/backend/tools/ask"
	"gofer/backend/tools/browse"
	"gofer/backend/tools/files"
	"gofer/backend/tools/shell"
	"gofer/backend/tools/web"
)

// toolbox makes the tools of a run: they work in the session's workspace and
// tabs, and ask through the gate. A weak model may be offered only some of
// them, by name.
func (e *Engine) toolbox(s store.Session, asker ask.Person, boxed func(callID string) bool, only []string) (*tool.Box, error) {
	box, err := e.tools(s.ID, s.Workspace, s.Headless, true, boxed)
	if err != nil {
		return nil, err
	}
	box = append(box, ask.All(asker)...)
	if len(only) > 0 {
		box = slices.DeleteFunc(box, func(t tool.Tool) bool { return !slices.Contains(only, t.Name) })
	}
	return tool.NewBox(box...), nil
}

func (e *Engine) tools(owner, dir string, headless, tell bool, boxed func(callID string) bool) ([]tool.Tool, error) {
	dir, err := Workspace(dir)
	if err != nil {
		return nil, err
	}
	folder := files.Folder{
		Workspace: dir, Trash: e.trashOf(owner), Protected: []string{e.home.Dir()},
		Shared: []string{downloads(e.home)}, Secret: guard.Secret,
	}
	all := browse.AllWith(func(context.Context) (*browser.Session, error) {
		return e.browsers.lane(owner, headless || e.headless, tell)
	}, browse.Options{Files: folder})
	all = append(all, files.All(folder)...)
	all = append(all, shell.All(dir, e.jobsOf(owner), e.sandbox(dir, boxed))...)
	return append(all, web.All(web.Options{Files: folder})...), nil
}

// sandbox is what the commands of a run may touch that the guard has let run
// without asking: the workspace, and nothing of the person's own.
func (e *Engine) sandbox(dir string, boxed func(callID string) bool) shell.Box {
	return func(ctx context.Context) *proc.Sandbox {
		_, call := tool.CallOf(ctx)
		if boxed == nil || !boxed(call) {
			return nil
		}
		hidden := []string{e.home.Dir()}
		if home, err := os.UserHomeDir(); err == nil {
			hidden = append([]string{home}, hidden...)
		}
		return &proc.Sandbox{Write: dir, Hidden: hidden}
	}
}

// jobsOf returns the background jobs of a session or a caller.
func (e *Engine) jobsOf(owner string) *shell.Jobs {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jobs[owner]
	if j == nil {
		j = shell.NewJobs()
		if e.closed {
			j.Close() // nothing can be started in it
		}
		e.jobs[owner] = j
	}
	return j
}

// endJobs ends the background jobs of a session or a caller.
func (e *Engine) endJobs(owner string) {
	e.mu.Lock()
	j := e.jobs[owner]
	delete(e.jobs, owner)
	e.mu.Unlock()
	if j != nil {
		j.Close()
	}
}

//go:generate go run gofer/backend/cmd/tooldocs ../../docs/tools.md

// Catalogue lists every tool of the default agent, for documents. The tools
// are not to be run.
func Catalogue() []tool.Tool {
	all := browse.AllWith(func(context.Context) (*browser.Session, error) { return nil, browser.ErrClosed }, browse.Options{Files: files.Folder{}})
	all = append(all, files.All(files.Folder{})...)
	all = append(all, shell.All("", nil, nil)...)
	all = append(all, web.All(web.Options{Files: files.Folder{}})...)
	return append(all, ask.All(nil)...)
}

// caller is an outside user of the tools, such as an MCP client.
type caller struct {
	spec  CallerSpec
	box   *tool.Box
	close func()

	mu    sync.Mutex
	taint string          // where the last outside text it was given came from
	all   map[string]bool // where all of it came from, see noted
}

// sources returns where what it was given came from: the last, and all.
func (c *caller) sources() (string, map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taint, c.all
}

// read notes the source of a result.
func (c *caller) read(origin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if origin != "" {
		c.taint, c.all = origin, noted(c.all, origin)
	}
}

// OpenCaller lets an outside program use the tools, with tabs and grants of
// its own.
func (e *Engine) OpenCaller(_ context.Context, spec CallerSpec) (string, error) {
	if spec.Mode == "" {
		spec.Mode = "ask"
	}
	if err := checkRun(spec.Mode, 1); err != nil {
		return "", err
	}
	grants, err := grantsOf(spec.Allow)
	if err != nil {
		return "", err
	}
	if spec.Workspace, err = Workspace(spec.Workspace); err != nil {
		return "", err
	}
	e.allKeys() // what its tools find goes to another program
	callerID := id.New()
	list, err := e.tools(callerID, spec.Workspace, spec.Headless, false, nil)
	if err != nil {
		return "", err
	}
	e.guard.Grant(callerID, grants...)
	e.mu.Lock()
	e.callers[callerID] = &caller{spec: spec, box: tool.NewBox(list...), close: func() { e.endJobs(callerID); e.browsers.leave(callerID); e.guard.Forget(callerID) }}
	e.mu.Unlock()
	return callerID, nil
}

// CloseCaller ends what OpenCaller began.
func (e *Engine) CloseCaller(_ context.Context, callerID string) error {
	e.mu.Lock()
	c := e.callers[callerID]
	delete(e.callers, callerID)
	e.mu.Unlock()
	if c != nil {
		c.close()
	}
	return nil
}

func (e *Engine) caller(callerID string) (*caller, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.callers[callerID]; ok {
		return c, nil
	}
	return nil, fault.New(fault.NotFound, "This caller is not known.", "Open the connection again.")
}

// Tools lists what an outside caller may use.
func (e *Engine) Tools(_ context.Context, callerID string) ([]ToolInfo, error) {
	c, err := e.caller(callerID)
	if err != nil {
		return nil, err
	}
	var out []ToolInfo
	for _, t := range c.box.All() {
		if !t.RunOnly {
			out = append(out, ToolInfo{Name: t.Name, About: t.About, Schema: t.Schema, Reads: t.Effect == tool.Reads})
		}
	}
	return out, nil
}

// CallTool makes one call for an outside caller, behind the same guard. Nobody
// is there to be asked, so what would ask is refused with the missing grant.
func (e *Engine) CallTool(ctx context.Context, callerID, name string, args json.RawMessage) (ToolOutput, error) {
	c, err := e.caller(callerID)
	if err != nil {
		return ToolOutput{}, err
	}
	t, ok := c.box.Get(name)
	if !ok || t.RunOnly {
		return ToolOutput{}, fault.New(fault.NotFound, fmt.Sprintf("There is no tool %q.", name), "")
	}
	request, refusal := judge(ctx, callerID, c.spec.Mode, c.spec.Workspace, t, args)
	taint, read := c.sources()
	request.Taint = taint
	if refusal == "" {
		if v := e.guard.Check(request); v.Decision != guard.Allow {
			refusal = refusedToCaller(v)
		}
	}
	if refusal != "" {
		return ToolOutput{Text: refusal, Failed: true}, nil
	}
	e.ways.before(ctx, deed{owner: callerID, full: request.Mode == guard.ModeFull, tool: t, args: args, claims: request.Claims, read: read})
	if d := t.Deadline(args); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d+time.Second)
		defer cancel()
	}
	r, err := t.Run(ctx, args)
	if err != nil {
		f := *fault.From(noBrowser(fmt.Errorf("%s: %w", name, err)))
		f.Message, f.Hint = e.redact.Redact(f.Message), e.redact.Redact(f.Hint)
		return ToolOutput{}, &f
	}
	c.read(r.Origin)
	out := ToolOutput{Text: r.Text, Failed: r.Failed}
	for _, f := range r.Files {
		out.Files = append(out.Files, Bytes{Name: f.Name, Media: f.Media, Data: f.Bytes})
	}
	return e.redact.Value(out).(ToolOutput), nil
}

// SandboxWorks says why commands cannot be run in a sandbox on this computer,
// or nil.
func SandboxWorks() error { return proc.SandboxWorks() }
