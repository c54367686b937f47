package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/host"
	"gofer/backend/mcpserver"
)

func (a *app) mcpCommand() *cobra.Command {
	var spec engine.CallerSpec
	var ephemeral bool
	var only []string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to an MCP client over standard input and output",
		Args:  exactly(),
		RunE: a.do(func(cmd *cobra.Command, _ []string) (int, error) {
			if spec.Mode != "" && !config.ValidMode(spec.Mode) {
				return 0, usage("The mode %q is not one of plan, ask, auto and full.", spec.Mode)
			}
			for _, family := range only {
				if !slices.Contains(mcpserver.Families, family) {
					return 0, usage("There are no tools of the kind %q; the kinds are %s.", family, strings.Join(mcpserver.Families, ", "))
				}
			}
			if spec.Workspace == "" {
				spec.Workspace = a.Dir
			} else if !filepath.IsAbs(spec.Workspace) {
				spec.Workspace = filepath.Join(a.Dir, spec.Workspace)
			}
			spec.Headless = spec.Headless || !a.display()
			ctx := cmd.Context()
			s, end, err := a.OpenHost(ctx, "", HostOptions{Ephemeral: ephemeral})
			if err != nil {
				return 0, err
			}
			defer end()
			who, remote := host.Remote(s)
			return ExitDone, mcpserver.Serve(ctx, s, mcpserver.Options{
				In: a.Stdin, Out: a.Stdout, Version: a.Version, Caller: spec, Only: only,
				Alone: !remote || who.Kind != host.Window,
			})
		}),
	}
	fl := cmd.Flags()
	fl.BoolVar(&spec.Headless, "headless", false, "use a browser without a window")
	fl.BoolVar(&ephemeral, "ephemeral", false, "throw the browser profile away at the end")
	fl.StringVar(&spec.Mode, "mode", "", "plan to look and change nothing, ask, auto to ask less, or full for a machine that is only for the agent")
	fl.StringSliceVar(&only, "tools", nil, "offer these `KINDS` of tools only: "+strings.Join(mcpserver.Families, ", "))
	fl.StringVar(&spec.Workspace, "workspace", "", "`FOLDER` to work in (default the current one)")
	return cmd
}
