//go:build linux && windowtest

package windowtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gofer/backend/windowtest"
)

// chosen is the soft accent colour of the row that is chosen in the sidebar.
// Nothing shows it before the page itself is painted.
const chosen = 0xE8ECFB

// TestFiguresOfAStart prints how long a start takes and what an idle window
// holds. It judges neither: a busy machine says little about both.
func TestFiguresOfAStart(t *testing.T) {
	k := newDesk(t)
	var took []time.Duration
	for n := range 5 {
		w := k.begin()
		took = append(took, k.painted(w.Started))
		w.Appear()
		if n == 4 {
			for _, line := range memory(t, w) {
				t.Log(line)
			}
		}
		w.Quit()
	}
	first := took[0]
	slices.Sort(took)
	t.Logf("process start to painted window: median %s of %v; the first, on a new home, %s", took[2], took, first)
}

// painted waits for the page to be on the screen.
func (k *desk) painted(since time.Time) time.Duration {
	k.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		on, err := k.desktop.Shows(chosen, 1000)
		took := time.Since(since)
		switch {
		case err != nil:
			k.t.Fatal(err)
		case on:
			return took.Round(time.Millisecond)
		case took > 20*time.Second:
			k.t.Fatal("the window was not painted")
		}
	}
	return 0
}

// memory waits until an idle window holds still and says what its processes hold.
func memory(t *testing.T, w *windowtest.Window) []string {
	t.Helper()
	pids := append([]int{w.PID()}, children(w.PID())...)
	var now []int
	still := 0
	w.Wait("the memory to stay as it is", func(context.Context) error {
		before := now
		now = nil
		for _, pid := range pids {
			kb, err := pss(pid)
			if err != nil {
				return err
			}
			now = append(now, kb)
		}
		if still++; !slices.Equal(before, now) {
			still = 0
		}
		if still < 25 { // looks at it, half a second
			return fmt.Errorf("it is %v kB", now)
		}
		return nil
	})
	var lines []string
	for i, pid := range pids {
		name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		lines = append(lines, fmt.Sprintf("idle memory (PSS) of %s: %.1f MB", strings.TrimSpace(string(name)), float64(now[i])/1000))
	}
	return lines
}

// pss is the proportional share of memory of a process in kB.
func pss(pid int) (int, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			return strconv.Atoi(f[1])
		}
	}
	return 0, errors.New("the process tells no Pss")
}

// children are the processes that a process started and that still run.
func children(pid int) []int {
	var out []int
	files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	for _, file := range files {
		raw, _ := os.ReadFile(file)
		for _, f := range strings.Fields(string(raw)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
