package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gofer/backend/chat"
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

// SaveSettings writes the settings. Providers are changed by SaveProvider only.
func (e *Engine) SaveSettings(ctx context.Context, s config.Settings) (config.Settings, error) {
	err := e.settings.Change(func(current *config.Settings) error {
		s.Providers, s.DefaultProvider = current.Providers, current.DefaultProvider
		*current = s
		return nil
	})
	if err != nil {
		return config.Settings{}, err
	}
	e.browsers.use(s.BrowserPath, s.BrowserAttach)
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
		out = append(out, Preset{ID: p.ID, Name: p.Name, BaseURL: p.BaseURL, KeyPage: p.KeyPage, Local: p.Local, NeedsKey: p.NeedsKey, Models: p.Models})
	}
	return out, nil
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
	return Provider{
		ID: p.ID, Name: p.Name, Preset: p.Preset, BaseURL: p.BaseURL, Model: p.Model, Models: append([]string{}, p.Models...), Local: pre.Local,
		NeedsKey: pre.NeedsKey, KeyHint: e.secrets.Hint(p.ID), KeyPlace: string(e.secrets.Place(p.ID)), IsDefault: isDefault,
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
		if err := e.keepKey(p.ID, strings.TrimSpace(*spec.Key)); err != nil {
			return Provider{}, err
		}
	}
	err = e.settings.Change(func(s *config.Settings) error {
		at := -1
		for i := range s.Providers {
			if s.Providers[i].ID == p.ID {
				at = i
			}
		}
		if at < 0 {
			s.Providers = append(s.Providers, p)
		} else {
			s.Providers[at] = p
		}
		if spec.Default {
			s.DefaultProvider = p.ID
		}
		return nil
	})
	if err != nil {
		return Provider{}, err
	}
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
			p.Model = pre.Models[0]
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
	base, err := openai.CleanBase(p.BaseURL)
	if err != nil {
		return p, noAddress(p.BaseURL, err)
	}
	p.BaseURL = base
	return p, nil
}

func (e *Engine) keepKey(providerID, key string) error {
	if key == "" {
		return e.secrets.Delete(providerID)
	}
	_, err := e.secrets.Set(providerID, key)
	return err
}

// RemoveProvider forgets a provider and its key.
func (e *Engine) RemoveProvider(ctx context.Context, providerID string) error {
	p, err := e.provider(providerID)
	if err != nil {
		return err
	}
	err = e.settings.Change(func(s *config.Settings) error {
		var kept []config.Provider
		for _, other := range s.Providers {
			if other.ID != p.ID {
				kept = append(kept, other)
			}
		}
		s.Providers = kept
		if s.DefaultProvider == p.ID {
			s.DefaultProvider = ""
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.secrets.Delete(p.ID); err != nil {
		return err
	}
	return e.tellSettings(ctx)
}

// testLimit bounds a test of a provider.
const testLimit = 60 * time.Second

// TestProvider lists a provider's models and asks one real question. Nothing
// is saved, except the list of models of a known provider.
func (e *Engine) TestProvider(ctx context.Context, spec ProviderSpec) (ProviderTest, error) {
	p, err := e.merged(spec)
	if err != nil {
		return ProviderTest{}, err
	}
	var key string
	if spec.Key != nil {
		key = strings.TrimSpace(*spec.Key)
	} else if key, err = e.secrets.Key(p.ID); err != nil {
		return ProviderTest{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	pre, _ := preset.Get(p.Preset)
	pre.Name = p.Name
	client, err := newClient(ctx, connection{p.BaseURL, key, p.Model}, p.Limits, pre, e.version)
	if err != nil {
		return ProviderTest{}, err
	}
	out := ProviderTest{URL: p.BaseURL, Models: []string{}}
	models, listErr := client.ListModels(ctx)
	if listErr == nil && len(models) > 0 {
		out.Models = models
		e.rememberModels(ctx, p.ID, models)
	}
	if p.Model == "" {
		if listErr != nil {
			out.Problem = problemOf(listErr)
			return out, nil
		}
		if len(models) == 0 {
			out.Problem = &event.Problem{Code: string(fault.Invalid), Message: "The server lists no models.", Hint: "Write the model's name."}
			return out, nil
		}
		p.Model = models[0]
		if client, err = newClient(ctx, connection{p.BaseURL, key, p.Model}, p.Limits, pre, e.version); err != nil {
			return ProviderTest{}, err
		}
	}
	start := e.now()
	reply, err := client.Stream(ctx, llm.Request{Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: "Reply with the one word: ready"}}}}}, func(llm.Delta) {})
	out.ElapsedMS = e.now().Sub(start).Milliseconds()
	if err != nil {
		out.Problem = problemOf(err)
		return out, nil
	}
	out.OK = true
	for _, part := range reply.Parts {
		if part.Type == chat.Text {
			out.Answer += part.Text
		}
	}
	out.Answer = firstRunes(out.Answer, 200)
	return out, nil
}

func (e *Engine) rememberModels(ctx context.Context, providerID string, models []string) {
	unknown := errors.New("not saved yet")
	err := e.settings.Change(func(s *config.Settings) error {
		for i := range s.Providers {
			if s.Providers[i].ID == providerID {
				s.Providers[i].Models = models
				return nil
			}
		}
		return unknown
	})
	if err == nil {
		_ = e.tellSettings(ctx) // a hint; the list is saved
	}
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
