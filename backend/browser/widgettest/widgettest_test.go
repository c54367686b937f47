package widgettest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// agent does what a model could: it reads snapshots and acts by the refs in them.
type agent struct {
	t *testing.T
	s *browser.Session
}

// page opens testdata/pages/<name>.html.
func page(t *testing.T, name string) *agent {
	t.Helper()
	site := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	t.Cleanup(site.Close)
	a := &agent{t, browsertest.Session(t)}
	browsertest.Open(t, a.s, site.URL+"/pages/"+name+".html")
	return a
}

func (a *agent) snap() string {
	a.t.Helper()
	v, err := a.s.Snapshot(context.Background(), browser.Query{})
	if err != nil {
		a.t.Fatal(err)
	}
	return v.Text
}

// ref takes a snapshot and returns the ref of the first line that begins with
// the words, such as: button "Save".
func (a *agent) ref(words string) string {
	a.t.Helper()
	text := a.snap()
	return a.refIn(text, words)
}

func (a *agent) refIn(text, words string) string {
	a.t.Helper()
	rest := `.*?\[ref=(\w+)\]`
	if strings.HasSuffix(words, "[ref=") { // a nameless one
		rest = `(\w+)\]`
	}
	m := regexp.MustCompile(`(?m)^[\s+~-]*?` + regexp.QuoteMeta(words) + rest).FindStringSubmatch(text)
	if m == nil {
		a.t.Fatalf("no line %q with a ref in\n%s", words, text)
	}
	return m[1]
}

// under returns the ref of the first line with the words after the line of the parent.
func (a *agent) under(parent, words string) string {
	a.t.Helper()
	text := a.snap()
	_, after, ok := strings.Cut(text, parent)
	if !ok {
		a.t.Fatalf("no line %q in\n%s", parent, text)
	}
	return a.refIn(after, words)
}

// sees fails the test unless a snapshot shows all the words.
func (a *agent) sees(words ...string) string {
	a.t.Helper()
	text := a.snap()
	for _, w := range words {
		if !strings.Contains(text, w) {
			a.t.Errorf("the snapshot does not show %q:\n%s", w, text)
		}
	}
	return text
}

func said(r browser.Report) string { return r.Did + "\n" + strings.Join(r.Changes, "\n") }

// says fails the test unless the action worked and its report has all the words.
func (a *agent) says(r browser.Report, err error, words ...string) string {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	for _, w := range words {
		if !strings.Contains(said(r), w) {
			a.t.Errorf("the report does not say %q:\n%s", w, said(r))
		}
	}
	return said(r)
}

func (a *agent) click(ref string, words ...string) string {
	a.t.Helper()
	r, err := a.s.Click(context.Background(), browser.Click{Target: browser.Target{Ref: ref}})
	return a.says(r, err, words...)
}

func (a *agent) typeIn(ref, text string, words ...string) string {
	a.t.Helper()
	r, err := a.s.Type(context.Background(), browser.Typing{Target: browser.Target{Ref: ref}, Text: text})
	return a.says(r, err, words...)
}

func (a *agent) choose(ref string, values []string, words ...string) string {
	a.t.Helper()
	r, err := a.s.Select(context.Background(), browser.Target{Ref: ref}, values)
	return a.says(r, err, words...)
}

func (a *agent) press(keys, ref string, words ...string) string {
	a.t.Helper()
	r, err := a.s.Press(context.Background(), keys, ref)
	return a.says(r, err, words...)
}

func (a *agent) drag(from, to string, path []string, words ...string) string {
	a.t.Helper()
	r, err := a.s.Drag(context.Background(), from, to, path)
	return a.says(r, err, words...)
}

func (a *agent) hover(ref string, words ...string) string {
	a.t.Helper()
	r, err := a.s.Hover(context.Background(), browser.Target{Ref: ref})
	return a.says(r, err, words...)
}

func (a *agent) scroll(s browser.Scroll, words ...string) string {
	a.t.Helper()
	r, err := a.s.Scroll(context.Background(), s)
	return a.says(r, err, words...)
}

func (a *agent) fails(err error, code browser.Code, words string) {
	a.t.Helper()
	var p *browser.Problem
	if !errors.As(err, &p) || p.Code != code || !strings.Contains(p.Message, words) {
		a.t.Errorf("got %v, want %s with %q", err, code, words)
	}
}

// all returns the refs of every line that begins with the words.
func (a *agent) all(words string) []string {
	a.t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^[\s-]*`+regexp.QuoteMeta(words)+`.*?\[ref=(\w+)\]`).FindAllStringSubmatch(a.snap(), -1) {
		out = append(out, m[1])
	}
	return out
}

// stateHas waits until the JSON of window.state has the words.
func (a *agent) stateHas(words string) {
	a.t.Helper()
	var got string
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		v, err := a.s.Eval(context.Background(), "JSON.stringify(state)", "")
		if err != nil {
			a.t.Fatal(err)
		}
		if err := json.Unmarshal(v, &got); err != nil {
			a.t.Fatal(err)
		}
		if strings.Contains(got, words) {
			return
		}
	}
	a.t.Errorf("the state is %s, want %s in it", got, words)
}

// holds waits until the page's own read() gives the text, which animations may delay.
func (a *agent) holds(want string) {
	a.t.Helper()
	got := ""
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		v, err := a.s.Eval(context.Background(), "String(read())", "")
		if err != nil {
			a.t.Fatal(err)
		}
		if err := json.Unmarshal(v, &got); err != nil {
			a.t.Fatal(err)
		}
		if got == want {
			return
		}
	}
	a.t.Errorf("the page holds %.400q, want %.400q", got, want)
}
