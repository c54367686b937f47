package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gofer/backend/engine"
	"gofer/backend/host"
)

func (a *app) providersTest() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [ID]",
		Short: "Try a provider with real requests (default the default one)",
		Long: `Try a provider with real requests: its list of models, a text, a stream, a
tool call and a picture. It costs a few hundred tokens.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one id.", cmd.CommandPath())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		id := ""
		if len(args) == 1 {
			id = args[0]
		} else {
			p, err := defaultProvider(ctx, s)
			if err != nil {
				return 0, err
			}
			id = p.ID
		}
		t, err := s.TestProvider(ctx, engine.ProviderSpec{ID: id})
		switch {
		case err != nil:
			return 0, err
		case asJSON:
			code := ExitDone
			if !t.OK {
				code = ExitFailed
			}
			return code, a.printJSON(t)
		case !t.OK:
			return 0, problemOf(t)
		}
		fmt.Fprintf(a.Stdout, "%s answered in %s: %s\n", line(id, 0), took(t.ElapsedMS), line(t.Answer, 200))
		a.printChecks(t)
		return ExitDone, nil
	})
	return cmd
}

// printChecks prints one line for each thing that was tried.
func (a *app) printChecks(t engine.ProviderTest) {
	st := newSteps(a)
	st.colour = a.IsTerminal(a.Stdout) && st.colour
	for _, c := range t.Checks {
		mark, text := st.tint("32", "✓"), line(c.Text, 60)
		if !c.OK {
			mark, text = st.tint("33", "!"), "did not work"
			if c.Problem != nil {
				text = line(c.Problem.Message+" "+c.Problem.Hint, 200)
			}
		}
		fmt.Fprintf(a.Stdout, "%s %-8s %s  %s\n", mark, c.What, text, st.tint("2", took(c.ElapsedMS)))
	}
	for _, note := range t.Learned {
		fmt.Fprintf(a.Stdout, "· %s\n", line(note, 200))
	}
}

func (a *app) providersKey() *cobra.Command {
	var spec engine.KeySpec
	var keyEnv, alias, expires, remove string
	var keyStdin bool
	cmd := &cobra.Command{
		Use:   "key ID",
		Short: "List the keys of a provider, add one, choose the one in use, or remove one",
		Long: `Without flags, list the keys of a provider. A key is added from an environment
variable or standard input; the first one is in use until another is chosen.`,
		Example: `  gofer providers key openai --key-env WORK_KEY --alias work --expires 2027-01-31
  gofer providers key openai --use KEY`,
		Args: exactly("an id"),
	}
	fl := cmd.Flags()
	fl.StringVar(&keyEnv, "key-env", "", "`NAME` of the environment variable with the key to add")
	fl.BoolVar(&keyStdin, "key-stdin", false, "read the key to add from standard input")
	fl.StringVar(&alias, "alias", "", "`NAME` to show for the key that is added")
	fl.StringVar(&expires, "expires", "", "`DATE` (2027-01-31) from which the key that is added no longer works")
	fl.StringVar(&spec.ID, "use", "", "`KEY` (its id) to use from now on")
	fl.StringVar(&remove, "remove", "", "`KEY` (its id) to forget")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		spec.Provider = args[0]
		var err error
		if spec.Key, err = a.key(keyEnv, keyStdin, false); err != nil {
			return 0, err
		}
		var p engine.Provider
		switch {
		case remove != "":
			p, err = s.RemoveKey(ctx, args[0], remove)
		case spec.Key != nil || spec.ID != "":
			spec.Active = spec.ID != ""
			if alias != "" {
				spec.Alias = &alias
			}
			if expires != "" {
				day, wrong := time.ParseInLocation(time.DateOnly, expires, time.Local)
				if wrong != nil {
					return 0, usage("--expires wants a date such as 2027-01-31.")
				}
				ms := day.UnixMilli()
				spec.Expires = &ms
			}
			p, err = s.SaveKey(ctx, spec)
		default:
			p, err = oneProvider(ctx, s, args[0])
		}
		if err != nil {
			return 0, err
		}
		a.printKeys(p)
		return ExitDone, nil
	})
	return cmd
}

func oneProvider(ctx context.Context, s host.Service, id string) (engine.Provider, error) {
	list, err := s.Providers(ctx)
	if err != nil {
		return engine.Provider{}, err
	}
	for _, p := range list {
		if p.ID == id || p.Name == id {
			return p, nil
		}
	}
	return engine.Provider{}, usage("There is no provider %q. See \"gofer providers list\".", id)
}

func (a *app) printKeys(p engine.Provider) {
	if len(p.Keys) == 0 {
		fmt.Fprintf(a.Stderr, "%s has no key.\n", line(p.Name, 60))
	}
	for _, k := range p.Keys {
		id, mark := line(k.ID, 0), ""
		if id == "" {
			id = "(only)"
		}
		switch {
		case k.Expired:
			mark = "expired"
		case k.Expires > 0:
			mark = "until " + time.UnixMilli(k.Expires).Format(time.DateOnly)
		}
		if k.Active {
			mark += " in use"
		}
		fmt.Fprintf(a.Stdout, "%s  …%s  %s  key in %s  %s\n", id, line(k.Hint, 8), line(k.Alias, 30), line(k.Place, 20), mark)
	}
}
