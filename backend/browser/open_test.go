package browser_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

// odd serves answers that are no plain pages.
func odd(t *testing.T) *httptest.Server {
	t.Helper()
	stop := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		case "/moved":
			http.Redirect(w, r, "/ok", http.StatusFound)
		case "/file":
			w.Header().Set("Content-Disposition", `attachment; filename="re/port.csv"`)
			fmt.Fprint(w, "a,b\n1,2\n")
		case "/alert":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>Alert</title><script>alert('Hello')</script>after")
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>Fine</title>fine <a href=/file>Get it</a>")
		}
	}))
	t.Cleanup(func() { close(stop); site.Close() })
	return site
}

func TestStopEndsAPageLoadAtOnce(t *testing.T) {
	site := odd(t)
	s := browsertest.Session(t)
	browsertest.Open(t, s, site.URL+"/ok")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Open(ctx, site.URL+"/hang", false)
	if took := time.Since(began); took > time.Second || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended after %v with %v", took, err)
	}
	browsertest.Open(t, s, site.URL+"/ok")
}

func TestRedirectsDialogsAndDownloadsAreTold(t *testing.T) {
	site := odd(t)
	s := browsertest.Session(t)
	ctx := context.Background()
	open := func(path string) browser.Report {
		t.Helper()
		r, err := s.Open(ctx, site.URL+path, false)
		if err != nil {
			t.Fatalf("open %s: %v", path, err)
		}
		return r
	}
	says(t, open("/moved"), "redirected from "+site.URL+"/moved")
	says(t, open("/file"), "which is a download")
	list, err := s.Downloads(ctx, true)
	if err != nil || len(list) == 0 {
		t.Fatalf("downloads %v %v", list, err)
	}
	d := list[len(list)-1]
	if raw, err := os.ReadFile(d.Path); err != nil || string(raw) != "a,b\n1,2\n" || strings.ContainsAny(d.Name, `/\`) {
		t.Errorf("download %+v: %q %v", d, raw, err)
	}
	says(t, open("/ok"), "Fine")
	r, err := s.Click(ctx, browser.Click{Target: browser.Target{Text: "Get it"}})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, "download ")
	says(t, open("/alert"), `alert "Hello"`)
	if _, err := s.Dialog(ctx, true, ""); err != nil {
		t.Fatal(err)
	}
	if got := snap(t, s, browser.Query{}); !strings.Contains(got, "after") {
		t.Errorf("the page did not go on:\n%s", got)
	}
}

func TestSessionsKeepTheirTabsApart(t *testing.T) {
	site := browsertest.Site(t, map[string]string{"/a": "<title>A</title>alpha", "/b": "<title>B</title>beta"})
	a, b := browsertest.Session(t), browsertest.Session(t)
	done := make(chan error, 2)
	for s, path := range map[*browser.Session]string{a: "/a", b: "/b"} {
		go func() { _, err := s.Open(context.Background(), site.URL+path, false); done <- err }()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for s, want := range map[*browser.Session]string{a: "alpha", b: "beta"} {
		if got := snap(t, s, browser.Query{}); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
		if tabs := s.Tabs(context.Background()); len(tabs) != 1 {
			t.Errorf("tabs %+v", tabs)
		}
	}
}

func TestWaitReturnsWhatItWaitedFor(t *testing.T) {
	s := browsertest.Page(t, `<p id=p>Loading</p><script>setTimeout(()=>{p.textContent='All here'},200)</script>`)
	ctx := context.Background()
	r, err := s.Wait(ctx, browser.Await{Text: "all here"})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, "all here")
	if _, err := s.Wait(ctx, browser.Await{Gone: "Loading"}); err != nil {
		t.Errorf("gone: %v", err)
	}
	_, err = s.Wait(ctx, browser.Await{Text: "never", Limit: 200 * time.Millisecond})
	fails(t, err, browser.Timeout, `"never"`)
}

func TestHandMadeListsAreChosenFrom(t *testing.T) {
	s := browsertest.Page(t, `<div role=combobox tabindex=0 aria-expanded=false aria-controls=l aria-label=Fruit onclick="l.hidden=false">None</div>
<ul id=l role=listbox hidden><li role=option>Apple<li role=option>Pear</ul><script>l.onclick=e=>{document.querySelector('[role=combobox]').textContent=e.target.textContent;l.hidden=true}</script>`)
	snap(t, s, browser.Query{})
	r, err := s.Select(context.Background(), browser.Target{Ref: "e1"}, []string{"Pear"})
	if err != nil {
		t.Fatal(err)
	}
	says(t, r, `value now "Pear"`)
	_, err = s.Select(context.Background(), browser.Target{Ref: "e1"}, []string{"Plum"})
	fails(t, err, browser.NotFound, `"Apple", "Pear"`)
}

func TestEvalWaitsForPromises(t *testing.T) {
	s := browsertest.Page(t, `<title>x</title>`)
	for script, want := range map[string]string{
		"Promise.resolve(5)": "5", "(async()=>({a:await 1}))()": `{"a":1}`, "async () => 'x'": `"x"`, "await Promise.resolve([1])": "[1]", "({a:1})": `{"a":1}`,
		"const k = 1; k + 1": "2", "null": "null", "undefined": "null", "NaN": `"NaN"`, "document.title": `"x"`,
	} {
		got, err := s.Eval(context.Background(), script, "")
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", script, got, err, want)
		}
	}
	if _, err := s.Eval(context.Background(), "Promise.reject(new Error('no'))", ""); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("a rejected promise: %v", err)
	}
}

func TestTheWorkersOfAPageRun(t *testing.T) {
	s := browsertest.Page(t, `<title>T</title>`)
	got, err := s.Eval(context.Background(), `new Promise(r=>{
		const inner="postMessage('inner')", outer="const w=new Worker(URL.createObjectURL(new Blob([atob('"+btoa(inner)+"')])));w.onmessage=e=>postMessage('outer '+e.data)"
		const w=new Worker(URL.createObjectURL(new Blob([outer])));w.onmessage=e=>r(e.data);setTimeout(()=>r('nothing'),5000)})`, "")
	if err != nil || string(got) != `"outer inner"` {
		t.Errorf("got %s, %v", got, err)
	}
	if v, err := s.Network(context.Background(), "blob:", false, 0); err != nil || !strings.Contains(v.Text, "GET done script") || strings.Contains(v.Text, "pending") {
		t.Errorf("the script of the worker is told as %q, %v", v.Text, err)
	}
}
