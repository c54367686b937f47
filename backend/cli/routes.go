package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/host"
)

func (a *app) routesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "routes", Short: "List, add and remove routes: models in order, where one stands in for another"}
	cmd.AddCommand(a.routesList(), a.routesAdd(), a.routesRemove())
	a.group(cmd)
	return cmd
}

func (a *app) routesList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the routes", Args: exactly()}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, _ []string) (int, error) {
		list, err := s.Routes(ctx)
		if err != nil {
			return 0, err
		}
		if asJSON {
			return ExitDone, a.printJSON(append([]engine.Route{}, list...))
		}
		if len(list) == 0 {
			fmt.Fprintln(a.Stderr, "There is no route; the default provider is used alone.")
		}
		for _, r := range list {
			mark := ""
			if r.IsDefault {
				mark = "  default"
			}
			fmt.Fprintf(a.Stdout, "%s  %s  %s%s\n", line(r.ID, 0), line(r.Name, 40), line(strings.Join(r.Order, " → "), 200), mark)
		}
		return ExitDone, nil
	})
	return cmd
}

func (a *app) routesAdd() *cobra.Command {
	var spec engine.RouteSpec
	cmd := &cobra.Command{
		Use:     "add NAME PROVIDER[=MODEL]…",
		Short:   "Add a route of models, the first choice first",
		Example: `  gofer routes add Everyday OpenAI=gpt-5.1 DeepSeek Ollama=qwen3 --default`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("%s wants a name and at least one provider. Try %q.", cmd.CommandPath(), cmd.CommandPath()+" --help")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&spec.Default, "default", false, "use it where nothing is named")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		spec.Name = args[0]
		for _, leg := range args[1:] {
			provider, model, _ := strings.Cut(leg, "=")
			spec.Legs = append(spec.Legs, config.Leg{Provider: provider, Model: model})
		}
		r, err := s.SaveRoute(ctx, spec)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(a.Stderr, "Saved the route %s (%s): %s.\n", line(r.Name, 60), line(r.ID, 0), line(strings.Join(r.Order, " → "), 200))
		return ExitDone, nil
	})
	return cmd
}

func (a *app) routesRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove NAME", Short: "Remove a route; its providers stay", Args: exactly("a name or an id")}
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		if err := s.RemoveRoute(ctx, args[0]); err != nil {
			return 0, err
		}
		fmt.Fprintf(a.Stderr, "Removed %s.\n", line(args[0], 0))
		return ExitDone, nil
	})
	return cmd
}
