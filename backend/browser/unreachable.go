package browser

import (
	"net/url"
	"strings"
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

// unreachable says why an address could not be opened.
func unreachable(to, code string) error {
	return problem(Unreachable, "%s could not be opened: %s", short(to, 300), netWords(to, code))
}

func netWords(to, code string) string {
	host := to
	if u, err := url.Parse(to); err == nil && u.Host != "" {
		host = u.Host
	}
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
