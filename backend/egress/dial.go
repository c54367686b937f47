package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"

	"golang.org/x/net/proxy"
)

// dial connects to a host itself. Every address it is about to connect to is
// looked at first, so that it does not matter what a name leads to at another
// time. Unless inside is set only those of the internet do. A name that once
// led there never leads inside: names of attackers change their address.
func (p *Proxy) dial(ctx context.Context, w Way, inside bool) (net.Conn, error) {
	if other := p.o.Instead[w.String()]; other != "" {
		return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", other)
	}
	if _, err := netip.ParseAddr(w.Host); err != nil {
		p.mu.Lock()
		if h := p.hosts[w.String()]; h != nil && h.public {
			inside = false
		}
		p.mu.Unlock()
	}
	d := net.Dialer{Timeout: dialTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if !inside && p.inside(address) {
			return errInside
		}
		return nil
	}}
	c, err := d.DialContext(ctx, "tcp", w.String())
	if err == nil && !p.inside(c.RemoteAddr().String()) {
		p.mu.Lock()
		p.known(w).public = true
		p.mu.Unlock()
	}
	return c, err
}

// errInside stands for the words of the judge, which are known higher up.
var errInside = errors.New("the address is one of this computer or its network")

func (p *Proxy) inside(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err != nil || p.o.Inside != nil && p.o.Inside(a.Addr().Unmap())
}

// reach connects to a host by itself or through a proxy of the environment.
func (p *Proxy) reach(ctx context.Context, w Way, v Verdict) (net.Conn, error) {
	up, err := p.upstream(&url.URL{Scheme: "https", Host: w.String()})
	if err != nil {
		return nil, fmt.Errorf("the proxy of the environment: %w", err)
	}
	if up == nil || p.o.Instead[w.String()] != "" {
		return p.dial(ctx, w, v.Inside == "")
	}
	return through(ctx, up, w)
}

// through asks another proxy for a tunnel.
func through(ctx context.Context, up *url.URL, w Way) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTime}
	if up.Scheme == "socks5" || up.Scheme == "socks5h" {
		socks, err := proxy.FromURL(up, d)
		if err != nil {
			return nil, err
		}
		return socks.(proxy.ContextDialer).DialContext(ctx, "tcp", w.String())
	}
	port := up.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[up.Scheme]
	}
	if port == "" {
		port = "80"
	}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(up.Hostname(), port))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if up.Scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: up.Hostname(), MinVersion: tls.VersionTLS12})
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: w.String()}, Host: w.String(), Header: http.Header{}}
	if u := up.User; u != nil {
		word, _ := u.Password()
		ask.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+word)))
	}
	if err := ask.Write(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, ask)
	if err == nil {
		_ = answer.Body.Close() // of a tunnel that is open it is empty
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the proxy %s answered %s", up.Host, answer.Status)
	}
	if err == nil && r.Buffered() > 0 {
		err = fmt.Errorf("the proxy %s spoke before it was asked", up.Host)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}
