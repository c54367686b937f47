package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gofer/backend/engine"
	"gofer/backend/fault"
	"gofer/backend/host"
)

func (a *app) undoCommand() *cobra.Command {
	var run, call string
	var list bool
	cmd := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Take back what a run did to files: of the last session, or a session's id",
		Long: `Take back what a run did to files: files it made go away, files it changed or
deleted come back. Without --run it is the latest run that changed files. What
somebody has changed since stays as it is and is named; what commands did
cannot be taken back.`,
		Args: cobra.MaximumNArgs(1),
	}
	fl := cmd.Flags()
	fl.StringVar(&run, "run", "", "`ID` of the run (default the latest that changed files)")
	fl.StringVar(&call, "call", "", "`ID` of one call of it")
	fl.BoolVar(&list, "list", false, "list what can be undone and change nothing")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		which := "last"
		if len(args) > 0 {
			which = args[0]
		}
		session, err := findSession(ctx, s, which)
		if err != nil {
			return 0, err
		}
		changes, err := s.Changes(ctx, session.ID)
		if err != nil {
			return 0, err
		}
		if len(changes) == 0 {
			return 0, fault.New(fault.NotFound, "There is nothing to undo in this session.", "It changed no file, or was undone before. What commands did cannot be undone.")
		}
		if list {
			for _, c := range changes {
				fmt.Fprintf(a.Stdout, "%-7s %s  run %s  call %s\n", c.Did, clean(c.Path), line(c.Run, 0), line(c.Call, 0))
			}
			return ExitDone, nil
		}
		if run == "" {
			run = changes[0].Run
		}
		done, err := s.Undo(ctx, run, call)
		if err != nil {
			return 0, err
		}
		return a.undone(done), nil
	})
	return cmd
}

// undone prints what was taken back; the exit code tells when not all was.
func (a *app) undone(u engine.Undone) int {
	code := ExitDone
	back := map[string]string{"made": "removed", "changed": "restored", "deleted": "brought back"}
	for _, f := range u.Files {
		if f.Problem != "" {
			code = ExitFailed
			fmt.Fprintf(a.Stdout, "not undone: %s, because %s\n", clean(f.Path), clean(f.Problem))
			continue
		}
		fmt.Fprintf(a.Stdout, "%s %s\n", back[f.Did], clean(f.Path))
	}
	for _, c := range u.Commands {
		fmt.Fprintf(a.Stdout, "cannot be undone: the command %s\n", line(c, 120))
	}
	return code
}
