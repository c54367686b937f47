package guard

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Site is what grants for the web are about: scheme, registrable domain and
// port, such as https://example.org or http://127.0.0.1:8080. It is not ok for
// anything that is no plain web address, or that a browser may read another
// way than it is read here.
func Site(raw string) (site string, ok bool) {
	raw = strings.TrimSpace(raw)
	if rest, found := strings.CutPrefix(raw, "blob:"); found {
		raw = rest
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r == '\\' || unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return "", false
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Contains(u.Host, "%") {
		return "", false
	}
	host, ok := domain(u.Hostname())
	if !ok {
		return "", false
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := strings.TrimLeft(u.Port(), "0")
	if port == "" && u.Port() != "" || u.Port() == "" && strings.HasSuffix(u.Host, ":") {
		return "", false
	}
	usual := u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443"
	if port != "" && !usual {
		host += ":" + port
	}
	return u.Scheme + "://" + host, true
}

// domain is the registrable domain of a host; numbers and names of one label
// stand for themselves.
func domain(host string) (string, bool) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String(), addr.Zone() == ""
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return "", false
	}
	ascii = strings.TrimSuffix(strings.ToLower(ascii), ".")
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if last == "" {
		return "", false
	}
	if last[0] >= '0' && last[0] <= '9' {
		return ascii, true // some way to write a number: only that very spelling
	}
	if d, err := publicsuffix.EffectiveTLDPlusOne(ascii); err == nil {
		return d, true
	}
	return ascii, true
}

// filePath is the path of a file: address.
func filePath(raw string) (string, bool) {
	raw = strings.TrimSpace(raw)
	for _, wrap := range []string{"view-source:", "blob:", "filesystem:"} {
		if len(raw) > len(wrap) && strings.EqualFold(raw[:len(wrap)], wrap) {
			raw = raw[len(wrap):]
		}
	}
	if len(raw) < 5 || !strings.EqualFold(raw[:5], "file:") {
		return "", false
	}
	rest := raw[5:]
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at]
	}
	if path, err := url.PathUnescape(rest); err == nil {
		rest = path
	}
	rest = strings.ReplaceAll(rest, `\`, "/")
	if strings.HasPrefix(rest, "//") {
		rest = strings.TrimLeft(rest, "/")
		if host, path, found := strings.Cut(rest, "/"); found && strings.EqualFold(host, "localhost") {
			rest = path
		}
	}
	rest = strings.TrimLeft(rest, "/")
	if runtime.GOOS != "windows" {
		rest = "/" + rest
	}
	return real(filepath.FromSlash(rest)), true
}
