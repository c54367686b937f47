package egress

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync"
	"time"
)

var quiet = log.New(io.Discard, "", 0) // a browser breaks connections off all the time

// ServeHTTP answers the browser: CONNECT with a tunnel, a whole address with
// what is there, all else with 400.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.life.Err() != nil {
		p.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	p.work.Add(1)
	p.mu.Unlock()
	defer p.work.Done()
	way, ok := wayOf(r)
	switch {
	case !ok:
		http.Error(w, "This is a proxy.", http.StatusBadRequest)
	case r.Method == http.MethodConnect:
		p.tunnel(w, r, way)
	default:
		p.plain.ServeHTTP(w, r)
	}
}

// wayOf is where a request wants to go.
func wayOf(r *http.Request) (Way, bool) {
	if r.Method == http.MethodConnect {
		host, port, err := net.SplitHostPort(r.Host)
		return Way{Host: plainHost(host), Port: port, Secure: true}, err == nil && host != "" && port != ""
	}
	if r.URL.Scheme != "http" || r.URL.Hostname() == "" {
		return Way{}, false
	}
	way := Way{Host: plainHost(r.URL.Hostname()), Port: r.URL.Port()}
	if way.Port == "" {
		way.Port = "80"
	}
	return way, true
}

func plainHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// tunnel connects and then passes on what both sides send.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, way Way) {
	// The server's context ends with the handler, as does this tunnel.
	ctx, f, v, done := p.begin(r.Context(), way)
	defer done()
	var there net.Conn
	err := error(&Refusal{v.Closed})
	if v.Closed == "" {
		there, err = p.reach(ctx, way, v)
		err = cause(ctx, wordsOf(err, v))
	}
	p.failed(way, err)
	if err != nil {
		if there != nil {
			_ = there.Close()
		}
		w.WriteHeader(statusOf(err))
		return
	}
	defer there.Close()
	p.note(f, there.RemoteAddr().String())
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() {
		_ = here.Close()
		p.state(here, http.StateClosed)
	}()
	stop := context.AfterFunc(ctx, func() { _, _ = here.Close(), there.Close() })
	defer stop()
	p.touch(way)
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return
	}
	if n := buffered.Reader.Buffered(); n > 0 { // sent before it was asked for
		if _, err := io.CopyN(there, buffered.Reader, int64(n)); err != nil {
			return
		}
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(here, there) // between two sockets the system does it
		closeWrite(here)
	})
	_, _ = io.Copy(there, &watched{from: here, seen: func() { p.touch(way) }})
	closeWrite(there)
	back.Wait()
}

// watched tells, about once a second, that something was read.
type watched struct {
	from io.Reader
	last time.Time
	seen func()
}

// Read reads on.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.from.Read(b)
	if now := time.Now(); n > 0 && now.Sub(w.last) > time.Second {
		w.last = now
		w.seen()
	}
	return n, err
}

// closeWrite says that nothing follows; the other direction may go on.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

// note remembers whether a flight leads inside.
func (p *Proxy) note(f *flight, address string) {
	inside := p.inside(address) && p.o.Instead[f.way.String()] == ""
	p.mu.Lock()
	f.inside = inside
	p.mu.Unlock()
}

// rewrite leaves a request as the browser wrote it.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.Out.Host = r.In.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if own, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = own
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// roundTrip asks the judge about a plain request and makes it.
func (p *Proxy) roundTrip(r *http.Request) (*http.Response, error) {
	way, _ := wayOf(r)
	ctx, f, v, done := p.begin(r.Context(), way)
	if v.Closed != "" {
		done()
		err := &Refusal{v.Closed}
		p.failed(way, err)
		return nil, err
	}
	route := p.routes[0]
	up, err := p.upstream(r.URL)
	switch {
	case err == nil && up != nil && p.o.Instead[way.String()] == "":
		route = p.relay
	case v.Inside == "":
		route = p.routes[1]
	}
	if path := rawPath(r.RequestURI); route != p.relay && path != "" {
		r.URL.Opaque = path
	}
	p.touch(way)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if route != p.relay {
			p.note(f, i.Conn.RemoteAddr().String())
		}
	}})
	answer, err := route.RoundTrip(r.WithContext(ctx))
	if err != nil {
		err = cause(ctx, wordsOf(err, v))
		if !errors.Is(err, context.Canceled) { // the browser gave it up
			p.failed(way, err)
		}
		done()
		return nil, err
	}
	p.failed(way, nil)
	answer.Body = body(answer.Body, done)
	return answer, nil
}

// rawPath is the path of a whole address as the browser wrote it, which an
// address that was taken apart may write another way.
func rawPath(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	rest, _, _ = strings.Cut(rest, "?")
	at := strings.IndexByte(rest, '/')
	if at < 0 || strings.HasPrefix(rest[at:], "//") {
		return ""
	}
	return rest[at:]
}

// body calls done when an answer was read.
func body(b io.ReadCloser, done func()) io.ReadCloser {
	if both, ok := b.(io.ReadWriteCloser); ok { // the connection was made another protocol's
		return &endingBoth{both, done}
	}
	return &ending{b, done}
}

type ending struct {
	io.ReadCloser
	done func()
}

// Close closes the body and tells.
func (e *ending) Close() error { defer e.done(); return e.ReadCloser.Close() }

type endingBoth struct {
	io.ReadWriteCloser
	done func()
}

// Close closes the body and tells.
func (e *endingBoth) Close() error { defer e.done(); return e.ReadWriteCloser.Close() }

// transport makes plain requests to hosts that it connects to itself.
func (p *Proxy) transport(inside bool) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return p.dial(ctx, Way{Host: plainHost(host), Port: port}, inside)
		},
		DisableCompression: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: idleTime,
	}
}

// abort breaks the connection off, which is what a browser sees of a host that
// cannot be reached: an answer of ours would look like one of the host.
func abort(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// wordsOf puts the words of the judge in place of a refused address.
func wordsOf(err error, v Verdict) error {
	if errors.Is(err, errInside) {
		words := v.Inside
		if words == "" {
			words = "A name that led to the internet before leads to an address of this computer or its network now."
		}
		return &Refusal{words}
	}
	return err
}

func statusOf(err error) int {
	var refused *Refusal
	var timed net.Error
	switch {
	case errors.As(err, &refused):
		return http.StatusForbidden
	case errors.As(err, &timed) && timed.Timeout():
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
