package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gofer/backend/home"
	"gofer/backend/mcpserver"
)

// tokenFlags is what the command line says about a client.
type tokenFlags struct {
	mode          string
	allow         []string // nil leaves the grants as they are
	renew, revoke bool
}

func (f tokenFlags) changes() bool { return f.mode != "" || f.allow != nil || f.renew }

// grants are those that were named; "" names none.
func (f tokenFlags) grants() []string {
	return slices.DeleteFunc(slices.Clone(f.allow), func(g string) bool { return g == "" })
}

func (a *app) mcpToken() *cobra.Command {
	var f tokenFlags
	cmd := &cobra.Command{
		Use:   "token [NAME]",
		Short: "Make a client of gofer mcp --http, say where its token is, or take it back",
		Long: `Print the path of the file with the token of a client, which is made when there is none. Without a name, list the clients.

A client sends its token as the header Authorization: Bearer TOKEN. It may look and change nothing (plan) unless it is given another mode, and the server is started with that mode or a higher one. Changes count at once and end the client's open sessions.`,
		Example: `  gofer mcp token my-editor --mode ask --allow "visit: https://example.org"
  gofer mcp token my-editor --revoke`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s wants one name. Try %q.", cmd.CommandPath(), cmd.CommandPath()+" --help")
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", "", "the most this client may do: plan, ask, auto or full")
	fl.StringArrayVar(&f.allow, "allow", nil, "`GRANT` in place of those it has; may be repeated, \"\" for none")
	fl.BoolVar(&f.renew, "renew", false, "make a new token; the old one opens nothing from then on")
	fl.BoolVar(&f.revoke, "revoke", false, "take the token and all leave back")
	cmd.RunE = a.do(func(cmd *cobra.Command, args []string) (int, error) {
		if err := checkLeave(f.mode, f.grants()); err != nil {
			return 0, err
		}
		switch {
		case len(args) == 0 && (f.changes() || f.revoke):
			return 0, usage("Name the client. Try %q.", cmd.CommandPath()+" --help")
		case f.revoke && f.changes():
			return 0, usage("--revoke stands alone.")
		}
		clients, err := openClients()
		switch {
		case err != nil:
			return 0, err
		case len(args) == 0:
			return a.listClients(clients)
		case f.revoke:
			if err := clients.Remove(args[0]); err != nil {
				return 0, err
			}
			fmt.Fprintln(a.Stderr, "Taken back.")
			return ExitDone, nil
		}
		return a.token(clients, args[0], f)
	})
	return cmd
}

// token makes or changes a client and says where its token is.
func (a *app) token(clients mcpserver.Clients, name string, f tokenFlags) (int, error) {
	c, known := clients.Client(name)
	if !known {
		c = mcpserver.Client{Name: name}
	}
	if f.mode != "" {
		c.Mode = f.mode
	}
	if f.allow != nil {
		c.Allow = f.grants()
	}
	if !known || f.changes() {
		var err error
		if c, err = clients.Save(c, f.renew); err != nil {
			return 0, err
		}
	}
	if c.Fault != nil {
		return 0, c.Fault
	}
	a.describe(c)
	fmt.Fprintln(a.Stdout, c.TokenFile)
	return ExitDone, nil
}

func (a *app) listClients(clients mcpserver.Clients) (int, error) {
	list, err := clients.List()
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stderr, "There is no client yet. Make one with: gofer mcp token NAME")
	}
	for _, c := range list {
		a.describe(c)
		fmt.Fprintln(a.Stdout, c.TokenFile)
	}
	return ExitDone, nil
}

// describe says on standard error what a client may do.
func (a *app) describe(c mcpserver.Client) {
	if c.Fault != nil {
		a.complain(c.Fault)
		return
	}
	leave := "no grants"
	if len(c.Allow) > 0 {
		leave = strings.Join(c.Allow, "; ")
	}
	fmt.Fprintf(a.Stderr, "Client %s: mode %s, %s, token in %s\n", c.Name, c.Mode, line(leave, 200), c.TokenFile)
}

// servedClients returns the clients there are. It makes the first one.
func servedClients() (mcpserver.Clients, []mcpserver.Client, error) {
	clients, err := openClients()
	if err != nil {
		return clients, nil, err
	}
	list, err := clients.List()
	if err != nil || len(list) > 0 {
		return clients, list, err
	}
	first, err := clients.Save(mcpserver.Client{Name: "default"}, false)
	return clients, []mcpserver.Client{first}, err
}

func openClients() (mcpserver.Clients, error) {
	h, err := home.Open("")
	if err != nil {
		return mcpserver.Clients{}, err
	}
	return mcpserver.OpenClients(h.Clients()), nil
}
