package config

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
)

// Provider is a model account. Its keys live in the secret store, each under
// SecretID.
type Provider struct {
	ID          string         `json:"id"`
	Preset      string         `json:"preset"`
	Name        string         `json:"name"`
	BaseURL     string         `json:"baseUrl"`
	Model       string         `json:"model"`
	Models      []string       `json:"models,omitempty"` // last list the server gave
	Known       []Model        `json:"known,omitempty"`  // the person's own facts about models; they count before the preset's
	Keys        []Key          `json:"keys,omitempty"`   // without any, the key is stored under the provider's own id
	ActiveKey   string         `json:"activeKey,omitempty"`
	Limits      Limits         `json:"limits"`
	Profile     map[string]any `json:"profile,omitempty"`     // traits that differ from the preset's, by name
	Certificate string         `json:"certificate,omitempty"` // SHA-256 fingerprint of a certificate that is accepted as it is
}

// Model is what a person says about a model. Unset fields take what is known
// otherwise.
type Model struct {
	Name        string   `json:"name"`
	Input       int      `json:"input,omitempty"`  // tokens a request may have
	Output      int      `json:"output,omitempty"` // tokens a reply may have
	Vision      *bool    `json:"vision,omitempty"`
	PriceInput  *float64 `json:"priceInput,omitempty"` // US dollars for a million tokens
	PriceOutput *float64 `json:"priceOutput,omitempty"`
	PriceCached *float64 `json:"priceCached,omitempty"`
	TextCalls   *bool    `json:"textCalls,omitempty"` // tools are called in the text
	Tools       []string `json:"tools,omitempty"`     // names of the tools it is offered; empty offers all
	Temperature *float64 `json:"temperature,omitempty"`
	Thinking    string   `json:"thinking,omitempty"` // off, on, low, medium, high; empty sends nothing
}

// Empty reports whether nothing is said.
func (m Model) Empty() bool {
	some := len(m.Tools) > 0
	m.Name, m.Tools = "", nil
	return !some && reflect.ValueOf(m).IsZero()
}

// Key is one of several keys of a provider. The key itself is in the secret
// store.
type Key struct {
	ID      string `json:"id"`
	Alias   string `json:"alias,omitempty"`
	Expires int64  `json:"expires,omitempty"` // Unix milliseconds; 0 never
}

// SecretID is the name under which the secret store keeps a key of a provider.
// The empty key is the one of a provider that has just one.
func (p Provider) SecretID(keyID string) string {
	if keyID == "" {
		return p.ID
	}
	return p.ID + "." + keyID
}

// Key finds the key in use; false when the provider has just one, or none.
func (p Provider) Key() (Key, bool) {
	for _, k := range p.Keys {
		if k.ID == p.ActiveKey {
			return k, true
		}
	}
	return Key{}, false
}

// Limits are a provider's own limits of a model call, in seconds; 0 takes the default.
type Limits struct {
	Connect   int `json:"connect,omitempty"`
	FirstByte int `json:"firstByte,omitempty"`
	Silence   int `json:"silence,omitempty"`
	Ceiling   int `json:"ceiling,omitempty"`
}

// Route is models in order: where one fails, the next is taken.
type Route struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Legs []Leg  `json:"legs"`
}

// Leg is one model of a route.
type Leg struct {
	Provider  string `json:"provider"`            // id
	Model     string `json:"model,omitempty"`     // empty takes the provider's
	Weight    int    `json:"weight,omitempty"`    // greater ones go first, equal ones as listed; 0 takes 100
	MaxInput  int    `json:"maxInput,omitempty"`  // tokens; 0 takes the model's
	MaxOutput int    `json:"maxOutput,omitempty"` // tokens; 0 takes the model's
	Vision    *bool  `json:"vision,omitempty"`    // unset takes the model's
	Off       bool   `json:"off,omitempty"`       // kept and not used
}

// DefaultWeight is the weight of a leg that names none.
const DefaultWeight = 100

