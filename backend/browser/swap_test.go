package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

// A site may demand a process that it shares with no other; a new window, which
// is told where to go while it is set up, then starts over in the midst of it.
func TestAFirstPageThatTakesAProcessOfItsOwnIsShown(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		fmt.Fprint(w, `<title>Apart</title><button>Go</button>`)
	}))
	t.Cleanup(site.Close)
	b := browsertest.Own(t, browser.Options{})
	ctx := context.Background()
	for i := range 8 {
		s := b.Session(fmt.Sprint(i))
		r, err := s.Open(ctx, site.URL, false)
		if err != nil || slices.Contains(r.Changes, "the page is still loading") {
			t.Errorf("window %d: %+v %v", i, r, err)
		}
		if v, err := s.Snapshot(ctx, browser.Query{}); err != nil || v.Title != "Apart" {
			t.Errorf("window %d shows %q %v", i, v.Text, err)
		}
	}
}
