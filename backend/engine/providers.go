package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gofer/backend/config"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/id"
	"gofer/backend/llm"
	"gofer/backend/llm/openai"
	"gofer/backend/llm/preset"
	"gofer/backend/store"
)

// Settings returns the settings as they are now.
func (e *Engine) Settings(context.Context) (config.Settings, error) {
	return e.settings.Settings(), nil
}

// SaveSettings writes the settings. Providers and routes are changed by their
// own methods only.
func (e *Engine) SaveSettings(ctx context.Context, s config.Settings) (config.Settings, error) {
	err := e.settings.Change(func(current *config.Settings) error {
		s.Providers, s.DefaultProvider = current.Providers, current.DefaultProvider
		s.Routes, s.DefaultRoute = current.Routes, current.DefaultRoute
		*current = s
		return nil
	})
	if err != nil {
		return config.Settings{}, err
	}
	e.browsers.use(s)
	e.slots.resize(s.ConcurrentRuns)
	return e.settings.Settings(), e.tellSettings(ctx)
}

func (e *Engine) tellSettings(ctx context.Context) error {
	return e.store.Write(ctx, func(tx *store.Tx) error { return tx.Emit("", "", event.SettingsChanged{}) })
}

// Notices says what was wrong with the settings file when it was opened, and
// what became of it.
func (e *Engine) Notices(context.Context) ([]event.Problem, error) {
	out := []event.Problem{}
	for _, f := range e.settings.Notices() {
		out = append(out, event.Problem{Code: string(f.Code), Message: f.Message, Hint: f.Hint})
	}
	return out, nil
}

// Presets lists the built-in descriptions of providers.
func (e *Engine) Presets(context.Context) ([]Preset, error) {
	var out []Preset
	for _, p := range preset.All() {
		out = append(out, Preset{ID: p.ID, Name: p.Name, BaseURL: p.BaseURL, KeyPage: p.KeyPage, Local: p.Local, NeedsKey: p.NeedsKey, Models: namesOf(p.Models)})
	}
	return out, nil
}

func namesOf(models []llm.Facts) []string {
	var out []string
	for _, m := range models {
		out = append(out, m.Name)
	}
	return out
}

// Providers lists the model accounts.
func (e *Engine) Providers(context.Context) ([]Provider, error) {
	settings := e.settings.Settings()
	out := []Provider{}
	for _, p := range settings.Providers {
		out = append(out, e.shown(p, settings))
	}
	return out, nil
}

func (e *Engine) shown(p config.Provider, s config.Settings) Provider {
	pre, _ := preset.Get(p.Preset)
	isDefault := p.ID == s.DefaultProvider || (s.DefaultProvider == "" && len(s.Providers) > 0 && s.Providers[0].ID == p.ID)
	secretID := p.SecretID(p.ActiveKey)
	var limits *config.Limits
	if p.Limits != (config.Limits{}) {
		limits = &p.Limits
	}
	return Provider{
		ID: p.ID, Name: p.Name, Preset: p.Preset, BaseURL: p.BaseURL, Model: p.Model, Models: append([]string{}, p.Models...), Local: pre.Local,
		NeedsKey: pre.NeedsKey, KeyHint: e.secrets.Hint(secretID), KeyPlace: string(e.secrets.Place(secretID)), Keys: e.keys(p),
		Limits: limits, Profile: p.Profile, Certificate: p.Certificate, IsDefault: isDefault,
	}
}

func (e *Engine) provider(providerID string) (config.Provider, error) {
	for _, p := range e.settings.Settings().Providers {
		if p.ID == providerID || strings.EqualFold(p.Name, providerID) {
			return p, nil
		}
	}
	return config.Provider{}, fault.New(fault.NotFound, fmt.Sprintf("There is no provider %q.", providerID), "See `gofer providers list`, or Settings under Providers.")
}

// SaveProvider adds a provider or changes one. The key goes to the secret
// store only.
func (e *Engine) SaveProvider(ctx context.Context, spec ProviderSpec) (Provider, error) {
	p, err := e.merged(spec)
	if err != nil {
		return Provider{}, err
	}
	if spec.Key != nil {
		if err := e.keepKey(p.SecretID(p.ActiveKey), strings.TrimSpace(*spec.Key)); err != nil {
			return Provider{}, err
		}
	}
	return e.keepProvider(ctx, p, spec.Default)
}

// keepProvider writes a provider into the settings. What failed with it before
// may work now.
func (e *Engine) keepProvider(ctx context.Context, p config.Provider, asDefault bool) (Provider, error) {
	err := e.settings.Change(func(s *config.Settings) error {
		if at := slices.IndexFunc(s.Providers, func(other config.Provider) bool { return other.ID == p.ID }); at < 0 {
			s.Providers = append(s.Providers, p)
		} else {
			s.Providers[at] = p
		}
		if asDefault {
			s.DefaultProvider = p.ID
		}
		return nil
	})
	if err != nil {
		return Provider{}, err
	}
	e.rests.Wake(restKey(p.ID))
	e.forgetClients(p.ID)
	return e.shown(p, e.settings.Settings()), e.tellSettings(ctx)
}

