package browse_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gofer/backend/browser/browsertest"
)

func TestConsoleTellsWhatWasLoggedBeforeAnybodyAsked(t *testing.T) {
	s := browsertest.Page(t, `<title>Logs</title><script>
console.log('ready', 3, true, null, {a: 1, b: 'x', get c() { document.title = 'read'; return 1 }}, [1, 'two']);
console.warn('careful\n\u202ethere'); for (let i = 0; i < 3; i++) console.info('again');
setTimeout(() => { undefined.boom }, 0);</script><img src="/none.png">`)
	b := box(s)
	deadline := time.Now().Add(5 * time.Second)
	var got string
	for !strings.Contains(got, "none.png") || !strings.Contains(got, "boom") {
		if got = run(t, b, "browser_console", `{}`).Text; time.Now().After(deadline) {
			t.Fatalf("got %s", got)
		}
	}
	for _, want := range []string{
		`log: ready 3 true null {a: 1, b: "x", c: } [1, "two"] (`, "warning: careful �there (", "info: again (", "(3 times)",
		"error: Uncaught TypeError: Cannot read properties of undefined (reading 'boom') (", "404",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if _, title, _ := s.Page(); title == "read" {
		t.Error("looking ran code of the page")
	}
	if got := run(t, b, "browser_console", `{"filter":"WARNING:"}`).Text; !strings.Contains(got, "careful") || strings.Contains(got, "ready") {
		t.Errorf("filtered: %s", got)
	}
	if got := run(t, b, "browser_console", `{"limit":1}`).Text; !strings.Contains(got, "older\n") || strings.Count(got, "\n") != 3 {
		t.Errorf("limited: %s", got)
	}
	page, _, _ := s.Page()
	run(t, b, "browser_open", `{"url":"`+page+`nowhere"}`)
	if got := run(t, b, "browser_console", `{"filter":"again"}`).Text; got != "The page logged nothing like that." {
		t.Errorf("on another page: %s", got)
	}
	run(t, b, "browser_snapshot", `{}`) // all else still works
}

func TestNetworkListsTheRequestsOfThePage(t *testing.T) {
	stop := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/old":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/api/slow":
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		case "/api/bad":
			w.WriteHeader(http.StatusInternalServerError)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<title>Net</title><script>fetch('/api/good',{method:'POST'});fetch('/api/bad');fetch('/api/slow');fetch('http://127.0.0.1:1/x').catch(()=>0)</script>`))
		default:
			_, _ = w.Write([]byte("ok"))
		}
	}))
	t.Cleanup(site.Close)
	t.Cleanup(func() { close(stop) })
	s := browsertest.Session(t)
	b := box(s)
	browsertest.Open(t, s, site.URL+"/api/before")
	browsertest.Open(t, s, site.URL+"/old")
	deadline := time.Now().Add(5 * time.Second)
	var got string
	for !strings.Contains(got, "POST 200 fetch /api/good ") || !strings.Contains(got, "failed") || !strings.Contains(got, " 500 ") {
		if got = run(t, b, "browser_network", `{}`).Text; time.Now().After(deadline) {
			t.Fatalf("got %s", got)
		}
	}
	for _, want := range []string{"GET 302 redirect document /old", "GET 200 document /page ", "GET 500 fetch /api/bad", "GET pending fetch /api/slow", "fetch http://127.0.0.1:1/x"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "before") {
		t.Errorf("requests of an earlier page: %s", got)
	}
	got = run(t, b, "browser_network", `{"failed":true,"filter":"api"}`).Text
	if !strings.Contains(got, "/api/bad") || strings.Contains(got, "good") || strings.Contains(got, ":1/x") {
		t.Errorf("failed ones: %s", got)
	}
	if got := run(t, b, "browser_network", `{"filter":"nothing"}`).Text; got != "No request like that." {
		t.Errorf("none: %s", got)
	}
}

func TestNetworkRemembersTheNewest(t *testing.T) {
	s := browsertest.Page(t, `<title>Many</title>`)
	b := box(s)
	run(t, b, "browser_eval", `{"expression":"async()=>{for(let i=0;i<260;i++)await fetch('/r'+i).then(r=>r.text())}"}`)
	got := run(t, b, "browser_network", `{"limit":200}`).Text
	if len(got) > 6400 || !strings.Contains(got, "older\n") || !strings.Contains(got, "/r259 ") || strings.Contains(got, "/r20 ") {
		t.Errorf("%d bytes: %.400s", len(got), got)
	}
}

func TestCloseClosesAllTabs(t *testing.T) {
	s := browsertest.Page(t, `<title>One</title>`)
	b := box(s)
	page, _, _ := s.Page()
	run(t, b, "browser_tabs", `{"action":"open","url":"`+page+`"}`)
	if got := run(t, b, "browser_close", `{}`); got.Failed || got.Text != "Closed all tabs (2)." {
		t.Errorf("close: %+v", got)
	}
	if got := run(t, b, "browser_close", `{}`).Text; got != "No tab was open." {
		t.Errorf("again: %s", got)
	}
	if got := run(t, b, "browser_snapshot", `{}`); !strings.HasPrefix(got.Text, "no_tab: ") {
		t.Errorf("afterwards: %+v", got)
	}
	if got := run(t, b, "browser_open", `{"url":"`+page+`"}`); got.Failed {
		t.Errorf("open anew: %+v", got)
	}
}