// Ordered returns the legs that are in use, in the order in which they are tried.
func (r Route) Ordered() []Leg {
	legs := slices.DeleteFunc(slices.Clone(r.Legs), func(l Leg) bool { return l.Off })
	weight := func(l Leg) int {
		if l.Weight == 0 {
			return DefaultWeight
		}
		return l.Weight
	}
	slices.SortStableFunc(legs, func(a, b Leg) int { return weight(b) - weight(a) })
	return legs
}

// Budget is what may be spent, in US dollars; 0 sets no limit.
type Budget struct {
	Run float64 `json:"run,omitempty"`
	Day float64 `json:"day,omitempty"`
}

// Network says how model servers are reached.
type Network struct {
	Proxy  string `json:"proxy,omitempty"`  // empty takes the environment's
	CAFile string `json:"caFile,omitempty"` // PEM file of further certificates to trust
}

func (n Network) proxyOK() bool {
	if n.Proxy == "" {
		return true
	}
	u, err := url.Parse(n.Proxy)
	return err == nil && u.Host != "" && slices.Contains([]string{"http", "https", "socks5"}, u.Scheme)
}

func (p Provider) problem() string {
	name := p.Name
	if name == "" {
		name = p.ID
	}
	if p.ID == "" {
		return fmt.Sprintf("The provider %q has no id.", p.Name)
	}
	if p.BaseURL != "" {
		if u, err := url.Parse(p.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Sprintf("The address of the provider %q is not an http or https address.", name)
		} else if u.User != nil {
			return fmt.Sprintf("The address of the provider %q holds a password; give it as the key instead.", name)
		}
	}
	for _, n := range []int{p.Limits.Connect, p.Limits.FirstByte, p.Limits.Silence, p.Limits.Ceiling} {
		if n < 0 || n > 24*3600 {
			return fmt.Sprintf("A limit of the provider %q is not between 0 seconds and a day.", name)
		}
	}
	for _, m := range p.Known {
		if problem := m.problem(); problem != "" {
			return fmt.Sprintf("The model %q of the provider %q: %s", m.Name, name, problem)
		}
	}
	if _, ok := p.Key(); p.ActiveKey != "" && !ok {
		return fmt.Sprintf("The key in use of the provider %q is not among its keys.", name)
	}
	return ""
}

func (m Model) problem() string {
	switch {
	case m.Name == "":
		return "it has no name."
	case m.Input < 0 || m.Output < 0:
		return "a number of tokens is less than nothing."
	case !slices.Contains([]string{"", "off", "on", "low", "medium", "high"}, m.Thinking):
		return fmt.Sprintf("thinking cannot be %q: choose off, on, low, medium or high.", m.Thinking)
	case m.Temperature != nil && (*m.Temperature < 0 || *m.Temperature > 2):
		return "its temperature is not between 0 and 2."
	}
	for _, price := range []*float64{m.PriceInput, m.PriceOutput, m.PriceCached} {
		if price != nil && *price < 0 {
			return "a price is less than nothing."
		}
	}
	return ""
}

func (r Route) problem(providers []string) string {
	switch {
	case r.ID == "":
		return fmt.Sprintf("The route %q has no id.", r.Name)
	case r.Name == "":
		return "A route has no name."
	case len(r.Legs) == 0:
		return fmt.Sprintf("The route %q names no model.", r.Name)
	}
	for _, l := range r.Legs {
		switch {
		case !slices.Contains(providers, l.Provider):
			return fmt.Sprintf("The route %q names a provider that is not there (%s).", r.Name, l.Provider)
		case l.Weight < 0 || l.MaxInput < 0 || l.MaxOutput < 0:
			return fmt.Sprintf("A number in the route %q is less than nothing.", r.Name)
		}
	}
	return ""
}

func (p Provider) clone() Provider {
	p.Models, p.Known, p.Keys, p.Profile = slices.Clone(p.Models), slices.Clone(p.Known), slices.Clone(p.Keys), maps.Clone(p.Profile)
	for i := range p.Known {
		p.Known[i].Tools = slices.Clone(p.Known[i].Tools)
	}
	return p
}
