package engine

import (
	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/event"
)

// Provider is a model account as the settings show it. The keys themselves
// never leave the secret store.
type Provider struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Preset      string         `json:"preset"`
	BaseURL     string         `json:"baseUrl"`
	Model       string         `json:"model"`
	Models      []string       `json:"models"` // last list the server gave
	Local       bool           `json:"local"`
	NeedsKey    bool           `json:"needsKey"`
	KeyHint     string         `json:"keyHint"`  // of the key in use: last four characters, empty without a key
	KeyPlace    string         `json:"keyPlace"` // keychain, file, memory, none
	Keys        []KeyInfo      `json:"keys,omitempty"`
	Limits      *config.Limits `json:"limits,omitempty"`      // its own; nil takes the usual
	Profile     map[string]any `json:"profile,omitempty"`     // traits that differ from the preset's
	Certificate string         `json:"certificate,omitempty"` // fingerprint that is accepted
	IsDefault   bool           `json:"isDefault"`
}

// KeyInfo is a key as lists show it.
type KeyInfo struct {
	ID      string `json:"id"` // empty when it is the only one
	Alias   string `json:"alias,omitempty"`
	Hint    string `json:"hint"`              // last four characters
	Place   string `json:"place"`             // keychain, file, memory, none
	Expires int64  `json:"expires,omitempty"` // Unix milliseconds; 0 never
	Expired bool   `json:"expired,omitempty"`
	Active  bool   `json:"active"` // it is the one in use
}

// KeySpec adds a key or changes one; nil fields stay.
type KeySpec struct {
	Provider string  `json:"provider"`
	ID       string  `json:"id,omitempty"` // empty adds one
	Alias    *string `json:"alias,omitempty"`
	Expires  *int64  `json:"expires,omitempty"`
	Key      *string `json:"key,omitempty"`
	Active   bool    `json:"active,omitempty"` // use it from now on
}

// ProviderSpec adds or changes a provider; empty fields take the preset or stay.
type ProviderSpec struct {
	ID          string         `json:"id,omitempty"`
	Preset      string         `json:"preset,omitempty"`
	Name        string         `json:"name,omitempty"`
	BaseURL     string         `json:"baseUrl,omitempty"`
	Model       string         `json:"model,omitempty"`
	Key         *string        `json:"key,omitempty"` // of the key in use: nil keeps it, "" forgets it
	Limits      *config.Limits `json:"limits,omitempty"`
	Profile     map[string]any `json:"profile,omitempty"`     // replaces the traits that differ; {} takes the preset's
	Certificate *string        `json:"certificate,omitempty"` // fingerprint to accept; "" accepts only what can be checked
	Default     bool           `json:"default,omitempty"`
	Quick       bool           `json:"quick,omitempty"` // of a test: ask for a word only
}

// Preset is a built-in description of a provider.
type Preset struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	BaseURL  string   `json:"baseUrl"`
	KeyPage  string   `json:"keyPage,omitempty"`
	Local    bool     `json:"local"`
	NeedsKey bool     `json:"needsKey"`
	Models   []string `json:"models,omitempty"`
}

// ModelInfo is what is known of a model of a provider.
type ModelInfo struct {
	Name        string       `json:"name"`
	Input       int          `json:"input,omitempty"`  // tokens a request may have; 0 is unknown
	Output      int          `json:"output,omitempty"` // tokens a reply may have
	Vision      bool         `json:"vision"`           // it sees pictures
	PriceInput  *float64     `json:"priceInput,omitempty"`
	PriceOutput *float64     `json:"priceOutput,omitempty"`
	PriceCached *float64     `json:"priceCached,omitempty"`
	Own         config.Model `json:"own"`               // what the person has set
	Learned     []string     `json:"learned,omitempty"` // what refusals have taught
}

// Route is models in order: where one fails, the next is taken.
type Route struct {
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Legs      []config.Leg `json:"legs"`
	Order     []string     `json:"order,omitempty"` // provider and model of each, as they are tried
	IsDefault bool         `json:"isDefault"`
}

// RouteSpec adds a route or replaces one.
type RouteSpec struct {
	ID         string       `json:"id,omitempty"` // empty adds one
	Name       string       `json:"name"`
	Legs       []config.Leg `json:"legs"`
	Default    bool         `json:"default,omitempty"`    // use it where nothing is named
	NotDefault bool         `json:"notDefault,omitempty"` // do so no longer
}

// ProviderTest is what real requests to a provider showed.
type ProviderTest struct {
	OK          bool           `json:"ok"` // it answered with text
	ElapsedMS   int64          `json:"elapsedMs"`
	Answer      string         `json:"answer,omitempty"` // what the model said
	URL         string         `json:"url"`              // the address that was used
	Model       string         `json:"model,omitempty"`
	Models      []string       `json:"models"`
	Checks      []Check        `json:"checks,omitempty"`
	Learned     []string       `json:"learned,omitempty"`     // what refusals taught, as sentences
	Certificate string         `json:"certificate,omitempty"` // fingerprint of a certificate that could not be checked
	Problem     *event.Problem `json:"problem,omitempty"`
}

// Check is one request of a test.
type Check struct {
	What      string         `json:"what"` // models, text, stream, tools, pictures
	OK        bool           `json:"ok"`
	ElapsedMS int64          `json:"elapsedMs"`
	FirstMS   int64          `json:"firstMs,omitempty"` // until the first piece
	Text      string         `json:"text"`              // what it showed, in a few words
	Problem   *event.Problem `json:"problem,omitempty"`
}

// UsageReport is what was used, by day and by model.
type UsageReport struct {
	Total     chat.Usage `json:"total"`
	Days      []UsageOf  `json:"days"`   // oldest first; the name is a date such as 2026-05-31
	Models    []UsageOf  `json:"models"` // as the servers name them
	BudgetRun float64    `json:"budgetRun,omitempty"`
	BudgetDay float64    `json:"budgetDay,omitempty"`
}

// UsageOf is what one day or one model has used.
type UsageOf struct {
	Name    string     `json:"name"`
	Usage   chat.Usage `json:"usage"`
	Replies int        `json:"replies"`
}
