package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gofer/backend/config"
	"gofer/backend/fault"
	"gofer/backend/llm"
	"gofer/backend/llm/openai"
	"gofer/backend/llm/route"
	"gofer/backend/store"
)

// choice is one model a session may use, with the connection to it.
type choice struct {
	llm.Model
	provider     string // id, empty for a server named on the command line
	providerName string
	name         string
	local        bool
	facts        llm.Facts
	maxOutput    int      // tokens a reply may have here; 0 sets no limit
	tools        []string // names of the tools it is offered; empty offers all
}

// title is what a person calls the model.
func (c choice) title() string { return strings.TrimSpace(c.providerName + " " + c.name) }

// key names the model among those that rest.
func (c choice) key() string { return restKey(c.provider) + c.providerName + "/" + c.name }

// restKey begins the keys of all models of a provider.
func restKey(providerID string) string { return providerID + "/" }

// model returns the model of a session: a route whose first leg speaks for it.
// What the route does is told through the run's journal.
func (e *Engine) model(ctx context.Context, s store.Session, j *journal) (*route.Route, []choice, error) {
	name, choices, err := e.choices(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	r := e.routeOf(name, choices)
	// A stopped run notices at its next commit that it was; until then what
	// is told here may be refused.
	r.OnRetry = func(attempt int, wait time.Duration, failed *llm.Error) { _ = j.retrying(ctx, attempt, wait, failed) }
	r.OnRestart = func() { _ = j.restart(ctx) }
	r.OnSwitch = func(from, to route.Leg, cause *llm.Error) {
		for _, c := range choices {
			if c.key() == to.Key {
				_ = j.switched(ctx, from.Name, c, cause)
			}
		}
	}
	r.OnQuiet = func(leg route.Leg, silence time.Duration) {
		_ = j.Notice(ctx, fmt.Sprintf("%s has said nothing for %d seconds; still waiting.", leg.Name, int(silence.Seconds())))
	}
	return r, choices, nil
}

func (e *Engine) routeOf(name string, choices []choice) *route.Route {
	r := route.New()
	r.Name, r.Rests = name, e.rests
	for _, c := range choices {
		r.Legs = append(r.Legs, route.Leg{Key: c.key(), Name: c.title(), Model: c, Facts: c.facts, MaxOutput: c.maxOutput})
	}
	return r
}

// choices lists the models of a session in order, and the name of its route.
func (e *Engine) choices(ctx context.Context, s store.Session) (string, []choice, error) {
	if endpoint, own := e.endpoint(s); own {
		pre := presetFor(endpoint.BaseURL)
		c, err := e.connect(ctx, connection{
			base: endpoint.BaseURL, key: endpoint.Key, model: endpoint.Model, preset: pre, own: config.Model{Name: endpoint.Model},
			network: networkOf(e.settings.Settings()),
		})
		return pre.Name, []choice{c}, err
	}
	if s.Tour {
		return "", nil, fault.New(fault.Unavailable, "The tour's scripted model is gone.", "Start the tour again.")
	}
	settings := e.settings.Settings()
	wanted := s.Provider
	if wanted == "" && s.Model == "" {
		wanted = settings.DefaultRoute
	}
	if r, ok := findRoute(settings, wanted); ok && wanted != "" {
		var out []choice
		for _, leg := range r.Ordered() {
			out = append(out, e.leg(ctx, settings, leg))
		}
		if len(out) == 0 {
			return "", nil, fault.New(fault.NoProvider, fmt.Sprintf("Every model of the route %s is switched off.", r.Name), "Switch one on in Settings under Routes.")
		}
		return r.Name, out, nil
	}
	if wanted == "" {
		wanted = settings.DefaultProvider
	}
	if wanted == "" && len(settings.Providers) > 0 {
		wanted = settings.Providers[0].ID
	}
	if wanted == "" {
		return "", nil, fault.New(fault.NoProvider, "No model is set up yet.", "Add one in Settings under Providers, or with `gofer providers add`.")
	}
	p, err := e.provider(wanted)
	if err != nil {
		return "", nil, err
	}
	c, err := e.account(ctx, settings, p, config.Leg{Model: s.Model})
	return p.Name, []choice{c}, err
}

// endpoint is the model server that was named for this session alone.
func (e *Engine) endpoint(s store.Session) (Endpoint, bool) {
	e.mu.Lock()
	endpoint, own := e.endpoints[s.ID]
	e.mu.Unlock()
	if !own && !s.Tour && strings.Contains(s.Provider, "://") {
		return Endpoint{BaseURL: s.Provider, Model: s.Model}, true // named by an earlier process; its key is gone
	}
	return endpoint, own
}

// leg makes a model of a route. One that cannot be reached stays in the route
// as a model that fails, so that the next is taken.
func (e *Engine) leg(ctx context.Context, settings config.Settings, l config.Leg) choice {
	p, err := e.provider(l.Provider)
	if err != nil {
		return choice{Model: unusable{err}, provider: l.Provider, providerName: l.Provider, name: l.Model}
	}
	c, err := e.account(ctx, settings, p, l)
	if err != nil {
		name := l.Model
		if name == "" {
			name = p.Model
		}
		return choice{Model: unusable{err}, provider: p.ID, providerName: p.Name, name: name}
	}
	return c
}

// unusable is a model that cannot be reached for a reason that is known.
type unusable struct{ err error }

// Stream fails with the reason.
func (u unusable) Stream(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
	f := fault.From(u.err)
	return llm.Reply{}, &llm.Error{Kind: llm.Auth, Message: f.Message, Hint: f.Hint, Cause: u.err}
}

// account returns a model of a provider of the settings, within the limits of
// its leg.
func (e *Engine) account(ctx context.Context, settings config.Settings, p config.Provider, l config.Leg) (choice, error) {
	model := l.Model
	if model == "" {
		model = p.Model
	}
	if model == "" {
		return choice{}, fault.New(fault.NoProvider, fmt.Sprintf("No model of %s is chosen.", p.Name), "Choose one in Settings under Providers.")
	}
	key, err := e.key(p)
	if err != nil {
		return choice{}, err
	}
	c := e.connectionOf(settings, p, model)
	c.key = key
	if l.Vision != nil {
		c.own.Vision = l.Vision
	}
	made, err := e.connect(ctx, c)
	made.maxOutput = l.MaxOutput
	if l.MaxInput > 0 {
		made.facts.Input = l.MaxInput
	}
	return made, err
}

func networkOf(s config.Settings) openai.Network {
	return openai.Network{Proxy: s.Network.Proxy, CAFile: s.Network.CAFile}
}

func noAddress(typed string, err error) error {
	return fault.Wrap(fault.Invalid, fmt.Sprintf("%q is no address of a model server.", typed), "It looks like https://host/v1.", err)
}
