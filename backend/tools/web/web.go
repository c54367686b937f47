// Package web holds the tools that get pages and files without the browser.
//
// Its promises: only the host that was claimed is asked, so a redirect to
// another one ends the call; sizes and times are bounded; a name that leads to
// this machine is refused unless it says so, since the guard judged the name.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gofer/backend/tool"
)

// Saver writes files of the workspace; files.Folder is one.
type Saver interface {
	Target(path string) (string, error)
	Save(ctx context.Context, path string, r io.Reader, limit int64) (int64, error)
}

// Options are what the web tools need.
type Options struct {
	Files Saver
	Wait  func(context.Context, time.Duration) error // between tries; nil waits for real
}

const (
	textCap   = 5 << 20   // bytes of a text that are read
	pageCap   = 2 << 20   // bytes of a page that are turned into Markdown
	fileCap   = 100 << 20 // bytes of a file
	showCap   = 64 << 10  // bytes of a text that the model reads at once
	connect   = 30 * time.Second
	silence   = 30 * time.Second // between two pieces of an answer
	readTime  = 30 * time.Second
	fetchTime = 10 * time.Minute
	redirects = 5
	retries   = 3
)

// All returns the web tools.
func All(o Options) []tool.Tool {
	c := newClient(o)
	return []tool.Tool{fetchTool(c, o.Files), readTool(c)}
}

type client struct {
	http *http.Client
	wait func(context.Context, time.Duration) error
}

func newClient(o Options) *client {
	c := &client{wait: o.Wait}
	if c.wait == nil {
		c.wait = pause
	}
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = vetted(dialer.DialContext)
	transport.ResponseHeaderTimeout = silence
	transport.MaxResponseHeaderBytes = 1 << 20
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c
}

type dial func(ctx context.Context, network, addr string) (net.Conn, error)

// vetted looks at where a name has led before anything is said there. What a
// proxy reaches is the proxy's to judge.
func vetted(d dial) dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := d(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		asked, _ := ctx.Value(hostKey{}).(string)
		host, _, err := net.SplitHostPort(addr)
		if err == nil && strings.EqualFold(host, asked) && hidden(host, conn.RemoteAddr()) {
			_ = conn.Close()
			return nil, fmt.Errorf("%w: %s leads to %s", errHidden, host, conn.RemoteAddr())
		}
		return conn, nil
	}
}

type hostKey struct{}

var errHidden = errors.New("a name for this machine itself")

// hidden reports whether a name that does not say so leads to this machine or
// to a link-local service, such as the one that hands out cloud credentials.
func hidden(host string, addr net.Addr) bool {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return false
	}
	if host = strings.TrimSuffix(strings.ToLower(host), "."); host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return false
	}
	tcp, ok := addr.(*net.TCPAddr)
	return ok && (tcp.IP.IsLoopback() || tcp.IP.IsLinkLocalUnicast() || tcp.IP.IsUnspecified())
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// target checks an address.
func target(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, errors.New("that is not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("only http and https addresses can be fetched")
	case u.Hostname() == "":
		return nil, errors.New("the address names no host")
	case u.User != nil:
		return nil, errors.New("an address with a user name or password is not fetched")
	}
	u.Fragment = ""
	return u, nil
}

// elsewhere says where a redirect leads that must be asked for anew.
type elsewhere struct{ to string }

func (e *elsewhere) Error() string { return "redirected to " + e.to }

// get asks for a page, follows redirects on the same host, and tries again
// while nothing of an answer has come.
func (c *client) get(ctx context.Context, raw, accept string) (*http.Response, error) {
	u, err := target(raw)
	if err != nil {
		return nil, err
	}
	for hops, tries, delay := 0, 0, time.Second; ; {
		resp, err := c.once(ctx, u, accept)
		if err == nil && !again(resp.StatusCode) {
			next, err := c.follow(u, resp)
			if next == nil {
				return resp, err
			}
			_ = resp.Body.Close()
			if hops++; hops > redirects {
				return nil, fmt.Errorf("more than %d redirects", redirects)
			}
			u = next
			continue
		}
		var dns *net.DNSError
		hopeless := errors.Is(err, errHidden) || errors.As(err, &dns) && dns.IsNotFound
		if tries++; tries > retries || ctx.Err() != nil || hopeless {
			return resp, err // the last answer, if it was one
		}
		wait := delay
		if resp != nil {
			if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
				wait = min(time.Duration(s)*time.Second, 10*time.Second)
			}
			_ = resp.Body.Close()
		}
		delay *= 2
		if err := c.wait(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// again reports whether a server may answer better a little later.
func again(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func (c *client) once(ctx context.Context, u *url.URL, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(context.WithValue(ctx, hostKey{}, u.Hostname()), http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36")
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Language", "en,*;q=0.5")
	return c.http.Do(req)
}

// follow returns the next address of a redirect, nil when there is none. The
// same host counts as the same when it is only made safe.
func (c *client) follow(from *url.URL, resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return nil, nil
	}
	to, err := from.Parse(location)
	if err == nil {
		to, err = target(to.String())
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("redirected to %q: %w", location, err)
	}
	safer := from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == ""
	if strings.EqualFold(from.Hostname(), to.Hostname()) && (from.Scheme == to.Scheme && port(from) == port(to) || safer) {
		return to, nil
	}
	_ = resp.Body.Close()
	return nil, &elsewhere{to.String()}
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// steady cuts a body off when nothing comes for a while.
type steady struct {
	body  io.ReadCloser
	timer *time.Timer
}

// errSilent says that an answer stopped in the middle.
var errSilent = fmt.Errorf("nothing came for %v", silence)

func steadily(body io.ReadCloser, stop context.CancelCauseFunc) *steady {
	return &steady{body, time.AfterFunc(silence, func() { stop(errSilent) })}
}

func (s *steady) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	s.timer.Reset(silence)
	return n, err
}

func (s *steady) Close() error {
	s.timer.Stop()
	return s.body.Close()
}

// failed turns an error into words the model can act on.
func failed(ctx context.Context, address string, err error) tool.Result {
	var e *elsewhere
	var dns *net.DNSError
	switch {
	case errors.As(err, &e):
		r := tool.Failed("%s redirects to another place: %s. Nothing was fetched from there. If that is what you want, ask for that address itself.", address, e.to)
		r.Outcome = "redirected"
		return r
	case errors.Is(err, errHidden):
		return tool.Failed("Cannot fetch %s: %v. If that is what you want, ask for that address itself.", address, err)
	case errors.As(err, &dns):
		return tool.Failed("Cannot fetch %s: the host %s was not found. Check the address.", address, dns.Name)
	case errors.Is(context.Cause(ctx), errSilent):
		return tool.Failed("Cannot fetch %s: %v. Try again later or use another source.", address, errSilent)
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Failed("Cannot fetch %s: it took too long. Try again later or use another source.", address)
	}
	return tool.Failed("Cannot fetch %s: %v.", address, err)
}

// status says what is wrong with an answer, or "".
func status(resp *http.Response) string {
	if resp.StatusCode < 400 {
		return ""
	}
	return fmt.Sprintf("the server answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
}

// host is the title of a call.
func host(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Host != "" {
		return u.Host
	}
	return raw
}
