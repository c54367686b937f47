package browser_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

var update = flag.Bool("update", false, "write what snapshots give now into testdata/snapshots.txt")

// TestSnapshotsAreAsWritten holds the rules of BROWSER.md section 3 to a table:
// after `== name` (with a view, depth or budget behind a bar) the HTML, after `--` the
// lines expected below the title line. -update writes them anew; read the diff.
func TestSnapshotsAreAsWritten(t *testing.T) {
	const path = "testdata/snapshots.txt"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(raw), "\n== ")
	var out bytes.Buffer
	out.WriteString(head)
	cases := strings.Split(rest, "\n== ")
	if len(cases) < 100 {
		t.Errorf("only %d cases", len(cases))
	}
	s := browsertest.Session(t)
	for _, c := range cases {
		title, body, _ := strings.Cut(c, "\n")
		html, want, ok := strings.Cut(body, "\n--\n")
		if !ok {
			t.Fatalf("%s: no expected text", title)
		}
		want = strings.TrimRight(want, "\n")
		name, how, _ := strings.Cut(title, " | ")
		q := browser.Query{View: how}
		if _, err := fmt.Sscanf(how, "depth %d", &q.Depth); err == nil {
			q.View = ""
		}
		if _, err := fmt.Sscanf(how, "budget %d", &q.Budget); err == nil {
			q.View = ""
		}
		site := browsertest.Site(t, map[string]string{"/": "<!doctype html><title>t</title>" + html})
		browsertest.Open(t, s, site.URL+"/")
		v, err := s.Snapshot(context.Background(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, got, _ := strings.Cut(v.Text, "\n")
		got = fromOne(strings.ReplaceAll(got, strings.TrimPrefix(site.URL, "http://"), "HOST"))
		if got != want && !*update {
			t.Errorf("%s\ngot\n%s\nwant\n%s", name, got, want)
		}
		fmt.Fprintf(&out, "\n== %s\n%s\n--\n%s\n", title, html, got)
	}
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var someRef = regexp.MustCompile(`((?:ref|after)=)(f\d+)?e(\d+)`)

// fromOne numbers the refs of the main frame from e1 on, so that cases can come
// and go; a session never gives a ref twice.
func fromOne(text string) string {
	low := 0
	for _, m := range someRef.FindAllStringSubmatch(text, -1) {
		if n, _ := strconv.Atoi(m[3]); m[2] == "" && (low == 0 || n < low) {
			low = n
		}
	}
	return someRef.ReplaceAllStringFunc(text, func(ref string) string {
		m := someRef.FindStringSubmatch(ref)
		if m[2] != "" {
			return m[1] + "f1e" + m[3]
		}
		n, _ := strconv.Atoi(m[3])
		return fmt.Sprintf("%se%d", m[1], n-low+1)
	})
}
