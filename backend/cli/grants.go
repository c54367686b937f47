package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gofer/backend/host"
)

func (a *app) grantsCommand() *cobra.Command {
	var revoke string
	cmd := &cobra.Command{Use: "grants", Short: "List what you have allowed for sessions, and take it back", Args: exactly()}
	cmd.Flags().StringVar(&revoke, "revoke", "", "`ID` of the one to take back")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, _ []string) (int, error) {
		if revoke != "" {
			if err := s.Revoke(ctx, revoke); err != nil {
				return 0, err
			}
			fmt.Fprintln(a.Stdout, "Taken back.")
			return ExitDone, nil
		}
		list, err := s.Grants(ctx)
		if err != nil {
			return 0, err
		}
		if len(list) == 0 {
			fmt.Fprintln(a.Stdout, "Nothing is allowed beyond what the modes allow.")
			return ExitDone, nil
		}
		t := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		for _, g := range list {
			fmt.Fprintf(t, "%s\t%s\tneeded %s\t%s\n", g.ID, line(g.Words, 0), plural(g.Used, "time"), line(g.SessionTitle, 40))
		}
		return ExitDone, t.Flush()
	})
	return cmd
}
