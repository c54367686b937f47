package engine

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"gofer/backend/config"
	"gofer/backend/llm"
	"gofer/backend/llm/openai"
	"gofer/backend/llm/preset"
)

// connectionOf is how a model of a provider is reached, without its key.
func (e *Engine) connectionOf(settings config.Settings, p config.Provider, model string) connection {
	pre, _ := preset.Get(p.Preset)
	pre.Name = p.Name
	c := connection{provider: p.ID, base: p.BaseURL, model: model, preset: pre, own: config.Model{Name: model}, limits: p.Limits, traits: p.Profile}
	c.network = networkOf(settings)
	c.network.Fingerprint = p.Certificate
	for _, m := range p.Known {
		if m.Name == model {
			c.own = m
		}
	}
	return c
}

// connection is everything that makes a client.
type connection struct {
	provider, base, key, model string
	preset                     preset.Preset
	own                        config.Model
	limits                     config.Limits
	traits                     map[string]any
	network                    openai.Network
	load                       func(ctx context.Context, key string) ([]byte, error) // of pictures; nil takes the store
}

// id names the client of a connection: another one is needed when anything of
// it has changed.
func (c connection) id() string {
	raw, _ := json.Marshal([]any{c.base, c.key, c.model, c.preset.ID, c.preset.Name, c.preset.Local, c.own, c.limits, c.traits, c.network}) // plain values always can be written
	return connectionPrefix(c.provider) + string(raw)
}

func connectionPrefix(providerID string) string { return providerID + "\x00" }

// facts are what is known of the model: the person's numbers before the preset's.
func (c connection) facts() llm.Facts {
	f := c.preset.Facts(c.model)
	if c.own.Input > 0 {
		f.Input = c.own.Input
	}
	if c.own.Output > 0 {
		f.Output = c.own.Output
	}
	if c.own.Vision != nil {
		f.Vision = *c.own.Vision
	}
	if c.own.PriceInput != nil || c.own.PriceOutput != nil || c.own.PriceCached != nil {
		price := llm.Price{}
		if f.Price != nil {
			price = *f.Price
		}
		for _, n := range []struct {
			own  *float64
			into *float64
		}{{c.own.PriceInput, &price.Input}, {c.own.PriceOutput, &price.Output}, {c.own.PriceCached, &price.Cached}} {
			if n.own != nil {
				*n.into = *n.own
			}
		}
		if c.own.PriceCached == nil && f.Price == nil {
			price.Cached = price.Input
		}
		f.Price = &price
	}
	return f
}

// profile is the preset's, with the person's own traits and choices over it.
func (c connection) profile() llm.Profile {
	p := c.preset.Profile
	if raw, err := json.Marshal(c.traits); err == nil && len(c.traits) > 0 {
		_ = json.Unmarshal(raw, &p) // a trait of the wrong type counts as not given
	}
	if c.own.TextCalls != nil {
		p.TextCalls = *c.own.TextCalls
	}
	return p
}

// connect returns the model behind a connection. Clients are kept between
// runs, with the connections they hold open.
func (e *Engine) connect(ctx context.Context, c connection) (choice, error) {
	e.mu.Lock()
	client, ok := e.clients[c.id()]
	e.mu.Unlock()
	if !ok {
		var err error
		keep := func(all []string) { e.learned.keep(c.base, c.model, all) }
		if client, err = e.newClient(ctx, c, e.learned.of(c.base, c.model), keep); err != nil {
			return choice{}, err
		}
		e.mu.Lock()
		e.clients[c.id()] = client
		e.mu.Unlock()
	}
	return choice{
		Model: client, provider: c.provider, providerName: c.preset.Name, name: c.model,
		local: c.preset.Local, facts: c.facts(), tools: slices.Clone(c.own.Tools),
	}, nil
}

// newClient makes a connection. An address without a path is asked which of
// the usual ones it has.
func (e *Engine) newClient(ctx context.Context, c connection, lessons []string, learn func([]string)) (*openai.Client, error) {
	base, err := openai.CleanBase(c.base)
	if err != nil {
		return nil, noAddress(c.base, err)
	}
	if c.load == nil {
		c.load = e.loadBlob
	}
	o := openai.Options{
		BaseURL: base, Key: c.key, Model: c.model, Name: c.preset.Name, Profile: c.profile(), Limits: limitsOf(c.limits, c.preset),
		Sampling: llm.Sampling{Temperature: c.own.Temperature, Thinking: c.own.Thinking},
		Vision:   c.facts().Vision, LoadBlob: c.load, UserAgent: "Gofer/" + e.version, Network: c.network,
		Learned: lessons, Learn: learn,
	}
	if u, err := url.Parse(base); err == nil && strings.Trim(u.Path, "/") == "" {
		// without an answer the first request says better what is wrong
		o.BaseURL, _, _ = openai.Probe(ctx, o)
	}
	return openai.New(o), nil
}

func (e *Engine) loadBlob(ctx context.Context, key string) ([]byte, error) {
	_, data, err := e.store.Blob(ctx, key)
	return data, err
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
