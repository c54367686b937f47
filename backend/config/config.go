// Package config holds the typed settings of a home: one JSON file, written
// atomically, kept aside when it cannot be read. Keys are never in it.
package config

// Settings is everything a person can set. A missing field takes its default.
type Settings struct {
	Theme           string     `json:"theme"` // system, light, dark
	Zoom            int        `json:"zoom"`  // percent, 80 to 200
	Mode            string     `json:"mode"`  // ask or full
	MaxIterations   int        `json:"maxIterations"`
	ConcurrentRuns  int        `json:"concurrentRuns"`
	Workspace       string     `json:"workspace"`   // folder of new sessions; empty takes Gofer in the home folder
	BrowserPath     string     `json:"browserPath"` // empty finds one
	SystemPrompt    string     `json:"systemPrompt"`
	DefaultProvider string     `json:"defaultProvider"` // provider id
	Providers       []Provider `json:"providers"`
}

// Provider is a model account. Its key lives in the secret store under its id.
type Provider struct {
	ID      string   `json:"id"`
	Preset  string   `json:"preset"`
	Name    string   `json:"name"`
	BaseURL string   `json:"baseUrl"`
	Model   string   `json:"model"`
	Models  []string `json:"models,omitempty"` // last list the server gave
	Limits  Limits   `json:"limits"`
}

// Limits are a provider's own limits of a model call, in seconds; 0 takes the default.
type Limits struct {
	Connect   int `json:"connect,omitempty"`
	FirstByte int `json:"firstByte,omitempty"`
	Silence   int `json:"silence,omitempty"`
	Ceiling   int `json:"ceiling,omitempty"`
}

// Defaults are the settings of a new home.
func Defaults() Settings {
	return Settings{Theme: "system", Zoom: 100, Mode: "ask", MaxIterations: 100, ConcurrentRuns: 10}
}
