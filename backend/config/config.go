// Package config holds the typed settings of a home: one JSON file, written
// atomically, kept aside when it cannot be read. Keys are never in it.
package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"gofer/backend/fault"
)

// Settings is everything a person can set. A missing field takes its default.
type Settings struct {
	Theme           string     `json:"theme"`              // system, light, dark
	Zoom            int        `json:"zoom"`               // percent, 80 to 200
	Mode            string     `json:"mode"`               // plan, ask, auto or full
	Computer        string     `json:"computer,omitempty"` // everyday, agent for one that only the agent uses; empty until the person says
	MaxIterations   int        `json:"maxIterations"`
	ConcurrentRuns  int        `json:"concurrentRuns"`
	Workspace       string     `json:"workspace"`     // folder of new sessions; empty takes Gofer in the home folder
	BrowserPath     string     `json:"browserPath"`   // empty finds one
	BrowserAttach   string     `json:"browserAttach"` // debugging port of the person's own browser, such as 127.0.0.1:9222; empty starts one
	BrowserFilter   string     `json:"browserFilter"` // on, or off for a browser that connects by itself
	SystemPrompt    string     `json:"systemPrompt"`
	DefaultProvider string     `json:"defaultProvider"` // provider id
	Providers       []Provider `json:"providers"`
	DefaultRoute    string     `json:"defaultRoute,omitempty"` // route id; empty takes the default provider
	Routes          []Route    `json:"routes,omitempty"`
	Titles          string     `json:"titles"` // who names a session: model, or prompt for its first words
	Budget          Budget     `json:"budget"`
	Network         Network    `json:"network"`
}

// The values of a switch.
const (
	On  = "on"
	Off = "off"
)

// Defaults are the settings of a new home.
func Defaults() Settings {
	return Settings{Theme: "system", Zoom: 100, Mode: "ask", MaxIterations: 100, ConcurrentRuns: 10, BrowserFilter: On, Titles: "model"}
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
		fmt.Sprintf("The mode %q is not one of plan, ask, auto and full.", s.Mode), func(m *Settings) { m.Mode = d.Mode })
	wrong(!slices.Contains([]string{"", "everyday", "agent"}, s.Computer),
		fmt.Sprintf("The computer cannot be %q: it is everyday or agent.", s.Computer), func(m *Settings) { m.Computer = "" })
	wrong(s.MaxIterations < 1 || s.MaxIterations > 10_000,
		fmt.Sprintf("A run cannot have %d iterations: choose 1 to 10,000.", s.MaxIterations), func(m *Settings) { m.MaxIterations = d.MaxIterations })
	wrong(s.ConcurrentRuns < 1 || s.ConcurrentRuns > 100,
		fmt.Sprintf("%d runs cannot go on at once: choose 1 to 100.", s.ConcurrentRuns), func(m *Settings) { m.ConcurrentRuns = d.ConcurrentRuns })
	wrong(!localPort(s.BrowserAttach),
		fmt.Sprintf("The browser to attach to, %q, is not a port of this computer such as 127.0.0.1:9222.", s.BrowserAttach), func(m *Settings) { m.BrowserAttach = "" })
	wrong(s.BrowserFilter != On && s.BrowserFilter != Off,
		fmt.Sprintf("The filter of the browser cannot be %q: it is on or off.", s.BrowserFilter), func(m *Settings) { m.BrowserFilter = d.BrowserFilter })
	wrong(s.Titles != "model" && s.Titles != "prompt",
		fmt.Sprintf("Sessions cannot be named by %q: choose model or prompt.", s.Titles), func(m *Settings) { m.Titles = d.Titles })
	wrong(s.Budget.Run < 0 || s.Budget.Day < 0,
		"A budget cannot be less than nothing; 0 means none.", func(m *Settings) { m.Budget = Budget{} })
	wrong(!s.Network.proxyOK(),
		"The address of the proxy is not one; it looks like http://proxy.example.com:8080.", func(m *Settings) { m.Network.Proxy = "" })
	var providers []string
	var problems []string
	keptProviders := keep(s.Providers, func(p Provider) string { return p.ID }, Provider.problem, "providers", &problems)
	for _, p := range keptProviders {
		providers = append(providers, p.ID)
	}
	keptRoutes := keep(s.Routes, func(r Route) string { return r.ID }, func(r Route) string { return r.problem(providers) }, "routes", &problems)
	list = append(list, problems...)
	if mend != nil {
		mend.Providers, mend.Routes = keptProviders, keptRoutes
	}
	wrong(s.DefaultProvider != "" && !slices.Contains(providers, s.DefaultProvider),
		fmt.Sprintf("The default provider %q is not among the providers.", s.DefaultProvider), func(m *Settings) { m.DefaultProvider = "" })
	wrong(s.DefaultRoute != "" && !slices.ContainsFunc(keptRoutes, func(r Route) bool { return r.ID == s.DefaultRoute }),
		fmt.Sprintf("The default route %q is not among the routes.", s.DefaultRoute), func(m *Settings) { m.DefaultRoute = "" })
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
func ValidMode(mode string) bool {
	return mode == "plan" || mode == "ask" || mode == "auto" || mode == "full"
}

// keep returns the entries that make sense and have an id of their own, and
// adds what is wrong with the others.
func keep[T any](all []T, id func(T) string, problem func(T) string, what string, problems *[]string) []T {
	var kept []T
	seen := map[string]bool{}
	for _, v := range all {
		wrong := problem(v)
		if wrong == "" && seen[id(v)] {
			wrong = fmt.Sprintf("Two %s have the id %q.", what, id(v))
		}
		if wrong != "" {
			*problems = append(*problems, wrong)
			continue
		}
		seen[id(v)] = true
		kept = append(kept, v)
	}
	return kept
}
