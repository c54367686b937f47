package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/fault"
	"gofer/backend/host"
	"gofer/backend/tour"
)

// runFlags are the flags of gofer run.
type runFlags struct {
	tour, ephemeral, headless, json bool
	allow                           []string
	session, provider, model, mode  string
	route                           string
	baseURL, keyEnv, workspace      string
	maxIterations                   int
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   `run "what to do"`,
		Short: "Run an errand and print its answer",
		Long: `Run an errand and print its answer.

Steps go to standard error, the answer to standard output. Without an argument,
or with -, the errand is read from standard input. Where nobody can be asked,
calls that need leave are refused and the exit code is 3.`,
		Example: `  gofer run "what is on the front page of example.org?"
  gofer run --tour --headless
  gofer run --base-url http://127.0.0.1:11434/v1 --model qwen3 "tidy the folder"`,
		RunE: a.do(func(cmd *cobra.Command, args []string) (int, error) { return a.run(cmd.Context(), cmd, f, args) }),
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.tour, "tour", false, "play the guided tour: scripted, no model needed")
	fl.StringVar(&f.session, "session", "", "go on in a session: last, or its `ID` (default a new one)")
	fl.BoolVar(&f.ephemeral, "ephemeral", false, "throw session and browser profile away at the end")
	fl.StringVar(&f.provider, "provider", "", "`ID` of the model provider (default the one of the settings)")
	fl.StringVar(&f.route, "route", "", "`NAME` or id of the route of models (default the one of the settings)")
	fl.StringVar(&f.baseURL, "base-url", "", "`URL` of a model server that is not among the providers")
	fl.StringVar(&f.keyEnv, "api-key-env", "", "`NAME` of the environment variable with the key for --base-url")
	fl.StringVar(&f.model, "model", "", "`NAME` of the model")
	fl.StringVar(&f.mode, "mode", "", "plan to look and change nothing, ask, auto to ask less, or full for a machine that is only for the agent")
	fl.StringArrayVar(&f.allow, "allow", nil, "`GRANT` for a new session, such as \"visit: https://example.org\" or \"write: /home/you/notes\"; may be repeated")
	fl.BoolVar(&f.headless, "headless", false, "use a browser without a window")
	fl.StringVar(&f.workspace, "workspace", "", "`FOLDER` to work in (default the current one)")
	fl.IntVar(&f.maxIterations, "max-iterations", 0, "`NUMBER` of model calls after which the run sums up")
	fl.BoolVar(&f.json, "json", false, "print the events as lines of JSON and nothing else")
	return cmd
}

// check finds what makes no sense before anything is opened.
func (f runFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case f.mode != "" && !config.ValidMode(f.mode):
		return usage("The mode %q is not one of plan, ask, auto and full.", f.mode)
	case given("max-iterations") && f.maxIterations < 1:
		return usage("--max-iterations wants a number from 1 on.")
	case f.baseURL != "" && f.model == "":
		return usage("--base-url wants --model with it.")
	case f.baseURL != "" && f.provider != "":
		return usage("--base-url and --provider both name a model server; give one of them.")
	case f.route != "" && (f.baseURL != "" || f.provider != "" || f.model != "" || f.tour):
		return usage("--route names its own models; leave out --provider, --base-url, --model and --tour.")
	case f.keyEnv != "" && f.baseURL == "":
		return usage("--api-key-env belongs to --base-url; keys of providers are kept with \"gofer providers add\".")
	case f.tour && (f.session != "" || f.provider != "" || f.baseURL != "" || f.model != ""):
		return usage("--tour plays its own script in a session of its own; leave out --session, --provider, --base-url and --model.")
	case f.session != "" && f.ephemeral:
		return usage("--ephemeral starts with no sessions, so there is none to go on with; leave out --session.")
	case f.session != "" && (f.headless || f.baseURL != ""):
		return usage("--headless and --base-url belong to a new session; leave out --session.")
	case f.session != "" && len(f.allow) > 0:
		return usage("--allow belongs to a new session; leave out --session.")
	}
	return nil
}

func (a *app) run(ctx context.Context, cmd *cobra.Command, f runFlags, args []string) (int, error) {
	if err := f.check(cmd); err != nil {
		return 0, err
	}
	prompt, err := a.prompt(f, args)
	if err != nil {
		return 0, err
	}
	spec, err := a.spec(&f)
	if err != nil {
		return 0, err
	}
	if f.tour {
		t, err := tour.Start()
		if err != nil {
			return 0, err
		}
		defer t.Close()
		prompt, spec = t.Prompt, TourSession(t, spec)
		fmt.Fprintf(a.Stderr, "The guided tour is %s. Its files go to %s.\n", tour.Label, spec.Workspace)
	}
	service, end, err := a.OpenHost(ctx, "", HostOptions{Ephemeral: f.ephemeral})
	if err != nil {
		return 0, err
	}
	defer end()
	session, err := a.chooseSession(ctx, service, f, spec)
	if err != nil {
		return 0, err
	}
	return a.watchRun(ctx, service, session, f.json, false, func(ctx context.Context) (string, error) {
		return service.SendPrompt(ctx, session.ID, chat.Prompt{Text: prompt, Mode: f.mode, MaxIterations: f.maxIterations})
	})
}

