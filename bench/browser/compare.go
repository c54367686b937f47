package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
)

// Goal is one row of the comparison. One of MS, Bytes, Calls and Value names
// what is measured. With Best, the best peer's figure when the goal was set,
// the row is reached when our figure divided by the best peer's of the same run
// is at most Reach divided by Best, which holds on a machine of any speed.
// Without it, or without a peer, the figure itself is compared.
type Goal struct {
	Row   string  `json:"row"`
	MS    string  `json:"ms"`
	Bytes string  `json:"bytes"`
	Calls string  `json:"calls"`
	Value string  `json:"value"` // rss or left
	Reach float64 `json:"reach"`
	Best  float64 `json:"best"`
}

func loadGoals(path string) ([]Goal, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var goals []Goal
	if err := json.Unmarshal(b, &goals); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return goals, nil
}

// of is the median of a server for the row; not a number when it has none.
func (g Goal) of(p *PerfResult) float64 {
	counted := func(m map[string]int, k string) float64 {
		if v, ok := m[k]; ok {
			return float64(v)
		}
		return math.NaN()
	}
	switch {
	case g.MS != "":
		return pct(p.Times[g.MS], .5)
	case g.Bytes == "tools/list":
		return float64(p.ToolsBytes)
	case g.Bytes != "":
		return counted(p.Bytes, g.Bytes)
	case g.Calls != "":
		return counted(p.Calls, g.Calls)
	case g.Value == "rss":
		return p.ServerMB
	case g.Value == "left":
		return float64(p.LeakedVanish)
	}
	return math.NaN()
}

// compareTable sets the first server of the list against the others.
func compareTable(goals []Goal, list []*PerfResult) string {
	ours, peers := list[0], list[1:]
	var sb strings.Builder
	fmt.Fprintf(&sb, "\n### %s and its peers, medians of this run\n\n| |", ours.Name)
	for _, p := range peers {
		fmt.Fprintf(&sb, " %s %s |", p.Name, p.Version)
	}
	fmt.Fprintf(&sb, " **%s** | ours ÷ best peer | wanted | |\n|---|%s---:|---:|---:|---|\n", ours.Name, strings.Repeat("---:|", len(peers)))
	reached := 0
	for _, g := range goals {
		fmt.Fprintf(&sb, "| %s |", g.Row)
		best, mine := math.NaN(), g.of(ours)
		for _, p := range peers {
			v := g.of(p)
			fmt.Fprintf(&sb, " %s |", figure(v))
			if !math.IsNaN(v) && !(best <= v) {
				best = v
			}
		}
		ratio, wanted, ok := "—", "≤ "+figure(g.Reach), mine <= g.Reach
		if g.Best > 0 && best > 0 {
			ratio, wanted = fmt.Sprintf("%.3g", mine/best), fmt.Sprintf("≤ %.3g", g.Reach/g.Best)
			ok = mine/best <= g.Reach/g.Best
		}
		verdict := "**not reached**"
		if ok {
			verdict = "reached"
			reached++
		}
		fmt.Fprintf(&sb, " **%s** | %s | %s | %s |\n", figure(mine), ratio, wanted, verdict)
	}
	fmt.Fprintf(&sb, "\n%d of %d rows reached.\n", reached, len(goals))
	return sb.String()
}

// figure prints small numbers with a digit behind the point and long ones in groups.
func figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "—"
	case v < 20 && v != math.Trunc(v):
		return fmt.Sprintf("%.1f", v)
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// runCompare does it all in one run: the tasks, ours in every round and the
// peers in the first, then the measurements, then the table.
func runCompare(cfg *Config, site *Site, tasks []*Task, goals []Goal, rounds int, out, logs string) error {
	ours := &Config{Servers: cfg.Servers[:1]}
	failed := 0
	for round := 1; round <= 3; round++ {
		who := ours
		if round == 1 {
			who = cfg
		}
		fmt.Printf("\n### Tasks, round %d\n\n", round)
		outcomes, err := runCorrect(who, site, tasks, "", logs)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if o.Server == ours.Servers[0].Name && !o.Pass {
				failed++
			}
		}
	}
	list, err := runPerf(cfg, site, rounds, out)
	if err != nil {
		return err
	}
	fmt.Print(compareTable(goals, list))
	fmt.Printf("%s did %d of %d tasks in 3 rounds.\n", ours.Servers[0].Name, 3*len(tasks)-failed, 3*len(tasks))
	return nil
}
