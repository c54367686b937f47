package browser_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

// quiet is for servers whose clients break off.
var quiet = log.New(io.Discard, "", 0)

// oddSite serves what is no plain page.
func oddSite() http.Handler {
	pages := map[string]string{
		"/in":     `<title>Link</title><a href=/auth>In</a><a href="http://127.0.0.1:9/x">Dead</a>`,
		"/print":  `<title>Print</title>paper<button onclick="print();document.title='went on'">Print</button><script>print()</script>`,
		"/shut":   `<title>Shut</title><button onclick="window.close()">Shut</button>`,
		"/pop":    `<title>Pop</title><script>window.open('/shut')</script><button onclick="window.open('/shut')">Open</button><a href=/shut target=_blank rel=noopener>Aside</a>`,
		"/leave":  `<title>Leave</title><button>Press</button><script>addEventListener('beforeunload',e=>e.preventDefault())</script>`,
		"/may":    `<title>May</title><button onclick="navigator.geolocation.getCurrentPosition(()=>0,()=>0);Notification.requestPermission();navigator.mediaDevices?.getUserMedia({audio:true}).catch(()=>0)">Ask</button>`,
		"/inside": `<title>Inside</title>main<img src=/auth><iframe src=/auth></iframe>`,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch path := r.URL.Path; path {
		case "/auth":
			if name, word, _ := r.BasicAuth(); name == "ann" && word == "hush" {
				fmt.Fprint(w, "<title>Staff</title>welcome")
				return
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="Staff"`)
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, "who are you")
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/404":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<title>Lost</title>not here")
		case "/500":
			w.WriteHeader(http.StatusInternalServerError)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/pdf":
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = io.WriteString(w, "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF")
		case "/file":
			w.Header().Set("Content-Disposition", `attachment; filename="a.csv"`)
			fmt.Fprint(w, "a,b\n")
		default:
			if pages[path] == "" {
				w.WriteHeader(http.StatusNotFound)
			}
			fmt.Fprint(w, pages[path])
		}
	})
}

func TestOddAnswersAreToldAsTheyAre(t *testing.T) {
	site, private := httptest.NewServer(oddSite()), httptest.NewUnstartedServer(oddSite())
	private.Config.ErrorLog = quiet
	private.StartTLS()
	t.Cleanup(site.Close)
	t.Cleanup(private.Close)
	known := strings.Replace(site.URL, "://", "://ann:hush@", 1)
	wrong := strings.Replace(site.URL, "://", "://ann:no@", 1)
	for _, c := range []struct{ url, want string }{
		{site.URL + "/auth", "HTTP 401\nthe site asks for a user name and a password"},
		{wrong + "/auth", "HTTP 401\nthe site asks"},
		{known + "/auth", "Opened " + site.URL + "/auth HTTP 200\ntitle \"Staff\""},
		{site.URL + "/inside", "Opened " + site.URL + "/inside HTTP 200"},
		{site.URL + "/204", "HTTP 204\nthe answer has nothing to show; the page before stays"},
		{site.URL + "/404", "HTTP 404\ntitle \"Lost\""},
		{site.URL + "/500", "HTTP 500\nthe answer has no content"},
		{site.URL + "/circle", "unreachable: " + site.URL + "/circle could not be opened: it redirects in a circle"},
		{site.URL + "/pdf", "it is a PDF"},
		{site.URL + "/file", "which is a download\ndownload a.csv"},
		{site.URL + "/print", `title "Print"`},
		{private.URL, "unreachable: " + private.URL + " could not be opened: the certificate of " + strings.TrimPrefix(private.URL, "https://") + " is not from an authority"},
		{strings.Replace(site.URL, "http", "https", 1), "does not speak https"},
		{"http://nowhere.invalid/", "there is no host of the name nowhere.invalid"},
		{"http://127.0.0.1:1/", "browsers do not connect to that port"},
		{"file:///nowhere/at/all", "there is no such file"},
	} {
		s := browsertest.Session(t) // of its own, since a name once given holds for the site
		r, err := s.Open(context.Background(), c.url, false)
		got := r.Did + "\n" + strings.Join(r.Changes, "\n")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || strings.Contains(got, "hush") {
			t.Errorf("%s: got %q, want %q", c.url, got, c.want)
		}
		if _, err := s.Snapshot(context.Background(), browser.Query{}); err != nil {
			t.Errorf("a snapshot after %s: %v", c.url, err)
		}
		s.Close()
	}
}

func TestAClickTellsWhereItLedWhenThatIsNoPage(t *testing.T) {
	site := httptest.NewServer(oddSite())
	t.Cleanup(site.Close)
	press := func(s *browser.Session, text string) browser.Report {
		t.Helper()
		r, err := s.Click(context.Background(), browser.Click{Target: browser.Target{Text: text}})
		if err != nil {
			t.Fatalf("click %s: %v", text, err)
		}
		return r
	}
	for _, c := range []struct{ page, text, want string }{
		{"/in", "Dead", "browsers do not connect to that port"},
		{"/print", "Print", "the page asked for the print dialog, which is not shown"},
		{"/shut", "Shut", "no visible change"}, // a page may not close what it did not open
		{"/pop", "Open", "new tab t2 \"Shut\""},
		{"/pop", "Aside", "new tab t2 \"Shut\""},
		{"/may", "Ask", `Clicked button "Ask"`},
	} {
		s := browsertest.Session(t)
		browsertest.Open(t, s, site.URL+"/in") // a page with none before it may close itself
		browsertest.Open(t, s, site.URL+c.page)
		says(t, press(s, c.text), c.want)
		if c.text == "Open" {
			says(t, press(s, "Shut"), "tab t2 was closed")
			if got := snap(t, s, browser.Query{}); !strings.Contains(got, "Aside") {
				t.Errorf("the opener is not current again:\n%s", got)
			}
		}
		snap(t, s, browser.Query{})
		s.Close()
	}
}

func TestAPageThatAsksBeforeItIsLeftIsAsked(t *testing.T) {
	site := httptest.NewServer(oddSite())
	t.Cleanup(site.Close)
	ctx := context.Background()
	open := func(s *browser.Session) {
		t.Helper()
		browsertest.Open(t, s, site.URL+"/404")
		browsertest.Open(t, s, site.URL+"/leave")
		if _, err := s.Click(ctx, browser.Click{Target: browser.Target{Text: "Press"}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, leave := range map[string]func(*browser.Session) (browser.Report, error){
		"open":   func(s *browser.Session) (browser.Report, error) { return s.Open(ctx, site.URL+"/in", false) },
		"reload": func(s *browser.Session) (browser.Report, error) { return s.History(ctx, "reload") },
		"back":   func(s *browser.Session) (browser.Report, error) { return s.History(ctx, "back") },
	} {
		s := browsertest.Session(t)
		open(s)
		r, err := leave(s)
		if got := fmt.Sprint(r.Changes, err); !strings.Contains(got, "leave-page question") {
			t.Errorf("%s: got %s", name, got)
		}
		if _, err := s.Dialog(ctx, false, ""); err != nil {
			t.Errorf("%s: stay: %v", name, err)
		}
		if got := snap(t, s, browser.Query{}); !strings.Contains(got, `page "Leave"`) {
			t.Errorf("%s: the page was left all the same:\n%s", name, got)
		}
		if _, err := leave(s); err != nil && !strings.Contains(err.Error(), "leave-page question") {
			t.Errorf("%s again: %v", name, err)
		}
		if r, err := s.Dialog(ctx, true, ""); err != nil || !strings.Contains(strings.Join(r.Changes, " "), "page changed") {
			t.Errorf("%s: go: %+v %v", name, r, err)
		}
		if got := snap(t, s, browser.Query{}); strings.Contains(got, `page "Leave"`) != (name == "reload") {
			t.Errorf("%s: the wrong page is shown:\n%s", name, got)
		}
		s.Close()
	}
	s := browsertest.Session(t)
	open(s)
	if closed, _, err := s.CloseTab(ctx, ""); err != nil || closed != "t1" {
		t.Errorf("close: %s %v", closed, err)
	}
}
