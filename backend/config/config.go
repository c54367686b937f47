// Package config holds the typed settings of a home: one JSON file, written
// atomically, kept aside when it cannot be read. Keys are never in it.
package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"

	"gofer/backend/fault"
)

// Settings is everything a person can set. A missing field takes its default.
type Settings struct {
	Theme           string     `json:"theme"` // system, light, dark
	Zoom            int        `json:"zoom"`  // percent, 80 to 200
	Mode            string     `json:"mode"`  // ask or full
	MaxIterations   int        `json:"maxIterations"`
	ConcurrentRuns  int        `json:"concurrentRuns"`
	Workspace       string     `json:"workspace"`     // folder of new sessions; empty takes Gofer in the home folder
	BrowserPath     string     `json:"browserPath"`   // empty finds one
	BrowserAttach   string     `json:"browserAttach"` // debugging port of the person's own browser, such as 127.0.0.1:9222; empty starts one
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

// Validate says in a sentence which setting cannot be as it is, as a fault; nil
// when all can.
func (s Settings) Validate() error {
	if problems := s.problems(nil); len(problems) > 0 {
		return fault.New(fault.Invalid, problems[0], "Change it and save again.")
	}
	return nil
}

// problems lists what is wrong. With a mend it also puts the default in place
// of each wrong value.
func (s Settings) problems(mend *Settings) []string {
	var list []string
	d := Defaults()
	wrong := func(bad bool, sentence string, put func(*Settings)) {
		if !bad {
			return
		}
		list = append(list, sentence)
		if mend != nil {
			put(mend)
		}
	}
	wrong(!slices.Contains([]string{"system", "light", "dark"}, s.Theme),
		fmt.Sprintf("The theme %q is not one of system, light and dark.", s.Theme), func(m *Settings) { m.Theme = d.Theme })
	wrong(s.Zoom < 80 || s.Zoom > 200,
		fmt.Sprintf("The zoom of %d %% is not between 80 and 200.", s.Zoom), func(m *Settings) { m.Zoom = d.Zoom })
	wrong(!ValidMode(s.Mode),
		fmt.Sprintf("The mode %q is not one of ask and full.", s.Mode), func(m *Settings) { m.Mode = d.Mode })
	wrong(s.MaxIterations < 1 || s.MaxIterations > 10_000,
		fmt.Sprintf("A run cannot have %d iterations: choose 1 to 10,000.", s.MaxIterations), func(m *Settings) { m.MaxIterations = d.MaxIterations })
	wrong(s.ConcurrentRuns < 1 || s.ConcurrentRuns > 100,
		fmt.Sprintf("%d runs cannot go on at once: choose 1 to 100.", s.ConcurrentRuns), func(m *Settings) { m.ConcurrentRuns = d.ConcurrentRuns })
	wrong(!localPort(s.BrowserAttach),
		fmt.Sprintf("The browser to attach to, %q, is not a port of this computer such as 127.0.0.1:9222.", s.BrowserAttach), func(m *Settings) { m.BrowserAttach = "" })
	var kept []Provider
	seen := map[string]bool{}
	for _, p := range s.Providers {
		problem := p.problem()
		if problem == "" && seen[p.ID] {
			problem = fmt.Sprintf("Two providers have the id %q.", p.ID)
		}
		if problem != "" {
			list = append(list, problem)
			continue
		}
		seen[p.ID] = true
		kept = append(kept, p)
	}
	if mend != nil {
		mend.Providers = kept
	}
	wrong(s.DefaultProvider != "" && !seen[s.DefaultProvider],
		fmt.Sprintf("The default provider %q is not among the providers.", s.DefaultProvider), func(m *Settings) { m.DefaultProvider = "" })
	return list
}

// localPort is true for no address and for a port of this computer. Whoever
// reaches such a port has the whole browser, so no other computer's is taken.
func localPort(address string) bool {
	if address == "" {
		return true
	}
	host, port, err := net.SplitHostPort(address)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 1 || n > 65535 {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ValidMode reports whether a word names a mode.
func ValidMode(mode string) bool { return mode == "ask" || mode == "full" }

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
	return ""
}
