package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gofer/backend/engine"
	"gofer/backend/host"
)

const (
	headLimit     = 5 * time.Second  // for the head of a request
	bodyLimit     = 5 * time.Second  // from its first byte to its last
	writeLimit    = 30 * time.Second // for each piece of an answer
	keepLimit     = time.Minute      // for a connection nobody uses
	idleLimit     = 15 * time.Minute // for a session nobody uses
	maxHead       = 16 << 10
	maxRequests   = 96 // served at once, event streams among them
	maxSessions   = 64 // of all clients
	maxOfOne      = 16 // sessions of one client
	sessionHeader = "Mcp-Session-Id"
	carrierHeader = "Gofer-Carrier" // set here only: which request brought a call
)

// HTTPOptions say whom to serve over HTTP and how.
type HTTPOptions struct {
	Version string
	Clients Clients
	// Caller says where all work. Its mode is the most that any client gets;
	// its grants are given to each.
	Caller engine.CallerSpec
	Alone  bool          // no window is open, so nobody can be asked
	Only   []string      // families of tools to offer; empty means all
	Idle   time.Duration // after which a session nobody uses is ended; 0 is 15 minutes
}

// ServeHTTP answers clients that have a token, each session a caller of its
// own, until ctx ends. A session ends with its DELETE, when nobody has used it
// for a while, when its client's token or leave is changed, and with the server. A
// call ends with the request that brought it, since its answer can go nowhere
// else.
func ServeHTTP(ctx context.Context, service host.Service, ln net.Listener, o HTTPOptions) error {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if o.Alone {
		if err := refuseApprovals(calls, service); err != nil {
			return errors.Join(err, ln.Close())
		}
	}
	if o.Idle == 0 {
		o.Idle = idleLimit
	}
	h := &httpServer{
		service: service, o: o, hosts: hostsOf(ln.Addr()), calls: calls,
		cross: http.NewCrossOriginProtection(), slots: make(chan struct{}, maxRequests),
		sessions: map[string]*session{}, carriers: map[string]context.Context{},
	}
	h.mcp = mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes: maxBody, Logger: slog.New(slog.DiscardHandler),
	})
	web := &http.Server{
		Handler: h, ReadHeaderTimeout: headLimit, IdleTimeout: keepLimit, MaxHeaderBytes: maxHead,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(ln) }()
	tick := time.NewTicker(min(o.Idle/4, 5*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			h.sweep()
		case err := <-served:
			h.endAll()
			return err
		case <-ctx.Done():
			h.endAll()
			closing, done := context.WithTimeout(calls, endLimit)
			defer done()
			_ = web.Shutdown(closing) // lets the last answers out
			_ = web.Close()
			if err := <-served; !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		}
	}
}

// httpServer is the way of a request to its session.
type httpServer struct {
	service host.Service
	o       HTTPOptions
	hosts   []string // what a request may call this server
	cross   *http.CrossOriginProtection
	mcp     http.Handler
	calls   context.Context // parent of every session
	slots   chan struct{}   // one for each request at work

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	carriers map[string]context.Context // of the requests at work
	ending   sync.WaitGroup
}

// session is one client's connection.
type session struct {
	*server
	id     string
	client Client
	cancel context.CancelFunc

	// Guarded by httpServer.mu.
	busy  int       // requests at work
	posts int       // those of them that are more than an open event stream
	used  time.Time // when a message last came or was answered
}

// ServeHTTP implements http.Handler. The head of a request is judged first, its
// token next, and only then is its body read.
func (h *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyLimit)) // also for what is left of a refused request
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if no := h.judgeHead(r); no != nil {
		no.write(w)
		return
	}
	client, known := h.o.Clients.find(bearer(r))
	if !known {
		refuse(http.StatusUnauthorized, "A token is missing or wrong. Send it as the header Authorization: Bearer TOKEN; gofer mcp token says where it is.").
			with("WWW-Authenticate", "Bearer").write(w)
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		refuse(http.StatusServiceUnavailable, "Too many requests are at work.").with("Retry-After", "1").write(w)
		return
	}
	raw, no := readBody(w, r)
	if no != nil {
		no.write(w)
		return
	}
	_ = control.SetReadDeadline(time.Time{}) // an event stream stays open
	s, no := h.enter(r, client, raw)
	if no != nil {
		no.write(w)
		return
	}
	defer h.leave(s, r)
	if r.Method == http.MethodDelete {
		h.end(s)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	defer func() { _ = control.SetWriteDeadline(time.Now().Add(writeLimit)) }()
	h.serve(s, steady{w, control}, r)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, refuse(http.StatusRequestEntityTooLarge, "The message is over 4 MiB.")
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "The message did not come whole.")
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	return raw, judgeBody(raw)
}

