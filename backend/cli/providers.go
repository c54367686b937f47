package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gofer/backend/engine"
	"gofer/backend/fault"
	"gofer/backend/host"
	"gofer/backend/secret"
)

func (a *app) providersCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "providers", Short: "List, add, remove and test model providers"}
	cmd.AddCommand(a.providersList(), a.providersAdd(), a.providersRemove(), a.providersTest(), a.providersKey())
	a.group(cmd)
	return cmd
}

func (a *app) providersList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the providers", Args: exactly()}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, _ []string) (int, error) {
		list, err := s.Providers(ctx)
		if err != nil {
			return 0, err
		}
		if asJSON {
			return ExitDone, a.printJSON(append([]engine.Provider{}, list...))
		}
		if len(list) == 0 {
			fmt.Fprintln(a.Stderr, "There is no provider yet. Add one with \"gofer providers add\".")
			return ExitDone, nil
		}
		t := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		for _, p := range list {
			mark := ""
			if p.IsDefault {
				mark = "default"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", line(p.ID, 0), line(p.Name, 40), line(p.Model, 40), line(p.BaseURL, 60), keyWords(p), mark)
		}
		return ExitDone, t.Flush()
	})
	return cmd
}

// keyWords says where the key of a provider is.
func keyWords(p engine.Provider) string {
	switch {
	case p.KeyPlace != "" && p.KeyPlace != string(secret.None):
		text := "key in " + p.KeyPlace
		if p.KeyHint != "" {
			text += " …" + line(p.KeyHint, 8)
		}
		return text
	case p.NeedsKey:
		return "key missing"
	}
	return "no key"
}

func (a *app) providersAdd() *cobra.Command {
	var spec engine.ProviderSpec
	var keyEnv string
	var keyStdin bool
	cmd := &cobra.Command{
		Use:   "add [PRESET]",
		Short: "Add a provider, or change the one with that id",
		Long: `Add a provider, or change the one with that id.

The key is asked for at the terminal, or comes from an environment variable or
standard input; it is never an argument, because others can see those.`,
		Example: `  gofer providers add openai --default
  gofer providers add ollama --model qwen3
  gofer providers add --name Lab --base-url https://models.example.org/v1 --model big --key-env LAB_KEY`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one preset.", cmd.CommandPath())
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&spec.ID, "id", "", "`ID` of the provider to change")
	fl.StringVar(&spec.Name, "name", "", "`NAME` to show")
	fl.StringVar(&spec.BaseURL, "base-url", "", "`URL` of an OpenAI-compatible server")
	fl.StringVar(&spec.Model, "model", "", "`NAME` of the model")
	fl.BoolVar(&spec.Default, "default", false, "use it where no provider is named")
	fl.StringVar(&keyEnv, "key-env", "", "`NAME` of the environment variable with the key")
	fl.BoolVar(&keyStdin, "key-stdin", false, "read the key from standard input")
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		presets, err := s.Presets(ctx)
		if err != nil {
			return 0, err
		}
		needsKey := false
		if len(args) == 1 {
			spec.Preset = args[0]
			p, ok := preset(presets, args[0])
			if !ok {
				return 0, usage("There is no preset %q. Those there are: %s.", args[0], presetNames(presets))
			}
			needsKey = p.NeedsKey
		} else if spec.ID == "" && spec.BaseURL == "" {
			return 0, usage("Name a preset (%s) or give --base-url.", presetNames(presets))
		}
		if spec.Key, err = a.key(keyEnv, keyStdin, needsKey && spec.ID == ""); err != nil {
			return 0, err
		}
		p, err := s.SaveProvider(ctx, spec)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(a.Stderr, "Saved %s (%s).\n", line(p.Name, 60), line(p.ID, 0))
		if p.KeyPlace != "" && p.KeyPlace != string(secret.None) {
			fmt.Fprintf(a.Stderr, "Its key: %s\n", secret.Place(p.KeyPlace).About())
		} else if p.NeedsKey {
			fmt.Fprintln(a.Stderr, "It has no key yet; give one with --key-env or --key-stdin.")
		}
		fmt.Fprintf(a.Stderr, "Try it with \"gofer providers test %s\".\n", line(p.ID, 0))
		return ExitDone, nil
	})
	return cmd
}

// key gets a key without letting it into the list of processes; nil keeps the
// one there is.
func (a *app) key(env string, stdin, ask bool) (*string, error) {
	var key string
	switch {
	case env != "" && stdin:
		return nil, usage("--key-env and --key-stdin both give the key; use one of them.")
	case env != "":
		if key = strings.TrimSpace(a.Getenv(env)); key == "" {
			return nil, usage("The environment variable %s is not set.", env)
		}
	case stdin:
		text, err := bufio.NewReader(io.LimitReader(a.Stdin, 64<<10)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read the key from standard input: %w", err)
		}
		if key = strings.TrimSpace(text); key == "" {
			return nil, usage("Standard input holds no key.")
		}
	case ask && a.interactive():
		fmt.Fprint(a.Stderr, "Key (not shown, Enter for none): ")
		text, err := a.ReadSecret()
		if err != nil {
			return nil, fmt.Errorf("read the key: %w", err)
		}
		if key = strings.TrimSpace(text); key == "" {
			return nil, nil
		}
	default:
		return nil, nil
	}
	a.redact.Hide(key)
	return &key, nil
}

func preset(list []engine.Preset, id string) (engine.Preset, bool) {
	for _, p := range list {
		if p.ID == id {
			return p, true
		}
	}
	return engine.Preset{}, false
}

func presetNames(list []engine.Preset) string {
	var names []string
	for _, p := range list {
		names = append(names, p.ID)
	}
	return strings.Join(names, ", ")
}

func (a *app) providersRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove ID", Short: "Remove a provider and forget its key", Args: exactly("an id")}
	cmd.RunE = a.with(func(ctx context.Context, s host.Service, args []string) (int, error) {
		if err := s.RemoveProvider(ctx, args[0]); err != nil {
			return 0, err
		}
		fmt.Fprintf(a.Stderr, "Removed %s.\n", line(args[0], 0))
		return ExitDone, nil
	})
	return cmd
}

func defaultProvider(ctx context.Context, s host.Service) (engine.Provider, error) {
	list, err := s.Providers(ctx)
	if err != nil {
		return engine.Provider{}, err
	}
	for _, p := range list {
		if p.IsDefault {
			return p, nil
		}
	}
	return engine.Provider{}, fault.New(fault.NoProvider, "No model provider is set up.",
		"Add one with \"gofer providers add\", or see the guided tour with \"gofer run --tour\".")
}

// problemOf says what a test of a provider showed.
func problemOf(t engine.ProviderTest) *fault.Fault {
	if t.Problem == nil {
		return fault.New(fault.Unavailable, "The provider did not answer as expected.", "Look at its address and model.")
	}
	f := fault.New(fault.Code(t.Problem.Code), t.Problem.Message, t.Problem.Hint)
	if t.URL != "" {
		f.Message += " (" + t.URL + ")"
	}
	return f
}
