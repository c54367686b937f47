// Package cli is Gofer in a terminal: it turns command lines into calls of a
// host.Service and writes out what comes back. It decides nothing about runs.
//
// Answers go to standard output, everything else to standard error. Exit codes
// are 0 done, 1 failed or limit reached, 2 usage, 3 a call was refused for want
// of permission, 130 stopped.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gofer/backend/fault"
	"gofer/backend/host"
	"gofer/backend/logbook"
)

// The exit codes.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitRefused = 3
	ExitStopped = 130
)

// Environment is everything the command line needs from outside.
type Environment struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version string
	// OpenHost opens the home in dir, "" for the usual one.
	OpenHost func(ctx context.Context, dir string, o HostOptions) (host.Service, func(), error)
	// FindBrowser returns the path of the browser that would be used; preferred
	// is the one of the settings. Nil leaves the check out.
	FindBrowser func(ctx context.Context, preferred string) (string, error)
	// IsTerminal reports whether a stream is a terminal. Nil asks the system.
	IsTerminal func(stream any) bool
	// ReadSecret reads a line without showing it. Nil reads from the terminal.
	ReadSecret func() (string, error)
	// Getenv reads the environment. Nil asks the system.
	Getenv func(string) string
	// Dir is the current folder. "" asks the system.
	Dir string
}

// HostOptions say what kind of home a command wants.
type HostOptions struct {
	Ephemeral bool // a throwaway home with the settings and keys of the real one
}

// Execute runs one command line and returns its exit code.
func Execute(ctx context.Context, env Environment) int {
	a := &app{Environment: env}
	if err := a.complete(); err != nil {
		a.complain(err)
		return ExitFailed
	}
	root := a.root()
	root.SetArgs(env.Args)
	if env.Args == nil {
		root.SetArgs([]string{}) // nil would take those of the process
	}
	err := root.ExecuteContext(ctx)
	var wrong usageError
	switch {
	case err == nil:
		return a.code
	case !a.ran || errors.As(err, &wrong):
		a.complain(err)
		return ExitUsage
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(a.Stderr, "Stopped.")
		return ExitStopped
	}
	a.complain(err)
	return ExitFailed
}

// app is one command line at work.
type app struct {
	Environment
	redact logbook.Redactor
	ran    bool // a command has begun; errors before that are the command line's
	code   int
}

func (a *app) complete() (err error) {
	if a.Getenv == nil {
		a.Getenv = os.Getenv
	}
	if a.IsTerminal == nil {
		a.IsTerminal = isTerminal
	}
	if a.ReadSecret == nil {
		a.ReadSecret = a.readHidden
	}
	if a.Dir == "" {
		if a.Dir, err = os.Getwd(); err != nil {
			return fault.Wrap(fault.Unavailable, "The current folder is gone.", "Change to another folder and start again.", err)
		}
	}
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (a *app) readHidden() (string, error) {
	f, ok := a.Stdin.(*os.File)
	if !ok {
		return "", errors.New("no terminal")
	}
	raw, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(a.Stderr)
	return string(raw), err
}

// usageError is a command line that makes no sense.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// action is what a command does.
type action func(cmd *cobra.Command, args []string) (code int, err error)

func (a *app) do(f action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		a.ran = true
		a.code, err = f(cmd, args)
		return err
	}
}

// complain prints an error as a person reads it.
func (a *app) complain(err error) {
	var f *fault.Fault
	text := err.Error()
	if errors.As(err, &f) {
		text = f.Error()
	}
	text = strings.TrimRight(clean(a.redact.Redact(text)), "\n")
	fmt.Fprintf(a.Stderr, "gofer: %s\n", text)
}

func (a *app) root() *cobra.Command {
	cobra.MousetrapHelpText = ""
	root := &cobra.Command{
		Use:           "gofer",
		Short:         "An agent that runs errands in a browser you can watch",
		Version:       a.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		CompletionOptions: cobra.CompletionOptions{
			HiddenDefaultCmd: true,
		},
	}
	root.SetVersionTemplate("gofer {{.Version}}\n")
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%v. Try %q.", err, cmd.CommandPath()+" --help")
	})
	root.AddCommand(a.runCommand(), a.sessionsCommand(), a.providersCommand(), a.routesCommand(), a.mcpCommand(), a.undoCommand(), a.grantsCommand(), a.doctorCommand())
	a.group(root)
	return root
}

// group makes a command that only holds others say so when it is given
// something else.
func (a *app) group(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = a.do(func(cmd *cobra.Command, args []string) (int, error) {
		if len(args) == 0 {
			return ExitDone, cmd.Help()
		}
		sentence := fmt.Sprintf("There is no command %q.", cmd.CommandPath()+" "+args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			sentence += fmt.Sprintf(" Did you mean %q?", near[0])
		}
		return 0, usage("%s Try %q.", sentence, cmd.CommandPath()+" --help")
	})
}

// exactly checks the number of arguments and names them when it is wrong.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 {
			return usage("%s takes no arguments.", cmd.CommandPath())
		}
		return usage("%s wants %s. Try %q.", cmd.CommandPath(), strings.Join(names, " and "), cmd.CommandPath()+" --help")
	}
}

// open opens the usual home.
func (a *app) open(ctx context.Context) (host.Service, func(), error) {
	return a.OpenHost(ctx, "", HostOptions{})
}

// interactive reports whether a person can be asked here.
func (a *app) interactive() bool { return a.IsTerminal(a.Stdin) && a.IsTerminal(a.Stderr) }