// watchRun begins a run and follows it to its end.
func (a *app) watchRun(ctx context.Context, s host.Service, session engine.Session, asJSON, joins bool, start func(context.Context) (string, error)) (int, error) {
	// The events outlive a Ctrl-C, so that the end of the run is seen.
	following, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	events, err := s.Events(following, session.ID)
	if err != nil {
		return 0, err
	}
	runID, err := begin(ctx, start)
	if err != nil {
		return 0, err
	}
	w := &watch{app: a, service: s, session: session, runID: runID, events: events, json: asJSON, joins: joins}
	return w.follow(ctx)
}

// begin starts the run. A Ctrl-C in the middle of it still waits for the run's
// id, because a run nobody knows of cannot be stopped.
func begin(ctx context.Context, start func(context.Context) (string, error)) (string, error) {
	type sent struct {
		runID string
		err   error
	}
	asking, give := context.WithCancel(context.WithoutCancel(ctx))
	answer := make(chan sent, 1)
	go func() {
		defer give()
		runID, err := start(asking)
		answer <- sent{runID, err}
	}()
	select {
	case a := <-answer:
		return a.runID, a.err
	case <-ctx.Done():
	}
	patience := time.NewTimer(stopLimit)
	defer patience.Stop()
	select {
	case a := <-answer:
		return a.runID, a.err
	case <-patience.C:
		give()
		return "", ctx.Err()
	}
}

// prompt takes the errand from the arguments or from standard input.
func (a *app) prompt(f runFlags, args []string) (string, error) {
	if f.tour {
		if len(args) > 0 {
			return "", usage("--tour brings its own errand; leave out %q.", args[0])
		}
		return "", nil
	}
	text := strings.Join(args, " ")
	if text == "-" || len(args) == 0 && !a.IsTerminal(a.Stdin) {
		raw, err := io.ReadAll(io.LimitReader(a.Stdin, 4<<20))
		if err != nil {
			return "", fmt.Errorf("read the errand from standard input: %w", err)
		}
		text = string(raw)
	}
	text = chat.CleanPrompt(text)
	if text == "" {
		return "", usage(`Say what to do, such as: gofer run "what is on the front page of example.org?"`)
	}
	return text, nil
}

// spec is what a new session starts with.
func (a *app) spec(f *runFlags) (engine.SessionSpec, error) {
	workspace := a.Dir
	if f.workspace != "" {
		workspace = f.workspace
		if !filepath.IsAbs(workspace) && !strings.HasPrefix(workspace, "~") {
			workspace = filepath.Join(a.Dir, workspace)
		}
	}
	spec := engine.SessionSpec{
		Workspace: workspace, Mode: f.mode, Provider: f.provider, Model: f.model,
		MaxIterations: f.maxIterations, Headless: f.headless, Allow: f.allow,
	}
	if f.baseURL != "" {
		spec.Endpoint = &engine.Endpoint{BaseURL: f.baseURL, Model: f.model}
	}
	if f.route != "" {
		spec.Provider = f.route
	}
	if f.keyEnv != "" {
		key := a.Getenv(f.keyEnv)
		if key == "" {
			return spec, usage("The environment variable %s is not set.", f.keyEnv)
		}
		a.redact.Hide(key)
		spec.Endpoint.Key = key
	}
	if f.session == "" && !f.headless && !a.display() {
		spec.Headless = true
		fmt.Fprintln(a.Stderr, "There is no display, so the browser works without a window.")
	}
	return spec, nil
}

// display reports whether a window could be seen.
func (a *app) display() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return a.Getenv("DISPLAY") != "" || a.Getenv("WAYLAND_DISPLAY") != ""
}

func (a *app) chooseSession(ctx context.Context, s host.Service, f runFlags, spec engine.SessionSpec) (engine.Session, error) {
	if f.session == "" {
		return s.CreateSession(ctx, spec)
	}
	session, err := findSession(ctx, s, f.session)
	if err != nil {
		return session, err
	}
	var c engine.SessionChange
	if spec.Provider != "" {
		c.Provider = &spec.Provider
	}
	if f.model != "" {
		c.Model = &f.model
	}
	if f.workspace != "" {
		c.Workspace = &spec.Workspace
	}
	if c == (engine.SessionChange{}) {
		return session, nil
	}
	return s.ChangeSession(ctx, session.ID, c)
}

// findSession takes last or an id.
func findSession(ctx context.Context, s host.Service, which string) (engine.Session, error) {
	if which != "last" {
		snapshot, err := s.Snapshot(ctx, which, engine.SnapshotQuery{Limit: 1})
		return snapshot.Session, err
	}
	list, err := s.Sessions(ctx, engine.SessionQuery{Limit: 1})
	if err != nil {
		return engine.Session{}, err
	}
	if len(list) == 0 {
		return engine.Session{}, fault.New(fault.NotFound, "There is no session yet.", "Leave out --session to start one.")
	}
	return list[0], nil
}
