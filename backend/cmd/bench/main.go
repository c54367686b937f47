// Bench prints the figures of speed that the project holds itself to, beside a
// floor measured in the same run: what the same requests cost a client that
// stores, guards and tells nothing. It prints and never fails on a slow machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"sort"
	"strings"
	"time"
)

// figure is one line of the table.
type figure struct {
	name        string
	ours, floor []time.Duration
	reach       time.Duration // what the 95th percentile, or the median, should stay under
	median      bool
	added       bool // the median of ours beyond that of the floor is what counts
}

func main() {
	if path := os.Getenv(playerEnv); path != "" {
		if err := play(context.Background(), path); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	profile := flag.String("cpuprofile", "", "write a CPU profile of the run to this file")
	only := flag.String("only", "", "measure only figures whose name holds this: loop, prompt, start or token")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	ctx := context.Background()
	var all []figure
	for _, m := range []struct {
		name    string
		measure func(context.Context) (figure, error)
	}{{"loop", loopOverhead}, {"prompt", promptToRequest}, {"start", startToSessions}, {"token", firstToken}} {
		if !strings.Contains(m.name, *only) {
			continue
		}
		f, err := m.measure(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		all = append(all, f)
	}
	fmt.Printf("%-52s %9s %9s %9s %9s %9s\n", "figure", "median", "p95", "floor", "ratio", "reach")
	for _, f := range all {
		m, p, floor := at(f.ours, 50), at(f.ours, 95), at(f.floor, 50)
		which := "p95"
		got := p
		switch {
		case f.median:
			which, got = "median", m
		case f.added:
			which, got = "added "+ms(m-floor), m-floor
		}
		word := "reached"
		if got > f.reach {
			word = "NOT reached"
		}
		fmt.Printf("%-52s %9s %9s %9s %8.1fx %9s  %s (%s)\n", f.name, ms(m), ms(p), ms(floor), float64(m)/float64(floor), ms(f.reach), word, which)
	}
}

func at(list []time.Duration, percent int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := append([]time.Duration(nil), list...)
	sort.Slice(sorted, func(a, b int) bool { return sorted[a] < sorted[b] })
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
