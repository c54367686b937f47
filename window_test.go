package main

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
)

func TestOnlyWebAndMailAddressesLeaveTheWindow(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x?y=1":     "https://a.example/x?y=1",
		" HTTP://a.example ":          "http://a.example",
		"mailto:a@b.example":          "mailto:a@b.example",
		"javascript:alert(1)":         "",
		"file:///etc/passwd":          "",
		"wails://wails/":              "",
		"https:///nohost":             "",
		"mailto:":                     "",
		"/settings":                   "",
		"--help":                      "",
		"https://a.example/\nx":       "",
		"data:text/html,<script>":     "",
		"vscode://file/etc/passwd":    "",
		"https://a.example/\x00evil":  "",
		"ms-settings:privacy":         "",
		"HTTPS://user@a.example:8443": "https://user@a.example:8443",
	} {
		got, err := externalAddress(address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", address, got, err, want)
		}
	}
}

func TestEventsTravelInOrderAndInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		events := make(chan event.Envelope)
		var got []int64
		var batches []int
		done := make(chan struct{})
		go func() {
			defer close(done)
			pump(ctx, events, func(batch []event.Envelope) {
				batches = append(batches, len(batch))
				for _, e := range batch {
					got = append(got, e.Seq)
				}
			})
		}()
		for i := range 200 {
			events <- event.Envelope{Seq: int64(i + 1)}
		}
		time.Sleep(batchWait)
		synctest.Wait()
		for i, seq := range got {
			if seq != int64(i+1) {
				t.Fatalf("got seq %d at place %d", seq, i)
			}
		}
		// The first leaves at once, the others by number or by time.
		if want := []int{1, 64, 64, 64, 7}; len(got) != 200 || len(batches) != len(want) || batches[0] != 1 || batches[1] != 64 {
			t.Errorf("got %d events in batches of %v, want %v", len(got), batches, want)
		}
		cancel()
		<-done
	})
}

func TestAStreamThatBrokeIsOpenedAgainAndThePageIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		opened := 0
		open := func(context.Context) (<-chan event.Envelope, error) {
			opened++
			c := make(chan event.Envelope, 1)
			switch opened {
			case 1: // ends after one event
				c <- event.Envelope{Seq: 1}
				close(c)
			case 2:
				return nil, errors.New("gone")
			}
			return c, nil
		}
		var got []int
		done := make(chan struct{})
		go func() {
			defer close(done)
			forward(ctx, open, func(batch []event.Envelope) { got = append(got, len(batch)) })
		}()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		cancel()
		<-done
		if len(got) != 2 || got[0] != 1 || got[1] != 0 || opened != 3 {
			t.Errorf("got batches %v in %d openings, want [1 0] in 3", got, opened)
		}
	})
}

func TestBlobsAreShownOnlyAsPictures(t *testing.T) {
	stored := map[string]engine.Bytes{
		"abc":  {Media: "image/png", Data: []byte("png")},
		"page": {Media: "text/html", Data: []byte("<script>")},
		"svg":  {Media: "image/svg+xml", Data: []byte("<svg>")},
	}
	handler := guarded(blobs(func(_ context.Context, key string) (engine.Bytes, error) {
		b, ok := stored[key]
		if !ok {
			return b, fault.New(fault.NotFound, "This picture is gone.", "")
		}
		return b, nil
	}))
	for _, c := range []struct {
		method, path string
		status       int
		media        string
	}{
		{"GET", "/blob/abc", 200, "image/png"},
		{"GET", "/blob/page", 200, "application/octet-stream"},
		{"GET", "/blob/svg", 200, "application/octet-stream"},
		{"GET", "/blob/none", 404, ""},
		{"GET", "/blob/../abc", 404, ""},
		{"GET", "/blob/a/b", 404, ""},
		{"GET", "/blob/", 404, ""},
		{"GET", "/other", 404, ""},
		{"POST", "/blob/abc", 404, ""},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://wails/", nil)
		r.URL.Path = c.path
		handler.ServeHTTP(w, r)
		if w.Code != c.status || (c.media != "" && w.Header().Get("Content-Type") != c.media) {
			t.Errorf("%s %s: got %d %q, want %d %q", c.method, c.path, w.Code, w.Header().Get("Content-Type"), c.status, c.media)
		}
		if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") {
			t.Errorf("%s: got policy %q", c.path, got)
		}
	}
}