// merged lays a spec over the provider it names, or over its preset.
func (e *Engine) merged(spec ProviderSpec) (config.Provider, error) {
	var p config.Provider
	if spec.ID != "" {
		var err error
		if p, err = e.provider(spec.ID); err != nil {
			return p, err
		}
	} else {
		if spec.Preset == "" {
			spec.Preset = preset.Custom
		}
		pre, known := preset.Get(spec.Preset)
		if !known {
			return p, fault.New(fault.Invalid, fmt.Sprintf("There is no preset %q.", spec.Preset), "Use custom with a base URL.")
		}
		p = config.Provider{ID: id.New(), Preset: pre.ID, Name: pre.Name, BaseURL: pre.BaseURL}
		if len(pre.Models) > 0 {
			p.Model = pre.Models[0].Name
		}
	}
	for _, f := range []struct {
		value string
		into  *string
	}{{spec.Name, &p.Name}, {spec.BaseURL, &p.BaseURL}, {spec.Model, &p.Model}} {
		if v := strings.TrimSpace(f.value); v != "" {
			*f.into = v
		}
	}
	if spec.Limits != nil {
		p.Limits = *spec.Limits
	}
	if spec.Profile != nil {
		if err := readTraits(spec.Profile); err != nil {
			return p, err
		}
		p.Profile = maps.Clone(spec.Profile)
	}
	if spec.Certificate != nil {
		p.Certificate = strings.TrimSpace(*spec.Certificate)
	}
	base, err := openai.CleanBase(p.BaseURL)
	if err != nil {
		return p, noAddress(p.BaseURL, err)
	}
	if strings.ContainsAny(base, "{}") || strings.Contains(base, "%7B") {
		return p, fault.New(fault.Invalid, fmt.Sprintf("The address %s still holds a placeholder.", p.BaseURL), "Put the name of your own resource in its place.")
	}
	p.BaseURL = base
	return p, nil
}

// readTraits says which trait of a server is none, or has a wrong value.
func readTraits(traits map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(traits)) {
		raw, err := json.Marshal(map[string]any{name: traits[name]})
		if err != nil {
			return fmt.Errorf("write trait: %w", err)
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&llm.Profile{}); err != nil {
			hint := "Its traits are: " + strings.Join(llm.Traits(), ", ") + "."
			return fault.New(fault.Invalid, fmt.Sprintf("A server has no trait %q with the value %v.", name, traits[name]), hint)
		}
	}
	return nil
}

func (e *Engine) keepKey(secretID, key string) error {
	if key == "" {
		return e.secrets.Delete(secretID)
	}
	_, err := e.secrets.Set(secretID, key)
	return err
}

// RemoveProvider forgets a provider, its keys, and its place in every route.
func (e *Engine) RemoveProvider(ctx context.Context, providerID string) error {
	p, err := e.provider(providerID)
	if err != nil {
		return err
	}
	err = e.settings.Change(func(s *config.Settings) error {
		withoutProvider(s, p.ID)
		return nil
	})
	if err != nil {
		return err
	}
	e.forgetClients(p.ID)
	for _, k := range append([]config.Key{{}}, p.Keys...) {
		if err := e.secrets.Delete(p.SecretID(k.ID)); err != nil {
			return err
		}
	}
	return e.tellSettings(ctx)
}

// Models lists what is known of the models of a provider: those the person has
// numbers for, those of its preset, those its server listed.
func (e *Engine) Models(_ context.Context, providerID string) ([]ModelInfo, error) {
	p, err := e.provider(providerID)
	if err != nil {
		return nil, err
	}
	pre, _ := preset.Get(p.Preset)
	names := []string{}
	for _, m := range p.Known {
		names = append(names, m.Name)
	}
	names = slices.Concat(names, []string{p.Model}, namesOf(pre.Models), p.Models)
	out, seen := []ModelInfo{}, map[string]bool{"": true}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		c := e.connectionOf(e.settings.Settings(), p, name)
		f := c.facts()
		info := ModelInfo{Name: name, Input: f.Input, Output: f.Output, Vision: f.Vision, Own: c.own, Learned: openai.Explain(e.learned.of(p.BaseURL, name))}
		if f.Price != nil {
			info.PriceInput, info.PriceOutput, info.PriceCached = &f.Price.Input, &f.Price.Output, &f.Price.Cached
		}
		out = append(out, info)
	}
	return out, nil
}

// SaveModel keeps what the person says about a model of a provider. An entry
// that says nothing is forgotten.
func (e *Engine) SaveModel(ctx context.Context, providerID string, m config.Model) (Provider, error) {
	p, err := e.provider(providerID)
	if err != nil {
		return Provider{}, err
	}
	m.Name = strings.TrimSpace(m.Name)
	p.Known = slices.DeleteFunc(p.Known, func(other config.Model) bool { return other.Name == m.Name })
	if !m.Empty() {
		p.Known = append(p.Known, m)
	}
	return e.keepProvider(ctx, p, false)
}

// LocalServers looks for model servers on their usual ports of this machine.
func (e *Engine) LocalServers(ctx context.Context) ([]LocalServer, error) {
	out := []LocalServer{}
	known := map[string]bool{}
	for _, p := range e.settings.Settings().Providers {
		known[p.BaseURL] = true
	}
	for _, f := range preset.FindLocal(ctx) {
		out = append(out, LocalServer{Preset: f.Preset, Name: f.Name, BaseURL: f.BaseURL, Models: f.Models, Added: known[f.BaseURL]})
	}
	return out, nil
}
