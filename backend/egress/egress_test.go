package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/egress"
)

func start(t *testing.T, o egress.Options) *egress.Proxy {
	t.Helper()
	if o.Judge == nil {
		o.Judge = func(egress.Way) egress.Verdict { return egress.Verdict{} }
	}
	p, err := egress.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func through(t *testing.T, p *egress.Proxy) *http.Client {
	t.Helper()
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: p.Addr()}), DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

func get(t *testing.T, c *http.Client, address string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return string(raw), err
}

// connect opens a tunnel and returns the answer to CONNECT.
func connect(t *testing.T, p *egress.Proxy, hostport string) (net.Conn, *bufio.Reader, int) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", hostport, hostport)
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatalf("CONNECT %s: %v", hostport, err)
	}
	_ = answer.Body.Close()
	return c, r, answer.StatusCode
}

func echo(t *testing.T) (address string, heard *atomic.Int64) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	heard = &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			heard.Add(1)
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	return l.Addr().String(), heard
}

func loopback(a netip.Addr) bool { return a.IsLoopback() }

func hostOf(site *httptest.Server) string { return strings.TrimPrefix(site.URL, "http://") }

func TestAPlainRequestArrivesAsItWasWritten(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %q %q", r.RequestURI, r.Host, r.Header.Get("X-Forwarded-For"), r.Header.Get("Accept-Encoding"))
	}))
	t.Cleanup(site.Close)
	p := start(t, egress.Options{})
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s/a|b/%%2F?x=1;y=2&z=%%zz HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: page\r\n\r\n", site.URL, hostOf(site))
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, _ := io.ReadAll(answer.Body)
	if want := `/a|b/%2F?x=1;y=2&z=%zz ` + hostOf(site) + ` "page" ""`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestATunnelCarriesBothWaysAndEndsHalfByHalf(t *testing.T) {
	address, _ := echo(t)
	p := start(t, egress.Options{})
	c, r, status := connect(t, p, address)
	if status != http.StatusOK {
		t.Fatalf("got %d", status)
	}
	text := strings.Repeat("to and fro ", 100_000)
	go func() { _, _ = io.WriteString(c, text); _ = c.(*net.TCPConn).CloseWrite() }()
	got, err := io.ReadAll(r)
	if err != nil || string(got) != text {
		t.Errorf("got %d of %d bytes back, %v", len(got), len(text), err)
	}
}

func TestWhatIsNoProxyRequestIsRefused(t *testing.T) {
	p := start(t, egress.Options{})
	for _, request := range []string{"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n"} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, request)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: got %v, %v", request, answer, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
		_ = c.Close()
	}
}

func TestWhatIsClosedIsNotConnectedToAndSaysWhy(t *testing.T) {
	address, heard := echo(t)
	p := start(t, egress.Options{Judge: func(w egress.Way) egress.Verdict { return egress.Verdict{Closed: w.Host + " is closed"} }})
	if _, _, status := connect(t, p, address); status != http.StatusForbidden {
		t.Errorf("the tunnel got %d", status)
	}
	var refused *egress.Refusal
	if !errors.As(p.Why(address), &refused) || refused.Words != "127.0.0.1 is closed" {
		t.Errorf("the reason is %v", p.Why(address))
	}
	if body, err := get(t, through(t, p), "http://a.example/"); err == nil {
		t.Errorf("the plain request got %q", body)
	}
	if !errors.As(p.Why("a.example:80"), &refused) || heard.Load() != 0 {
		t.Errorf("the reason is %v; %d connections arrived", p.Why("a.example:80"), heard.Load())
	}
}

// TestTheAddressThatIsConnectedToDecides shows that a name does not help: what
// it leads to is looked at when the connection is made.
func TestTheAddressThatIsConnectedToDecides(t *testing.T) {
	address, heard := echo(t)
	_, port, _ := net.SplitHostPort(address)
	open := false
	p := start(t, egress.Options{Inside: loopback, Judge: func(egress.Way) egress.Verdict {
		if open {
			return egress.Verdict{}
		}
		return egress.Verdict{Inside: "only the internet"}
	}})
	for _, host := range []string{"localhost:" + port, "127.0.0.1:" + port, "[::ffff:127.0.0.1]:" + port, "0x7f000001:" + port, "2130706433:" + port} {
		if _, _, status := connect(t, p, host); status == http.StatusOK {
			t.Errorf("%s: the tunnel is open", host)
		}
		if body, err := get(t, through(t, p), "http://"+host+"/"); err == nil {
			t.Errorf("%s: got %q", host, body)
		}
	}
	var refused *egress.Refusal
	if !errors.As(p.Why("localhost:"+port), &refused) || refused.Words != "only the internet" || heard.Load() != 0 {
		t.Errorf("the reason is %v; %d connections arrived", p.Why("localhost:"+port), heard.Load())
	}
	open = true
	if _, _, status := connect(t, p, "localhost:"+port); status != http.StatusOK || p.Why("localhost:"+port) != nil {
		t.Errorf("where inside is allowed the tunnel got %d, the reason is %v", status, p.Why("localhost:"+port))
	}
}

// TestANameThatLedToTheInternetNeverLeadsInside is the name of an attacker that
// changes its address once the page is there.
func TestANameThatLedToTheInternetNeverLeadsInside(t *testing.T) {
	address, heard := echo(t)
	_, port, _ := net.SplitHostPort(address)
	inside := false
	p := start(t, egress.Options{Inside: func(netip.Addr) bool { return inside }})
	if _, _, status := connect(t, p, "localhost:"+port); status != http.StatusOK {
		t.Fatalf("got %d", status)
	}
	inside = true // as if the name had another address now
	if _, _, status := connect(t, p, "localhost:"+port); status == http.StatusOK || heard.Load() != 1 {
		t.Errorf("got %d; %d connections arrived", status, heard.Load())
	}
	if _, _, status := connect(t, p, address); status != http.StatusOK {
		t.Errorf("a plain address got %d", status)
	}
}

