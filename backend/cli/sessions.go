package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/home"
	"gofer/backend/host"
)

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "List, show, continue, export and delete sessions"}
	cmd.AddCommand(a.sessionsList(), a.sessionsShow(), a.sessionsContinue(), a.sessionsExport(), a.sessionsDelete())
	a.group(cmd)
	return cmd
}

// with opens the home for the length of one command.
func (a *app) with(f func(ctx context.Context, s host.Service, args []string) (int, error)) func(*cobra.Command, []string) error {
	return a.do(func(cmd *cobra.Command, args []string) (int, error) {
		s, end, err := a.open(cmd.Context())
		if err != nil {
			return 0, err
		}
		defer end()
		return f(cmd.Context(), s, args)
	})
}

func (a *app) sessionsList() *cobra.Command {
	var q engine.SessionQuery
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List sessions, newest first", Args: exactly()}
	cmd.Flags().StringVar(&q.Search, "search", "", "only those whose title or text holds `TEXT`")
	cmd.Flags().IntVar(&q.Limit, "limit", 50, "at most this `NUMBER`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, _ []string) (int, error) {
		if q.Limit < 1 {
			return 0, usage("--limit wants a number from 1 on.")
		}
		list, err := s.Sessions(ctx, q)
		if err != nil {
			return 0, err
		}
		if asJSON {
			return ExitDone, a.printJSON(append([]engine.Session{}, list...))
		}
		if len(list) == 0 {
			fmt.Fprintln(a.Stderr, "There is no session.")
			return ExitDone, nil
		}
		t := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		for _, x := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", x.ID, at(x.UpdatedAt), state(x), line(x.Title, 60))
		}
		return ExitDone, t.Flush()
	})
	return cmd
}

// state is the state of a session's latest run in a word or two.
func state(s engine.Session) string {
	switch {
	case s.State == "":
		return "new"
	case s.State == "awaiting_user":
		return "waits for you"
	case s.State == "completed" && s.Reason == "limit":
		return "limit reached"
	case s.State == "completed":
		return "done"
	case s.State == "cancelled":
		return "stopped"
	}
	return s.State
}

func (a *app) sessionsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "show ID", Short: "Print the transcript of a session: last, or its id", Args: exactly("an id, or last")}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		session, err := findSession(ctx, s, args[0])
		if err != nil {
			return 0, err
		}
		snapshot, err := s.Snapshot(ctx, session.ID, engine.SnapshotQuery{Limit: -1})
		if err != nil {
			return 0, err
		}
		if asJSON {
			return ExitDone, a.printJSON(snapshot)
		}
		return ExitDone, a.transcript(snapshot)
	})
	return cmd
}

// sessionsContinue goes on with the latest run of a session that ended early.
func (a *app) sessionsContinue() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "continue ID", Short: "Go on with a run that was interrupted, stopped or failed: last, or a session's id", Args: exactly("an id, or last")}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the events as lines of JSON and nothing else")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		session, err := findSession(ctx, s, args[0])
		if err != nil {
			return 0, err
		}
		snapshot, err := s.Snapshot(ctx, session.ID, engine.SnapshotQuery{Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(snapshot.Runs) == 0 {
			return 0, fault.New(fault.NotFound, "This session has no run yet.", "Start one with \"gofer run --session "+session.ID+"\".")
		}
		last := snapshot.Runs[len(snapshot.Runs)-1]
		if last.State == event.RunIsCompleted && last.Reason == "" {
			return 0, fault.New(fault.Invalid, "The latest run of this session is done, so there is nothing to continue.", "Ask for more with \"gofer run --session "+session.ID+"\".")
		}
		return a.watchRun(ctx, s, session, asJSON, true, func(ctx context.Context) (string, error) { return s.Continue(ctx, last.ID) })
	})
	return cmd
}

func (a *app) sessionsExport() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{Use: "export ID", Short: "Write a session out as markdown or JSON", Args: exactly("an id, or last")}
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown or json")
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write (default standard output)")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		if format != "markdown" && format != "json" {
			return 0, usage("The format %q is not one of markdown and json.", format)
		}
		session, err := findSession(ctx, s, args[0])
		if err != nil {
			return 0, err
		}
		file, err := s.ExportSession(ctx, session.ID, format)
		if err != nil {
			return 0, err
		}
		if out == "" || out == "-" {
			_, err := a.Stdout.Write(file.Data)
			return ExitDone, err
		}
		path := out
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Dir, path)
		}
		if err := home.WriteFile(path, file.Data, 0o600); err != nil {
			return 0, fault.Wrap(fault.Unavailable, fmt.Sprintf("The export was not written: %v.", err), "Choose another file with -o.", err)
		}
		fmt.Fprintf(a.Stderr, "Wrote %s.\n", path)
		return ExitDone, nil
	})
	return cmd
}

func (a *app) sessionsDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete ID...", Short: "Delete sessions for good", Args: func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s wants the ids of sessions, or last.", cmd.CommandPath())
		}
		return nil
	}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		var list []engine.Session
		for _, which := range args {
			session, err := findSession(ctx, s, which)
			if err != nil {
				return 0, err
			}
			list = append(list, session)
		}
		for _, session := range list {
			if !yes && a.interactive() && !a.confirm(ctx, fmt.Sprintf("Delete %q of %s?", line(session.Title, 60), at(session.UpdatedAt))) {
				fmt.Fprintln(a.Stderr, "Kept.")
				continue
			}
			if err := s.DeleteSession(ctx, session.ID); err != nil {
				return 0, err
			}
			fmt.Fprintf(a.Stderr, "Deleted %q.\n", line(session.Title, 60))
		}
		return ExitDone, nil
	})
	return cmd
}

// confirm asks for y at the terminal.
func (a *app) confirm(ctx context.Context, question string) bool {
	fmt.Fprintf(a.Stderr, "%s y or n: ", question)
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(io.LimitReader(a.Stdin, 1024)).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case text := <-answer:
		return text == "y" || text == "yes"
	case <-ctx.Done():
		return false
	}
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