func TestThePageIsKeptToItself(t *testing.T) {
	o := windowOptions(&App{}, readPlace(""), fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}})
	w := httptest.NewRecorder()
	o.AssetServer.Middleware(http.FileServerFS(o.AssetServer.Assets)).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	allowed := map[string][]string{}
	for directive := range strings.SplitSeq(w.Header().Get("Content-Security-Policy"), ";") {
		words := strings.Fields(directive)
		allowed[words[0]] = words[1:]
	}
	want := map[string][]string{
		"default-src": {"'none'"}, "script-src": {"'self'"}, "style-src": {"'self'"}, "img-src": {"'self'"}, "connect-src": {"'self'"},
		"base-uri": {"'none'"}, "form-action": {"'none'"}, "frame-ancestors": {"'none'"},
	}
	// Frames, objects, media and workers have no words of their own, so they
	// are under the first one.
	if w.Code != http.StatusOK || !maps.EqualFunc(allowed, want, slices.Equal) {
		t.Errorf("%d: got the policy %v, want %v", w.Code, allowed, want)
	}
	if got := w.Header().Get("X-Content-Type-Options") + " " + w.Header().Get("Referrer-Policy"); got != "nosniff no-referrer" {
		t.Errorf("got %q", got)
	}
	// The bindings answer the page's own origin only while no other is named.
	if o.BindingsAllowedOrigins != "" {
		t.Errorf("bindings answer %q", o.BindingsAllowedOrigins)
	}
	if !o.DragAndDrop.DisableWebViewDrop || o.DragAndDrop.EnableFileDrop || o.EnableDefaultContextMenu || o.Debug.OpenInspectorOnStartup {
		t.Errorf("the page can be dropped on, or has a menu or an inspector: %+v", o)
	}
}

func TestTheBuiltPageCarriesThePolicyItself(t *testing.T) {
	source, err := os.ReadFile("frontend/vite.config.ts")
	if err != nil {
		t.Fatal(err)
	}
	// A meta element cannot say who may frame the page; the header does.
	said := strings.TrimSuffix(policy, "; frame-ancestors 'none'")
	if joined := strings.ReplaceAll(string(source), "\" +\n  \"", ""); !strings.Contains(joined, said) {
		t.Errorf("the built page does not carry %q", said)
	}
}

func TestAPlaceThatMakesNoSenseIsForgotten(t *testing.T) {
	if p := readPlace(filepath.Join(t.TempDir(), "none")); p.Width != width || p.Height != height || p.Known {
		t.Errorf("got %+v, want the default place", p)
	}
	p := &place{X: 100, Y: 100}
	for _, c := range []struct {
		x, y int
		want bool
	}{{0, 0, true}, {900, 400, true}, {-10, 0, false}, {3000, 0, false}, {0, 900, false}} {
		p.X, p.Y = c.x, c.y
		if got := p.fits(1280, 800); got != c.want {
			t.Errorf("at %d,%d: got %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

func TestWithoutADisplayThereIsASentence(t *testing.T) {
	err := displayed("linux", func(string) string { return "" })
	if err == nil || !strings.Contains(err.Error(), "DISPLAY") {
		t.Errorf("got %v, want a sentence that names DISPLAY", err)
	}
	named := func(display string) func(string) string {
		return func(name string) string { return map[string]string{"DISPLAY": display}[name] }
	}
	if err := displayed("linux", named(":47110.0")); err == nil || !strings.Contains(err.Error(), ":47110.0 does not answer") {
		t.Errorf("got %v, want a sentence that names the display", err)
	}
	if err := displayed("linux", named("elsewhere:10.0")); err != nil {
		t.Errorf("got %v, want nothing", err)
	}
}
