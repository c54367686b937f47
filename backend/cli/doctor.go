package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/fault"
	"gofer/backend/home"
	"gofer/backend/host"
	"gofer/backend/secret"
)

// checkLimit bounds one check of doctor.
const checkLimit = 30 * time.Second

// finding is what one check showed. One with a fault is wrong; one with a
// remark works, but not as well as it could.
type finding struct {
	name   string
	text   string
	remark string
	fault  *fault.Fault
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong on this computer and how to mend it",
		Args:  exactly(),
		RunE:  a.do(func(cmd *cobra.Command, _ []string) (int, error) { return a.doctor(cmd.Context()) }),
	}
}

func (a *app) doctor(ctx context.Context) (int, error) {
	code := ExitDone
	st := newSteps(a)
	st.colour = a.IsTerminal(a.Stdout) && st.colour
	report := func(f finding) {
		switch {
		case f.fault != nil:
			code = ExitFailed
			fmt.Fprintf(a.Stdout, "%s %-9s %s\n", st.tint("31", "✗"), f.name, clean(f.fault.Message))
			if f.fault.Hint != "" {
				fmt.Fprintf(a.Stdout, "            → %s\n", clean(f.fault.Hint))
			}
		case f.remark != "":
			fmt.Fprintf(a.Stdout, "%s %-9s %s\n            → %s\n", st.tint("33", "!"), f.name, clean(f.text), clean(f.remark))
		default:
			fmt.Fprintf(a.Stdout, "%s %-9s %s\n", st.tint("32", "✓"), f.name, clean(f.text))
		}
	}
	h, f := checkHome()
	report(f)
	settings := config.Defaults()
	if h != nil {
		f, settings = checkSettings(h)
		report(f)
		report(checkKeys(h))
	}
	if a.FindBrowser != nil {
		report(a.checkBrowser(ctx, settings.BrowserPath))
	}
	report(checkFilter(settings))
	report(a.checkDisplay())
	report(checkSandbox())
	if h != nil {
		for _, f := range a.checkEngine(ctx) {
			report(f)
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return code, nil
}

func checkHome() (*home.Home, finding) {
	h, err := home.Open("")
	if err != nil {
		return nil, finding{name: "home", fault: fault.From(err)}
	}
	return h, finding{name: "home", text: h.Dir() + ", log in " + filepath.Join(h.Logs(), "gofer.log")}
}

// checkSettings reads without moving a broken file; that is the host's to do.
func checkSettings(h *home.Home) (finding, config.Settings) {
	raw, err := os.ReadFile(h.Settings())
	if errors.Is(err, os.ErrNotExist) {
		return finding{name: "settings", text: "the defaults"}, config.Defaults()
	}
	var s config.Settings
	if err == nil {
		s, err = config.Parse(raw)
	}
	if err != nil {
		return finding{name: "settings", fault: fault.From(err)}, config.Defaults()
	}
	return finding{name: "settings", text: h.Settings()}, s
}

func checkKeys(h *home.Home) finding {
	place, why := secret.Open(h, secret.Options{}).BestPlace()
	f := finding{name: "keyring", text: place.About()}
	if why != nil {
		f.text = fmt.Sprintf("The keychain of this computer cannot be used (%v). Keys go elsewhere: %s", why, place.About())
		f.remark = "Start a keyring service such as GNOME Keyring or KWallet and unlock it, or leave it so."
	}
	return f
}

func (a *app) checkBrowser(ctx context.Context, preferred string) finding {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	path, err := a.FindBrowser(ctx, preferred)
	if err != nil {
		return finding{name: "browser", fault: fault.From(err)}
	}
	return finding{name: "browser", text: path}
}

// checkFilter says whether the connections of the browser are judged.
func checkFilter(s config.Settings) finding {
	switch {
	case s.BrowserAttach != "":
		return finding{name: "filter", text: "Where your own browser connects to is not filtered.", remark: "Empty the setting browserAttach to use Gofer's own browser."}
	case s.BrowserFilter == config.Off:
		return finding{name: "filter", text: "It is off, so a page can send on what is put into it.", remark: "Set browserFilter to on in the settings."}
	}
	return finding{name: "filter", text: "on: where the browser connects to is judged"}
}

func (a *app) checkDisplay() finding {
	if a.display() {
		return finding{name: "display", text: "there is one"}
	}
	return finding{name: "display", text: "There is no display, so the browser works without a window.", remark: "Log in to a desktop, or set DISPLAY or WAYLAND_DISPLAY, to watch it."}
}

func checkSandbox() finding {
	if err := engine.SandboxWorks(); err != nil {
		return finding{name: "sandbox", text: "There is none, so Auto mode asks before each command that does not only read.", remark: "On Linux install bubblewrap, and allow user namespaces where they are switched off."}
	}
	return finding{name: "sandbox", text: "commands in Auto mode run in bubblewrap"}
}

// checkEngine opens the home as every command does, and asks the default
// provider for a word.
func (a *app) checkEngine(ctx context.Context) []finding {
	s, end, err := a.open(ctx)
	if err != nil {
		return []finding{{name: "engine", fault: fault.From(err)}}
	}
	defer end()
	list := []finding{{name: "engine", text: "starts"}}
	if who, remote := host.Remote(s); remote {
		list[0].text = fmt.Sprintf("runs in process %d (%s, version %s)", who.PID, who.Kind, who.Version)
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	p, err := defaultProvider(ctx, s)
	if err != nil {
		return append(list, finding{name: "provider", fault: fault.From(err)})
	}
	t, err := s.TestProvider(ctx, engine.ProviderSpec{ID: p.ID, Quick: true})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fault.New(fault.Unavailable, fmt.Sprintf("%s did not answer within %v.", p.Name, checkLimit), "Look at its address and your network.")
		fallthrough
	case err != nil:
		return append(list, finding{name: "provider", fault: fault.From(err)})
	case !t.OK:
		f := problemOf(t)
		f.Message = p.Name + ": " + f.Message
		return append(list, finding{name: "provider", fault: f})
	}
	return append(list, finding{name: "provider", text: fmt.Sprintf("%s, %s, answered in %s", p.Name, p.Model, took(t.ElapsedMS))})
}