func TestReviewCutsWhatIsNotAllowedAnyMore(t *testing.T) {
	kept, _ := echo(t)
	cut, _ := echo(t)
	stream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(stream.Close)
	var strict atomic.Bool
	p := start(t, egress.Options{Judge: func(w egress.Way) egress.Verdict {
		if strict.Load() && w.String() != kept {
			return egress.Verdict{Closed: "no more"}
		}
		return egress.Verdict{}
	}})
	a, ra, _ := connect(t, p, kept)
	b, rb, _ := connect(t, p, cut)
	answer, err := through(t, p).Get(stream.URL) //nolint:noctx // ends with the proxy
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != "first\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	strict.Store(true)
	p.Review()
	if _, err := rb.ReadByte(); err == nil {
		t.Error("the tunnel that is not allowed goes on")
	}
	if _, err := lines.ReadByte(); err == nil {
		t.Error("the request that is not allowed goes on")
	}
	_, _ = io.WriteString(b, "x")
	_, _ = io.WriteString(a, "x")
	if got, err := ra.ReadByte(); err != nil || got != 'x' {
		t.Errorf("the tunnel that is allowed got %q, %v", got, err)
	}
}

func TestFailuresAreToldApart(t *testing.T) {
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	_ = closed.Close()
	p := start(t, egress.Options{})
	if _, _, status := connect(t, p, nobody); status != http.StatusBadGateway {
		t.Errorf("got %d", status)
	}
	if _, err := get(t, through(t, p), "http://nowhere.invalid/"); err == nil {
		t.Error("a name that does not exist was answered")
	}
	var dns *net.DNSError
	if why := p.Why("nowhere.invalid:80"); !errors.As(why, &dns) {
		t.Errorf("a name that does not exist failed by %v", why)
	}
	var op *net.OpError
	if why := p.Why(nobody); !errors.As(why, &op) || !strings.Contains(why.Error(), "refused") {
		t.Errorf("a port where nobody is failed by %v", why)
	}
	if why := p.Why("other.example:80"); why != nil {
		t.Errorf("a host nobody asked for failed by %v", why)
	}
}

func TestUsedNamesTheHostsOfATime(t *testing.T) {
	one, _ := echo(t)
	two, _ := echo(t)
	p := start(t, egress.Options{})
	c, r, _ := connect(t, p, one)
	time.Sleep(1100 * time.Millisecond)
	since := time.Now()
	connect(t, p, two)
	if got := p.Used(since); !slices.Equal(got, []string{two}) {
		t.Errorf("got %v, want %s", got, two)
	}
	_, _ = io.WriteString(c, "x") // an old tunnel that is used again
	_, _ = r.ReadByte()
	if got := p.Used(since); len(got) != 2 {
		t.Errorf("got %v, want both", got)
	}
}

// TestAProxyOfTheEnvironmentIsUsedButNotForThisComputer also shows a tunnel
// through it.
func TestAProxyOfTheEnvironmentIsUsedButNotForThisComputer(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "site") }))
	t.Cleanup(site.Close)
	var asked atomic.Int64
	up := start(t, egress.Options{Instead: map[string]string{"far.example:80": hostOf(site), "far.example:443": hostOf(site)}, Judge: func(egress.Way) egress.Verdict {
		asked.Add(1)
		return egress.Verdict{}
	}})
	t.Setenv("HTTP_PROXY", "http://"+up.Addr())
	t.Setenv("HTTPS_PROXY", "http://"+up.Addr())
	t.Setenv("NO_PROXY", "")
	p := start(t, egress.Options{Inside: loopback, Judge: func(w egress.Way) egress.Verdict {
		if w.Host == "127.0.0.1" {
			return egress.Verdict{}
		}
		return egress.Verdict{Inside: "only the internet"}
	}})
	if got, err := get(t, through(t, p), "http://far.example/"); err != nil || got != "site" || asked.Load() != 1 {
		t.Errorf("got %q, %v; the proxy was asked %d times", got, err, asked.Load())
	}
	c, r, status := connect(t, p, "far.example:443")
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: far.example\r\nConnection: close\r\n\r\n")
	if raw, _ := io.ReadAll(r); status != http.StatusOK || !strings.HasSuffix(string(raw), "site") || asked.Load() != 2 {
		t.Errorf("the tunnel got %d %q; the proxy was asked %d times", status, raw, asked.Load())
	}
	if got, err := get(t, through(t, p), site.URL); err != nil || got != "site" || asked.Load() != 2 {
		t.Errorf("this computer: got %q, %v; the proxy was asked %d times", got, err, asked.Load())
	}
}

func TestCloseEndsTunnelsAndLeavesNothingBehind(t *testing.T) {
	address, _ := echo(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hi") }))
	t.Cleanup(site.Close)
	before := runtime.NumGoroutine()
	p, err := egress.Start(egress.Options{Judge: func(egress.Way) egress.Verdict { return egress.Verdict{} }})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c, r, _ := connect(t, p, address)
		_, _ = io.WriteString(c, "x")
		_, _ = r.ReadByte()
	}
	client := through(t, p)
	if _, err := get(t, client, site.URL); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
	site.CloseClientConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for ctx.Err() == nil && runtime.NumGoroutine() > before {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		raw := make([]byte, 1<<16)
		t.Errorf("%d goroutines are left of %d:\n%s", n, before, raw[:runtime.Stack(raw, true)])
	}
}