// enter finds the session of a request, or begins one.
func (h *httpServer) enter(r *http.Request, client Client, raw []byte) (*session, *refusal) {
	id := r.Header.Get(sessionHeader)
	if id == "" && !begins(raw) {
		return nil, refuse(http.StatusBadRequest, "The header %s is missing. Begin with initialize.", sessionHeader)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	switch {
	case h.closed:
		return nil, refuse(http.StatusServiceUnavailable, "The server is ending.")
	case id == "":
		if s = h.begin(client); s == nil {
			return nil, refuse(http.StatusServiceUnavailable, "Too many sessions are open. End one, or try again later.").with("Retry-After", "60")
		}
	case s == nil || !s.client.same(client):
		return nil, refuse(http.StatusNotFound, "There is no such session. Begin a new one with initialize.")
	}
	s.busy++
	s.note(r, 1)
	return s, nil
}

// note counts a request that carries a message in or out.
func (s *session) note(r *http.Request, n int) {
	if r.Method == http.MethodPost {
		s.posts += n
		s.used = time.Now()
	}
}

// begins reports whether a message may come before there is a session.
func begins(raw []byte) bool {
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(raw, &m) == nil && (m.Method == "initialize" || m.Method == "server/discover")
}

// begin makes a session, or nil when there are too many. Many clients leave
// without a word, so the session of this client that was unused for longest
// makes room, even when its event stream is open.
func (h *httpServer) begin(client Client) *session {
	own, oldest := 0, (*session)(nil)
	for _, s := range h.sessions {
		if s.client.Name != client.Name {
			continue
		}
		own++
		if s.posts == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if own >= maxOfOne || len(h.sessions) >= maxSessions {
		if oldest == nil {
			return nil
		}
		delete(h.sessions, oldest.id)
		h.ending.Go(func() { h.end(oldest) })
	}
	spec := h.o.Caller
	spec.Name, spec.Mode = client.Name, lower(client.Mode, spec.Mode)
	spec.Allow = append(append([]string{}, spec.Allow...), client.Allow...)
	s := &session{id: rand.Text(), client: client}
	calls, cancel := context.WithCancel(h.calls)
	s.cancel = cancel
	s.server = newServer(calls, h.service, Options{Version: h.o.Version, Caller: spec, Only: h.o.Only}, func() string { return s.id })
	s.carrier = h.carrierOf
	h.sessions[s.id] = s
	return s
}

type serverKey struct{}

func serverOf(r *http.Request) *mcp.Server {
	s, _ := r.Context().Value(serverKey{}).(*mcp.Server)
	return s
}

// serve hands a request to its session, and makes it known as the carrier of
// the calls in it.
func (h *httpServer) serve(s *session, w http.ResponseWriter, r *http.Request) {
	mark := rand.Text()
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), serverKey{}, s.mcp))
	defer cancel()
	r = r.Clone(ctx)
	r.Header.Set(carrierHeader, mark)
	h.mu.Lock()
	h.carriers[mark] = ctx
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.carriers, mark)
		h.mu.Unlock()
	}()
	h.mcp.ServeHTTP(w, r)
}

// carrierOf returns the request that brought a call. One that has gone is an
// ended one.
func (h *httpServer) carrierOf(req *mcp.CallToolRequest) context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if req.Extra != nil {
		if ctx, ok := h.carriers[req.Extra.Header.Get(carrierHeader)]; ok {
			return ctx
		}
	}
	gone, cancel := context.WithCancel(h.calls)
	cancel()
	return gone
}

// leave notes the end of a request. A session that did not come to be is
// forgotten.
func (h *httpServer) leave(s *session, r *http.Request) {
	h.mu.Lock()
	s.busy--
	s.note(r, -1)
	h.mu.Unlock()
	for open := range s.mcp.Sessions() {
		if open.InitializeParams() != nil {
			return
		}
	}
	h.end(s)
}

// end ends a session, its calls and their tools, and gives its tabs back. It
// returns when all of that is done, also when another has begun it.
func (h *httpServer) end(s *session) {
	h.mu.Lock()
	delete(h.sessions, s.id)
	h.mu.Unlock()
	s.cancel()
	for open := range s.mcp.Sessions() {
		_ = open.Close() // waits for the calls; the client may have gone
	}
	s.close()
}

// sweep ends the sessions that nobody uses, and those whose client has
// another token or other leave by now, or none.
func (h *httpServer) sweep() {
	for _, s := range h.list() {
		client, known := h.o.Clients.Client(s.client.Name)
		h.mu.Lock()
		idle := s.busy == 0 && time.Since(s.used) > h.o.Idle
		h.mu.Unlock()
		if idle || !known || !s.client.same(client) {
			h.ending.Go(func() { h.end(s) })
		}
	}
}

func (h *httpServer) list() []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*session, 0, len(h.sessions))
	for _, s := range h.sessions {
		list = append(list, s)
	}
	return list
}

func (h *httpServer) endAll() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	for _, s := range h.list() {
		h.ending.Go(func() { h.end(s) })
	}
	h.ending.Wait()
}

// steady gives each piece of an answer a time to be taken, so that a client
// that does not read holds nothing up for long.
type steady struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (s steady) Write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	return s.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach what is within.
func (s steady) Unwrap() http.ResponseWriter { return s.ResponseWriter }
