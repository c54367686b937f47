package browser

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

const askedForName = "the site asks for a user name and a password: a person can give them in the window, or they come with the address as https://name:password@host/"

// plainURL is an address without a user name and password in it.
func plainURL(address string) string {
	if !strings.Contains(address, "@") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// netErrors say in words what the browser calls by a code; HOST stands for the
// host with its port.
var netErrors = []struct{ code, words string }{
	{"NAME_NOT_RESOLVED", "there is no host of the name HOST"},
	{"CONNECTION_REFUSED", "nothing answers at HOST; the connection was refused"},
	{"CONNECTION_TIMED_OUT", "HOST does not answer"},
	{"TIMED_OUT", "HOST does not answer"},
	{"CONNECTION_RESET", "HOST broke the connection off"},
	{"CONNECTION_CLOSED", "HOST closed the connection"},
	{"EMPTY_RESPONSE", "HOST closed the connection without an answer"},
	{"INVALID_HTTP_RESPONSE", "what HOST answered is not HTTP"},
	{"ADDRESS_UNREACHABLE", "there is no way to HOST"},
	{"INTERNET_DISCONNECTED", "this computer has no connection to the internet"},
	{"NETWORK_CHANGED", "the network of this computer changed meanwhile"},
	{"PROXY_CONNECTION_FAILED", "the proxy set on this computer does not answer"},
	{"TUNNEL_CONNECTION_FAILED", "the proxy set on this computer refused HOST"},
	{"TOO_MANY_REDIRECTS", "it redirects in a circle"},
	{"UNSAFE_PORT", "browsers do not connect to that port"},
	{"SSL_PROTOCOL_ERROR", "HOST does not speak https; its address may begin with http://"},
	{"SSL_VERSION_OR_CIPHER_MISMATCH", "HOST speaks no https that is still safe"},
	{"CERT_DATE_INVALID", "the certificate of HOST is out of date, so the connection would not be private"},
	{"CERT_COMMON_NAME_INVALID", "the certificate of HOST is for another name, so the connection would not be private"},
	{"CERT_AUTHORITY_INVALID", "the certificate of HOST is not from an authority this computer trusts, so the connection would not be private"},
	{"CERT_REVOKED", "the certificate of HOST was revoked"},
	{"CERT_", "the certificate of HOST is not valid, so the connection would not be private"},
	{"FILE_NOT_FOUND", "there is no such file"},
	{"ACCESS_DENIED", "reading it is not allowed"},
	{"BLOCKED_BY", "the browser blocks it"},
	{"ABORTED", "the load was given up, by the page or by the browser"},
}

// unreachable says why an address could not be opened; at is where its
// redirects led.
func (o Options) unreachable(to, at, code string) error {
	p := problem(Unreachable, "%s could not be opened: %s", short(to, 300), o.netWords(at, code))
	if o.refused(at, code) != "" {
		p.Code = Refused
	}
	return p
}

func (o Options) netWords(to, code string) string {
	host := hostOf(to)
	if words := o.refused(to, code); words != "" {
		return host + " was not reached: " + words
	}
	code = o.behind(to, code)
	bare := strings.TrimPrefix(code, "net::ERR_")
	for _, e := range netErrors {
		if !strings.HasPrefix(bare, e.code) {
			continue
		}
		words := strings.ReplaceAll(e.words, "HOST", host)
		if strings.HasPrefix(e.code, "CERT_") {
			words += "; only a person may decide to go on, in the window"
		}
		return words + " (" + code + ")"
	}
	return code
}

// hostOf is the host of an address with its port, or all of it.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// refused returns the words of the rule by which the proxy did not connect to
// an address.
func (o Options) refused(address, code string) string {
	words, _ := o.asked(address, code)
	return words
}

// behind is what the browser would have called a failure without the proxy
// between it and the host.
func (o Options) behind(address, code string) string {
	_, err := o.asked(address, code)
	var dns *net.DNSError
	var timed net.Error
	switch {
	case err == nil:
		return code
	case errors.As(err, &dns):
		return "net::ERR_NAME_NOT_RESOLVED"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "net::ERR_CONNECTION_REFUSED"
	case errors.Is(err, syscall.ECONNRESET):
		return "net::ERR_CONNECTION_RESET"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "net::ERR_ADDRESS_UNREACHABLE"
	case errors.As(err, &timed) && timed.Timeout():
		return "net::ERR_CONNECTION_TIMED_OUT"
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "net::ERR_INVALID_HTTP_RESPONSE"
	}
	return code
}

// asked asks the proxy about a failure that may be its doing.
func (o Options) asked(address, code string) (refused string, err error) {
	if o.Why == nil || !slices.ContainsFunc([]string{"TUNNEL_CONNECTION_FAILED", "EMPTY_RESPONSE", "CONNECTION_RESET", "CONNECTION_CLOSED", "CONNECTION_ABORTED", "tunnel via proxy server failed"}, func(c string) bool { return strings.Contains(code, c) }) {
		return "", nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", nil //nolint:nilerr // no address of a host
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https" || u.Scheme == "wss":
		port = "443"
	default:
		port = "80"
	}
	return o.Why(net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port))
}

// turnedAway is the line about hosts that were not connected to by a rule.
func turnedAway(hosts []string, why string) string {
	const most = 5
	list := strings.Join(hosts[:min(most, len(hosts))], ", ")
	if n := len(hosts) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return "Gofer refused what the page wanted of " + list + ": " + why
}
