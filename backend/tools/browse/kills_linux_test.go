package browse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
	"gofer/backend/tool"
)

// renderers lists the processes that show the pages of a browser.
func renderers(b *browser.Browser) []int {
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		stat, err := os.ReadFile(d + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		line, _ := os.ReadFile(d + "/cmdline")
		if len(fields) > 2 && fields[2] == strconv.Itoa(b.PID()) && strings.Contains(string(line), "--type=renderer") {
			pid, _ := strconv.Atoi(filepath.Base(d))
			out = append(out, pid)
		}
	}
	return out
}

// Before the call and in the middle of it: the page is held by a request that
// is never answered, so that the call is under way when the end comes.
func TestEveryCallSurvivesTheEndOfItsRendererAndOfItsBrowser(t *testing.T) {
	together(t)
	site, dir := faulty(t), faultDir(t)
	kills := []struct {
		name string
		kill func(*browser.Browser)
	}{
		{"renderer", func(b *browser.Browser) {
			for _, pid := range renderers(b) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}},
		{"browser", func(b *browser.Browser) { _ = syscall.Kill(-b.PID(), syscall.SIGKILL) }},
	}
	for turn, k := range kills {
		t.Run(k.name+" before", func(t *testing.T) {
			b := browsertest.Own(t, browser.Options{}) // its limits are the usual ones: many pages are restored at once
			all := slices.DeleteFunc(casesOf(), func(c call) bool { return c.kind == page && c.tool != "browser_snapshot" && c.tool != "browser_click" })
			for part := range slices.Chunk(share(all, turn, 5), 7) {
				batch(t, b, site.URL, dir, part, k.kill, false)
			}
		})
		t.Run(k.name+" during", func(t *testing.T) {
			b := browsertest.Own(t, browser.Options{}) // its limits are the usual ones: many pages are restored at once
			for part := range slices.Chunk(share(casesOf(), turn, 12), 7) {
				batch(t, b, site.URL, dir, part, k.kill, true)
			}
		})
	}
}

func batch(t *testing.T, b *browser.Browser, site, dir string, cases []call, kill func(*browser.Browser), during bool) {
	type one struct {
		call
		x     *bench
		r     tool.Result
		err   error
		ended time.Time
	}
	var list []*one
	for _, c := range cases {
		x := newBench(b, site, dir, fmt.Sprintf("%s-%s", t.Name(), c.tool+c.args))
		if err := x.ready(c); err != nil {
			t.Fatal(err)
		}
		defer x.s.Close()
		list = append(list, &one{call: c, x: x})
	}
	if len(renderers(b)) == 0 {
		t.Fatal("no renderer was found")
	}
	var work sync.WaitGroup
	start := func() {
		for _, o := range list {
			work.Go(func() {
				o.r, o.err = o.x.run(o.call)
				o.ended = time.Now()
			})
		}
	}
	if during {
		for _, o := range list {
			if r, err := o.x.run(call{tool: "browser_eval", args: `{"expression":"` + hold + `"}`}); err != nil || r.Failed {
				t.Fatal(r.Text, err)
			}
		}
		start()
		time.Sleep(300 * time.Millisecond) // for the calls to be under way
	}
	killed := time.Now()
	kill(b)
	if !during {
		start()
	}
	work.Wait()
	for _, o := range list {
		if os.Getenv("FAULTS_SHOW") != "" {
			fmt.Printf("%-24s %-60s %6d ms %.110q\n", t.Name(), o.tool+" "+o.args, o.ended.Sub(killed).Milliseconds(), o.r.Text)
		}
		got := class(o.r)
		switch {
		case o.err != nil:
			t.Errorf("%s %s: %v", o.tool, o.args, o.err)
		case during && o.kind == page && (got != "browser_gone" || o.ended.Sub(killed) > slack):
			t.Errorf("%s %s ended after %v with %q", o.tool, o.args, o.ended.Sub(killed), o.r.Text)
		}
		if err := o.x.nextWorks(o.kind == past); err != nil {
			t.Errorf("%s %s: the next call: %v (the call itself: %s)", o.tool, o.args, err, o.r.Text)
		}
	}
}
