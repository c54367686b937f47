//go:build uitest

package uitest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

//go:embed shim.js
var shim []byte

// Options say what the page talks to.
type Options struct {
	App         any                             // its exported methods are what the page may call
	Page        fs.FS                           // the built page; nil takes frontend/dist
	Assets      http.Handler                    // answers what the page has no file for, such as /blob/<key>
	FormatError func(error) any                 // as in the Wails options; nil takes the text
	On          func(Emitted)                   // events the page emits, and addresses it opens (uitest:open)
	Wrap        func(http.Handler) http.Handler // as the Wails asset middleware
}

// Emitted is an event on its way from the page to Go.
type Emitted struct {
	Name string            `json:"name"`
	Data []json.RawMessage `json:"data"`
}

// Server serves the page to browsers on this machine.
type Server struct {
	URL string // with the token; open this

	options Options
	token   string
	host    string
	mu      sync.Mutex
	streams map[*stream]struct{}
}

// Serve starts a server that ends with the test.
func Serve(t testing.TB, options Options) *Server {
	t.Helper()
	if options.Page == nil {
		options.Page = builtPage(t)
	}
	if options.FormatError == nil {
		options.FormatError = func(err error) any { return err.Error() }
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen on loopback: %v", err)
	}
	s := &Server{options: options, token: rand.Text(), host: listener.Addr().String(), streams: map[*stream]struct{}{}}
	s.URL = "http://" + s.host + "/?token=" + s.token
	ctx, end := context.WithCancel(context.Background())
	server := &http.Server{Handler: s.handler(), BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	t.Cleanup(func() {
		end()
		_ = server.Close() // the test is over; nobody waits for an answer
		<-done
	})
	return s
}

// builtPage is frontend/dist of this project.
func builtPage(t testing.TB) fs.FS {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
	dist := filepath.Join(dir, "frontend", "dist")
	if _, err := os.Stat(filepath.Join(dist, "index.html")); err != nil {
		t.Fatalf("the page is not built (%v); run make build", err)
	}
	return os.DirFS(dist)
}

// Emit sends an event to every open page, in order, as runtime.EventsEmit does.
func (s *Server) Emit(name string, data ...any) {
	if data == nil {
		data = []any{}
	}
	raw, err := json.Marshal(struct {
		Name string `json:"name"`
		Data []any  `json:"data"`
	}{name, data})
	if err != nil {
		panic(fmt.Sprintf("event %s cannot be written as JSON: %v", name, err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams {
		st.push(raw)
	}
}

func (s *Server) handler() http.Handler {
	files := http.FileServerFS(s.options.Page)
	var page http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" || name == "index.html" {
			s.index(w)
			return
		}
		if _, err := fs.Stat(s.options.Page, name); err != nil && s.options.Assets != nil {
			s.options.Assets.ServeHTTP(w, r)
			return
		}
		files.ServeHTTP(w, r)
	})
	if s.options.Wrap != nil {
		page = s.options.Wrap(page)
	}
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.HandleFunc("GET /uitest/shim.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(shim)
	})
	mux.HandleFunc("GET /uitest/events", s.events)
	mux.HandleFunc("POST /uitest/emit", s.emitted)
	mux.HandleFunc("POST /rpc/{method}", s.call)
	return s.guarded(mux)
}

// guarded lets in only who has the token: in the address once, in a cookie after.
func (s *Server) guarded(next http.Handler) http.Handler {
	const cookie = "uitest"
	same := func(got string) bool { return subtle.ConstantTimeCompare([]byte(got), []byte(s.token)) == 1 }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if given := r.URL.Query().Get("token"); same(given) && r.Host == s.host {
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			next.ServeHTTP(w, r)
			return
		}
		if c, err := r.Cookie(cookie); err != nil || !same(c.Value) || r.Host != s.host {
			http.Error(w, "This page belongs to a test.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// index is the page's own, with the stand-in loaded before everything else.
func (s *Server) index(w http.ResponseWriter) {
	raw, err := fs.ReadFile(s.options.Page, "index.html")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	head := []byte("<head>")
	if !bytes.Contains(raw, head) {
		http.Error(w, "index.html has no <head>", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(bytes.Replace(raw, head, []byte(`<head><script src="/uitest/shim.js"></script>`), 1))
}
