// Package browsertest lends pages of one shared browser to tests. The browser
// starts with the first page and ends with the test program. It has no window
// unless GOFER_TEST_HEADFUL is set, so that the same tests can be run on both.
package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/egress"
)

var (
	once   sync.Once
	shared *browser.Browser
	ids    atomic.Int64
)

// Browser returns the shared browser. Its profile is a new folder below the
// system's temporary one; the browser ends with the test program, which holds
// the pipe to it.
func Browser(t testing.TB) *browser.Browser {
	t.Helper()
	once.Do(func() {
		dir, err := os.MkdirTemp("", "gofer-browsertest-")
		if err != nil {
			t.Fatalf("make profile: %v", err)
		}
		shared = browser.New(browser.Options{Profile: filepath.Join(dir, "profile"), Downloads: filepath.Join(dir, "downloads"), Headless: Headless(), Proxy: Proxied(), Why: why})
	})
	return shared
}

// Headless is false when the tests are to run on a browser with a window.
func Headless() bool { return os.Getenv("GOFER_TEST_HEADFUL") == "" }

// Proxied is the address of a proxy that lets everything through, when the
// tests are to run on browsers behind one: with GOFER_TEST_PROXY set.
func Proxied() string {
	if p := proxy(); p != nil {
		return p.Addr()
	}
	return ""
}

var proxy = sync.OnceValue(func() *egress.Proxy {
	if os.Getenv("GOFER_TEST_PROXY") == "" {
		return nil
	}
	p, err := egress.Start(egress.Options{Judge: func(egress.Way) egress.Verdict { return egress.Verdict{} }})
	if err != nil {
		panic(err)
	}
	return p
})

func why(hostport string) (string, error) {
	if p := proxy(); p != nil {
		return "", p.Why(hostport)
	}
	return "", nil
}

// Own returns a browser of the test's own, for tests that kill it or give it
// options. It starts on first need and ends with the test. An empty profile
// takes a new folder.
func Own(t testing.TB, o browser.Options) *browser.Browser {
	t.Helper()
	if o.Profile == "" {
		o.Profile = t.TempDir()
	}
	o.Headless = Headless()
	if o.Proxy == "" && o.Attach == "" {
		o.Proxy, o.Why = Proxied(), why
	}
	b := browser.New(o)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// Run runs the tests of a package and then ends the shared browser and removes
// its folder. Call it from TestMain.
func Run(m *testing.M) int {
	code := m.Run()
	if shared != nil {
		dir := filepath.Dir(shared.Profile())
		_ = shared.Close()
		_ = os.RemoveAll(dir)
	}
	return code
}

// Session lends an empty session; it is closed with the test.
func Session(t testing.TB) *browser.Session {
	t.Helper()
	s := Browser(t).Session(fmt.Sprintf("test-%d", ids.Add(1)))
	t.Cleanup(s.Close)
	return s
}

// Page lends a session that shows the HTML, served from 127.0.0.1.
func Page(t testing.TB, html string) *browser.Session {
	t.Helper()
	site := Site(t, map[string]string{"/": html})
	s := Session(t)
	Open(t, s, site.URL+"/")
	return s
}

// Open goes to an address and fails the test if that does not work.
func Open(t testing.TB, s *browser.Session, url string) {
	t.Helper()
	if _, err := s.Open(context.Background(), url, false); err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
}

// Site serves pages by path from 127.0.0.1; others are not found.
func Site(t testing.TB, pages map[string]string) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		html, ok := pages[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
	t.Cleanup(site.Close)
	return site
}
