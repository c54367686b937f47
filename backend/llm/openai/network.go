package openai

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"gofer/backend/llm"
)

// Network says how servers are reached. The zero value takes the proxy of the
// environment and the roots of the system. A server on this machine is never
// reached by a proxy.
type Network struct {
	Proxy       string // address of a proxy; empty takes the environment's
	CAFile      string // PEM file of further roots
	Fingerprint string // SHA-256 of a certificate that is accepted as it is, in hex
}

// way names a transport that can be used again.
type way struct {
	connect time.Duration
	network Network
}

// transports are shared by clients that reach servers the same way, so that
// connections are used again.
var transports = struct {
	sync.Mutex
	by map[way]http.RoundTripper
}{by: map[way]http.RoundTripper{}}

// httpClient follows no redirect: one means that the base URL is wrong, and a
// key must not follow it.
func httpClient(l llm.Limits, n Network) *http.Client {
	transports.Lock()
	defer transports.Unlock()
	w := way{l.Connect, n}
	t := transports.by[w]
	if t == nil {
		made, err := newTransport(w)
		if err != nil {
			t = unusable{err} // not kept: the file may be mended
		} else {
			t = made
			transports.by[w] = t
		}
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// unusable fails every request with what is wrong with the settings.
type unusable struct{ err error }

func (u unusable) RoundTrip(*http.Request) (*http.Response, error) { return nil, u.err }

// errNetwork is a setting that cannot be used.
type errNetwork struct{ message, hint string }

func (e *errNetwork) Error() string { return e.message }

func newTransport(w way) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: w.connect, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = w.connect
	t.MaxIdleConnsPerHost = 8
	proxy, err := proxyFor(w.network.Proxy)
	if err != nil {
		return nil, err
	}
	t.Proxy = proxy
	t.TLSClientConfig, err = tlsFor(w.network)
	return t, err
}

// proxyFor chooses the proxy of a request.
func proxyFor(setting string) (func(*http.Request) (*url.URL, error), error) {
	config := httpproxy.FromEnvironment()
	if setting != "" {
		u, err := url.Parse(setting)
		if err != nil || u.Host == "" {
			return nil, &errNetwork{"The address of the proxy in the settings is not one.", "It looks like http://proxy.example.com:8080."}
		}
		config = &httpproxy.Config{HTTPProxy: setting, HTTPSProxy: setting, NoProxy: config.NoProxy}
	}
	choose := config.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		if loopback(r.URL.Hostname()) {
			return nil, nil
		}
		return choose(r.URL)
	}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func tlsFor(n Network) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if n.CAFile != "" {
		pem, err := os.ReadFile(n.CAFile)
		if err != nil {
			return nil, &errNetwork{fmt.Sprintf("The certificate file %s cannot be read.", n.CAFile), "Choose another file in the settings, or none."}
		}
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, &errNetwork{fmt.Sprintf("The file %s holds no certificate.", n.CAFile), "Choose a PEM file in the settings, or none."}
		}
		config.RootCAs = roots
	}
	if accepted := plainFingerprint(n.Fingerprint); accepted != "" {
		// The check is not left out but replaced: this one certificate, no other.
		config.InsecureSkipVerify = true
		config.VerifyConnection = func(s tls.ConnectionState) error {
			if got := fingerprint(s.PeerCertificates[0]); got != accepted {
				return &otherCertificate{got}
			}
			return nil
		}
	}
	return config, nil
}

// otherCertificate is a server that shows another certificate than the one
// that was accepted.
type otherCertificate struct{ got string }

func (e *otherCertificate) Error() string { return "the certificate has changed" }

func fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// plainFingerprint takes a fingerprint however it is written.
func plainFingerprint(s string) string {
	return strings.ToLower(strings.NewReplacer(":", "", " ", "").Replace(s))
}

// unproven returns the fingerprint of a certificate that could not be checked.
func unproven(err error) (string, bool) {
	var failed *tls.CertificateVerificationError
	var other *otherCertificate
	switch {
	case errors.As(err, &other):
		return other.got, true
	case errors.As(err, &failed) && len(failed.UnverifiedCertificates) > 0:
		return fingerprint(failed.UnverifiedCertificates[0]), true
	}
	return "", false
}
