package engine

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"gofer/backend/config"
	"gofer/backend/fault"
	"gofer/backend/llm"
	"gofer/backend/llm/openai"
	"gofer/backend/llm/preset"
	"gofer/backend/llm/route"
	"gofer/backend/store"
)

// named is a model with the names lists show.
type named struct {
	llm.Model
	provider     string // id, empty for a server named on the command line
	providerName string
	name         string
}

// model returns the model of a session, with one retry of a broken call that
// is told through the run's journal.
func (e *Engine) model(ctx context.Context, s store.Session, j *journal) (*named, error) {
	client, m, err := e.client(ctx, s)
	if err != nil {
		return nil, err
	}
	legs := route.New(route.Leg{Name: m.providerName + " " + m.name, Model: client})
	legs.OnRetry = func(attempt int, wait time.Duration, failed *llm.Error) {
		_ = j.retrying(ctx, attempt, wait, failed) // a stopped run notices at its next commit
	}
	legs.OnRestart = func() { _ = j.restart(ctx) }
	m.Model = legs
	return m, nil
}

// client returns the connection to a session's model server. Connections and
// what they learned about a server are kept between runs.
func (e *Engine) client(ctx context.Context, s store.Session) (*openai.Client, *named, error) {
	e.mu.Lock()
	endpoint, own := e.endpoints[s.ID]
	e.mu.Unlock()
	if !own && !s.Tour && strings.Contains(s.Provider, "://") {
		endpoint, own = Endpoint{BaseURL: s.Provider, Model: s.Model}, true // named by an earlier process; its key is gone
	}
	if own {
		pre := presetFor(endpoint.BaseURL)
		client, err := e.connect(ctx, connection{endpoint.BaseURL, endpoint.Key, endpoint.Model}, config.Limits{}, pre)
		return client, &named{name: endpoint.Model, providerName: pre.Name}, err
	}
	if s.Tour {
		return nil, nil, fault.New(fault.Unavailable, "The tour's scripted model is gone.", "Start the tour again.")
	}
	wanted := s.Provider
	settings := e.settings.Settings()
	if wanted == "" {
		wanted = settings.DefaultProvider
	}
	if wanted == "" && len(settings.Providers) > 0 {
		wanted = settings.Providers[0].ID
	}
	if wanted == "" {
		return nil, nil, fault.New(fault.NoProvider, "No model is set up yet.", "Add one in Settings under Providers, or with `gofer providers add`.")
	}
	p, err := e.provider(wanted)
	if err != nil {
		return nil, nil, err
	}
	m := &named{provider: p.ID, providerName: p.Name, name: s.Model}
	if m.name == "" {
		m.name = p.Model
	}
	if m.name == "" {
		return nil, nil, fault.New(fault.NoProvider, fmt.Sprintf("No model of %s is chosen.", p.Name), "Choose one in Settings under Providers.")
	}
	key, err := e.secrets.Key(p.ID)
	if err != nil {
		return nil, nil, err
	}
	pre, _ := preset.Get(p.Preset)
	pre.Name = p.Name
	client, err := e.connect(ctx, connection{p.BaseURL, key, m.name}, p.Limits, pre)
	return client, m, err
}

// connection names a client that can be used again.
type connection struct{ base, key, model string }

func (e *Engine) connect(ctx context.Context, c connection, limits config.Limits, p preset.Preset) (*openai.Client, error) {
	e.mu.Lock()
	client, ok := e.clients[c]
	e.mu.Unlock()
	if ok {
		return client, nil
	}
	client, err := newClient(ctx, c, limits, p, e.version)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clients[c] = client
	return client, nil
}

// newClient makes a connection. An address without a path is asked which of
// the usual ones it has.
func newClient(ctx context.Context, c connection, limits config.Limits, p preset.Preset, version string) (*openai.Client, error) {
	base, err := openai.CleanBase(c.base)
	if err != nil {
		return nil, noAddress(c.base, err)
	}
	o := openai.Options{BaseURL: base, Key: c.key, Model: c.model, Name: p.Name, Profile: p.Profile, Limits: limitsOf(limits, p), UserAgent: "Gofer/" + version}
	if u, err := url.Parse(base); err == nil && strings.Trim(u.Path, "/") == "" {
		// without an answer the first request says better what is wrong
		o.BaseURL, _, _ = openai.Probe(ctx, o)
	}
	return openai.New(o), nil
}

func noAddress(typed string, err error) error {
	return fault.Wrap(fault.Invalid, fmt.Sprintf("%q is no address of a model server.", typed), "It looks like https://host/v1.", err)
}

// presetFor guesses the preset of a server from its address.
func presetFor(base string) preset.Preset {
	pre, _ := preset.Get(preset.Custom)
	u, err := url.Parse(base)
	if err != nil {
		return pre
	}
	for _, p := range preset.All() {
		if known, err := url.Parse(p.BaseURL); err == nil && known.Host != "" && known.Host == u.Host {
			return p
		}
	}
	pre.Name = u.Host
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback()) {
		pre.Local = true
	}
	return pre
}

func limitsOf(own config.Limits, p preset.Preset) llm.Limits {
	limits := p.Limits()
	for _, f := range []struct {
		seconds int
		into    *time.Duration
	}{{own.Connect, &limits.Connect}, {own.FirstByte, &limits.FirstByte}, {own.Silence, &limits.Silence}, {own.Ceiling, &limits.Ceiling}} {
		if f.seconds > 0 {
			*f.into = time.Duration(f.seconds) * time.Second
		}
	}
	return limits
}
