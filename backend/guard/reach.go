package guard

import (
	"net/netip"
	"strings"

	"gofer/backend/tool"
)

// What is decided here is not a call but a connection of the browser: it has a
// host and a port, and no scheme, path or content.

// Place is a site without its scheme, which connections are about: a
// registrable domain or an address, with the port unless it is a usual one.
func Place(raw string) (place string, ok bool) {
	site, ok := Site(raw)
	_, place, _ = strings.Cut(site, "://")
	for _, usual := range []string{":80", ":443"} {
		if cut, found := strings.CutSuffix(place, usual); found && (!strings.Contains(cut, ":") || strings.HasSuffix(cut, "]")) {
			place = cut
		}
	}
	return place, ok
}

// Near reports whether a place is this computer's own or of a network that is
// not the internet, as far as its name tells.
func Near(place string) bool { return private("http://" + place) }

// NearAddress reports the same of an address, which tells for certain.
func NearAddress(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		b := addr.As16()
		switch {
		case carrier64.Contains(addr): // a gateway goes on to the last four bytes
			addr = netip.AddrFrom4([4]byte(b[12:]))
		case carrier6to4.Contains(addr):
			addr = netip.AddrFrom4([4]byte(b[2:6]))
		}
	}
	return !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || shared.Contains(addr) || nowhere.Contains(addr) || siteLocal.Contains(addr)
}

// Ranges that netip has no word for.
var (
	shared      = netip.MustParsePrefix("100.64.0.0/10") // providers share it among customers (RFC 6598)
	nowhere     = netip.MustParsePrefix("0.0.0.0/8")     // some systems take it for themselves
	siteLocal   = netip.MustParsePrefix("fec0::/10")
	carrier64   = netip.MustParsePrefix("64:ff9b::/96")
	carrier6to4 = netip.MustParsePrefix("2002::/16")
)

// Reach says how a place stands in what a session was granted: granted when a
// grant to visit it, send to it or run scripts there names it, denied when a
// rule forbids to visit it. A grant for every site names none, and any rule
// that forbids something of the place takes away its grants.
func (g *Guard) Reach(session, place string) (granted, denied bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	less := false
	for _, list := range [][]Grant{g.options.Always, g.grants[session]} {
		for _, h := range list {
			switch h.Class {
			case tool.Visit, tool.Send, tool.RunScript:
			default:
				continue
			}
			named, _ := Place(h.Object)
			switch {
			case named != place && (!h.Deny || h.Object != "*"):
			case h.Deny:
				less, denied = true, denied || h.Class == tool.Visit
			default:
				granted = true
			}
		}
	}
	return granted && !less, denied
}
