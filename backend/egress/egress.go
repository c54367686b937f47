// Package egress is the way out of a browser: a forward proxy on this computer
// that asks a judge about every connection before it is made, and looks at the
// address that is really connected to, so that a name cannot lead elsewhere
// than it says.
//
// It listens on 127.0.0.1 at a port of the system's choice. Other programs of
// this computer can use it too; they gain nothing, since each of them can
// connect by itself. What is encrypted stays so: of https the proxy sees host
// and port only.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Bounds of a proxy.
const (
	mostOpen   = 1024             // connections to it
	mostKnown  = 4096             // hosts that are remembered
	headerTime = 30 * time.Second // for the head of a request
	idleTime   = 5 * time.Minute  // between two requests of a connection, as browsers wait
	dialTime   = time.Minute      // for a connection to a host
	whyTime    = time.Minute      // how long a failure is remembered
)

// Way is where a connection is to lead.
type Way struct {
	Host, Port string
	Secure     bool // nothing but the way is seen of it
}

func (w Way) String() string { return net.JoinHostPort(w.Host, w.Port) }

// Verdict is what a judge says to a way. The zero one opens it.
type Verdict struct {
	Closed string // why nothing may go there
	Inside string // why it may lead to addresses of the internet only
}

// Refusal is the error of a connection that a judge did not allow.
type Refusal struct{ Words string }

func (r *Refusal) Error() string { return r.Words }

// Options say how a proxy decides.
type Options struct {
	Judge  func(Way) Verdict     // may be asked again about a connection that is open; must not wait
	Inside func(netip.Addr) bool // whether an address is one of this computer or its network; nil says no

	// Instead names other addresses, host:port by host:port, that are connected
	// to without a look at them. It lets tests have an internet.
	Instead map[string]string
}

// Proxy is a running proxy. It is safe for use by several goroutines.
type Proxy struct {
	o        Options
	listener net.Listener
	server   *http.Server
	upstream func(*url.URL) (*url.URL, error) // the environment's proxies
	plain    *httputil.ReverseProxy
	routes   [2]*http.Transport // to addresses of the internet, and to all
	relay    *http.Transport    // through the environment's proxies
	life     context.Context
	end      context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	open    map[net.Conn]bool // connections of the browser
	flights map[*flight]bool
	hosts   map[string]*host // by host:port
}

// host is what is remembered of a host.
type host struct {
	used   time.Time // when the browser last sent something there
	public bool      // it was reached at an address of the internet
	why    error     // of the last connection, when it failed
	at     time.Time // of that failure
}

// flight is a request or a tunnel under way.
type flight struct {
	way    Way
	inside bool // it leads to an address of this computer or its network
	cancel context.CancelCauseFunc
}

// Start runs a proxy until it is closed.
func Start(o Options) (*Proxy, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // at once
	if err != nil {
		return nil, fmt.Errorf("start the browser's proxy: %w", err)
	}
	p := &Proxy{
		o: o, listener: listener, upstream: httpproxy.FromEnvironment().ProxyFunc(),
		open: map[net.Conn]bool{}, flights: map[*flight]bool{}, hosts: map[string]*host{},
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.routes = [2]*http.Transport{p.transport(false), p.transport(true)}
	p.relay = &http.Transport{
		Proxy:              func(r *http.Request) (*url.URL, error) { return p.upstream(r.URL) },
		DisableCompression: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: idleTime,
	}
	p.plain = &httputil.ReverseProxy{Rewrite: rewrite, Transport: roundTrip(p.roundTrip), FlushInterval: -1, ErrorHandler: abort, ErrorLog: quiet}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: 1 << 19, ConnState: p.state, ErrorLog: quiet}
	p.work.Go(func() { _ = p.server.Serve(listener) }) // ends with Close
	return p, nil
}

// Addr is the address of the proxy, as 127.0.0.1:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy with all that goes through it, and waits for that.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.end() // nothing is begun from here on
	p.mu.Unlock()
	err := p.server.Close()
	p.mu.Lock()
	for c := range p.open { // tunnels, which the server has handed over
		_ = c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
	for _, t := range append(p.routes[:], p.relay) {
		t.CloseIdleConnections()
	}
	return err
}

// Review asks the judge again about all that is under way and cuts what is not
// allowed any more. What begins meanwhile is judged by the same state or a
// later one.
func (p *Proxy) Review() {
	p.mu.Lock()
	all := make([]*flight, 0, len(p.flights))
	for f := range p.flights {
		all = append(all, f)
	}
	p.mu.Unlock()
	for _, f := range all {
		v := p.o.Judge(f.way)
		p.mu.Lock()
		inside := f.inside
		p.mu.Unlock()
		if inside && v.Closed == "" {
			v.Closed = v.Inside
		}
		if v.Closed != "" {
			f.cancel(&Refusal{v.Closed})
		}
	}
}

// Used lists the hosts, as host:port, that something was sent to since a time.
func (p *Proxy) Used(since time.Time) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for name, h := range p.hosts {
		if !h.used.Before(since) {
			out = append(out, name)
		}
	}
	return out
}

// Why says why the last connection to host:port failed, if that was not long
// ago and none has worked since; nil otherwise. A *Refusal is the judge's.
func (p *Proxy) Why(hostport string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[strings.ToLower(hostport)]
	if h == nil || h.why == nil || time.Since(h.at) > whyTime {
		return nil
	}
	return h.why
}

// known returns what is remembered of a way; the lock is held. When it is too
// much the host that was longest not used is forgotten.
func (p *Proxy) known(w Way) *host {
	name := w.String()
	h := p.hosts[name]
	if h != nil {
		return h
	}
	if len(p.hosts) >= mostKnown {
		oldest := ""
		for n, x := range p.hosts {
			if oldest == "" || x.used.Before(p.hosts[oldest].used) {
				oldest = n
			}
		}
		delete(p.hosts, oldest)
	}
	h = &host{}
	p.hosts[name] = h
	return h
}

// touch notes that something is sent to a host.
func (p *Proxy) touch(w Way) {
	p.mu.Lock()
	p.known(w).used = time.Now()
	p.mu.Unlock()
}

// failed remembers why a way did not work, or with nil that it did.
func (p *Proxy) failed(w Way, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.known(w)
	h.why, h.at = err, time.Now()
}

// begin enters a flight and only then asks the judge, so that a review misses
// none. The function it returns ends the flight.
func (p *Proxy) begin(ctx context.Context, w Way) (context.Context, *flight, Verdict, func()) {
	f := &flight{way: w}
	ctx, f.cancel = context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.life, func() { f.cancel(net.ErrClosed) })
	p.mu.Lock()
	p.flights[f] = true
	p.mu.Unlock()
	done := func() {
		p.mu.Lock()
		delete(p.flights, f)
		p.mu.Unlock()
		stop()
		f.cancel(nil)
	}
	v := p.o.Judge(w)
	p.mu.Lock()
	f.inside = v.Inside == "" // until it is known
	p.mu.Unlock()
	return ctx, f, v, done
}

// state counts the connections of the browser and turns away what is too much.
func (p *Proxy) state(c net.Conn, s http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch s {
	case http.StateNew:
		if len(p.open) >= mostOpen || p.life.Err() != nil {
			_ = c.Close()
			return
		}
		p.open[c] = true
	case http.StateClosed:
		delete(p.open, c)
	}
}

// cause is the reason of a context's end in place of the error it led to.
func cause(ctx context.Context, err error) error {
	var refused *Refusal
	if errors.As(context.Cause(ctx), &refused) {
		return refused
	}
	return err
}
