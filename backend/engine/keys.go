package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"gofer/backend/config"
	"gofer/backend/fault"
	"gofer/backend/id"
	"gofer/backend/secret"
)

// key returns the key in use of a provider, "" without one. One that has
// expired is a fault: the server would refuse it.
func (e *Engine) key(p config.Provider) (string, error) {
	k, several := p.Key()
	if several && expired(k, e.now()) {
		return "", fault.New(fault.NoProvider, fmt.Sprintf("The key %s of %s has expired.", called(k), p.Name), "Enter a new one, or use another key, in Settings under Providers.")
	}
	return e.secrets.Key(p.SecretID(k.ID))
}

// readKeys makes every stored key known to the redactor, also those that no run
// has used yet. A keychain that gives one out reluctantly is not asked again.
func (e *Engine) readKeys() {
	for _, p := range e.settings.Settings().Providers {
		ids := []string{p.ID}
		for _, k := range p.Keys {
			ids = append(ids, p.SecretID(k.ID))
		}
		for _, secretID := range ids {
			if _, err := e.secrets.Key(secretID); err != nil {
				slog.Warn("a key could not be read, so what is told is not searched for it", "provider", p.ID, "err", err)
				return
			}
		}
	}
}

func expired(k config.Key, now time.Time) bool { return k.Expires > 0 && now.UnixMilli() >= k.Expires }

func called(k config.Key) string {
	if k.Alias == "" {
		return "in use"
	}
	return fmt.Sprintf("%q", k.Alias)
}

// keys shows the keys of a provider; a single one has the empty id.
func (e *Engine) keys(p config.Provider) []KeyInfo {
	list := p.Keys
	if len(list) == 0 {
		if e.secrets.Place(p.ID) == secret.None {
			return []KeyInfo{}
		}
		list = []config.Key{{}}
	}
	out := []KeyInfo{}
	for _, k := range list {
		secretID := p.SecretID(k.ID)
		out = append(out, KeyInfo{
			ID: k.ID, Alias: k.Alias, Hint: e.secrets.Hint(secretID), Place: string(e.secrets.Place(secretID)),
			Expires: k.Expires, Expired: expired(k, e.now()), Active: k.ID == p.ActiveKey,
		})
	}
	return out
}

// SaveKey adds a key to a provider or changes one: its alias, when it expires,
// the key itself, or that it is the one in use. The first key of a provider is.
// Without an id and a key it changes what is said of a single key.
func (e *Engine) SaveKey(ctx context.Context, spec KeySpec) (Provider, error) {
	p, err := e.provider(spec.Provider)
	if err != nil {
		return Provider{}, err
	}
	given := ""
	if spec.Key != nil {
		given = strings.TrimSpace(*spec.Key)
	}
	alone := len(p.Keys) == 0 && e.secrets.Place(p.ID) != secret.None
	if spec.ID == "" && given == "" && !alone {
		return Provider{}, fault.New(fault.Invalid, "There is no key to keep.", "Enter the key.")
	}
	if err := e.listSingleKey(&p); err != nil {
		return Provider{}, err
	}
	if spec.ID == "" && given == "" {
		spec.ID = p.Keys[0].ID // the one that had none until now
	}
	at := slices.IndexFunc(p.Keys, func(k config.Key) bool { return k.ID == spec.ID })
	if spec.ID != "" && at < 0 {
		return Provider{}, fault.New(fault.NotFound, fmt.Sprintf("%s has no such key.", p.Name), "It may have been removed.")
	}
	if spec.ID == "" {
		p.Keys = append(p.Keys, config.Key{ID: id.New()})
		at = len(p.Keys) - 1
	}
	k := &p.Keys[at]
	if spec.Alias != nil {
		k.Alias = strings.TrimSpace(*spec.Alias)
	}
	if spec.Expires != nil {
		k.Expires = *spec.Expires
	}
	if spec.Active || p.ActiveKey == "" {
		p.ActiveKey = k.ID
	}
	if given != "" {
		if _, err := e.secrets.Set(p.SecretID(k.ID), given); err != nil {
			return Provider{}, err
		}
	}
	return e.keepProvider(ctx, p, false)
}

// listSingleKey gives the only key of a provider an id, so that another can
// stand beside it.
func (e *Engine) listSingleKey(p *config.Provider) error {
	if len(p.Keys) > 0 {
		return nil
	}
	only, err := e.secrets.Key(p.ID)
	if err != nil || only == "" {
		return err
	}
	k := config.Key{ID: id.New()}
	if _, err := e.secrets.Set(p.SecretID(k.ID), only); err != nil {
		return err
	}
	p.Keys, p.ActiveKey = []config.Key{k}, k.ID
	return e.secrets.Delete(p.ID)
}

// RemoveKey forgets a key of a provider. When it was the one in use, the next
// that has not expired is.
func (e *Engine) RemoveKey(ctx context.Context, providerID, keyID string) (Provider, error) {
	p, err := e.provider(providerID)
	if err != nil {
		return Provider{}, err
	}
	if err := e.secrets.Delete(p.SecretID(keyID)); err != nil {
		return Provider{}, err
	}
	p.Keys = slices.DeleteFunc(p.Keys, func(k config.Key) bool { return k.ID == keyID })
	if p.ActiveKey == keyID {
		p.ActiveKey = ""
		for _, k := range p.Keys {
			if p.ActiveKey == "" && !expired(k, e.now()) {
				p.ActiveKey = k.ID
			}
		}
		if p.ActiveKey == "" && len(p.Keys) > 0 {
			p.ActiveKey = p.Keys[0].ID
		}
	}
	return e.keepProvider(ctx, p, false)
}
