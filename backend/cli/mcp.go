package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/fault"
	"gofer/backend/host"
	"gofer/backend/mcpserver"
)

// mcpFlags is what the command line says about serving the tools.
type mcpFlags struct {
	spec      engine.CallerSpec
	ephemeral bool
	only      []string
	http      string // address; "" serves standard input and output
}

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to MCP clients, over standard input and output or over HTTP",
		Long: `Serve the tools to an MCP client over standard input and output, until its input ends.

With --http, serve them to programs of this computer over HTTP (Streamable HTTP), until stopped. Each program is a client with a token, a mode and grants of its own, see gofer mcp token. Its mode is the lower one of its own and --mode, which is plan when it is not given. The address is printed on standard output.`,
		Example: `  gofer mcp
  gofer mcp --http
  gofer mcp --http=8000 --mode ask`,
		Args: exactly(),
		RunE: a.do(func(cmd *cobra.Command, _ []string) (int, error) { return a.mcp(cmd.Context(), f) }),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.http, "http", "", "serve over HTTP on this `ADDRESS` of this computer (--http alone is "+mcpserver.DefaultAddress+", port 0 picks a free one)")
	fl.Lookup("http").NoOptDefVal = mcpserver.DefaultAddress
	fl.BoolVar(&f.spec.Headless, "headless", false, "use a browser without a window")
	fl.BoolVar(&f.ephemeral, "ephemeral", false, "throw the browser profile away at the end")
	fl.StringVar(&f.spec.Mode, "mode", "", "plan to look and change nothing, ask, auto to ask less, or full for a machine that is only for the agent")
	fl.StringArrayVar(&f.spec.Allow, "allow", nil, "`GRANT` for every client served, such as \"visit: https://example.org\"; may be repeated")
	fl.StringSliceVar(&f.only, "tools", nil, "offer these `KINDS` of tools only: "+strings.Join(mcpserver.Families, ", "))
	fl.StringVar(&f.spec.Workspace, "workspace", "", "`FOLDER` to work in (default the current one)")
	cmd.AddCommand(a.mcpToken())
	return cmd
}

func (a *app) mcp(ctx context.Context, f mcpFlags) (int, error) {
	if err := checkLeave(f.spec.Mode, f.spec.Allow); err != nil {
		return 0, err
	}
	for _, family := range f.only {
		if !slices.Contains(mcpserver.Families, family) {
			return 0, usage("There are no tools of the kind %q; the kinds are %s.", family, strings.Join(mcpserver.Families, ", "))
		}
	}
	if f.spec.Workspace == "" {
		f.spec.Workspace = a.Dir
	} else if !filepath.IsAbs(f.spec.Workspace) {
		f.spec.Workspace = filepath.Join(a.Dir, f.spec.Workspace)
	}
	f.spec.Headless = f.spec.Headless || !a.display()
	if f.http != "" {
		return a.mcpHTTP(ctx, f)
	}
	s, alone, end, err := a.mcpHost(ctx, f)
	if err != nil {
		return 0, err
	}
	defer end()
	return ExitDone, mcpserver.Serve(ctx, s, mcpserver.Options{
		In: a.Stdin, Out: a.Stdout, Version: a.Version, Caller: f.spec, Only: f.only, Alone: alone,
	})
}

// mcpHost opens the home, and says whether no window is there to ask anybody.
func (a *app) mcpHost(ctx context.Context, f mcpFlags) (s host.Service, alone bool, end func(), err error) {
	s, end, err = a.OpenHost(ctx, "", HostOptions{Ephemeral: f.ephemeral})
	if err != nil {
		return nil, false, nil, err
	}
	who, remote := host.Remote(s)
	return s, !remote || who.Kind != host.Window, end, nil
}

// mcpHTTP prints where the tools are served on standard output, and for whom
// on standard error. The tokens themselves are printed nowhere.
func (a *app) mcpHTTP(ctx context.Context, f mcpFlags) (int, error) {
	if f.spec.Mode == "" {
		f.spec.Mode = "plan"
	}
	ln, err := mcpserver.Listen(f.http)
	if no := fault.From(err); no != nil && no.Code == fault.Invalid {
		return 0, usage("%v", no)
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = ln.Close() }() // done already when it was served
	clients, list, err := servedClients()
	if err != nil {
		return 0, err
	}
	s, alone, end, err := a.mcpHost(ctx, f)
	if err != nil {
		return 0, err
	}
	defer end()
	fmt.Fprintf(a.Stderr, "No client may do more than --mode %s allows. Ctrl-C ends serving.\n", f.spec.Mode)
	for _, c := range list {
		a.describe(c)
	}
	fmt.Fprintf(a.Stdout, "http://%s%s\n", ln.Addr(), mcpserver.Path)
	return ExitDone, mcpserver.ServeHTTP(ctx, s, ln, mcpserver.HTTPOptions{
		Version: a.Version, Clients: clients, Caller: f.spec, Only: f.only, Alone: alone,
	})
}

func checkLeave(mode string, allow []string) error {
	if mode != "" && !config.ValidMode(mode) {
		return usage("The mode %q is not one of plan, ask, auto and full.", mode)
	}
	if err := engine.CheckGrants(allow); err != nil {
		return usage("%v", err)
	}
	return nil
}
