package guard

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"gofer/backend/tool"
)

// trusting is the Auto row: reading is free, so is what can be undone or
// happens in the sandbox; what is sent is asked for once a site. Secrets, what
// runs later, and this computer's own network ask as ever.
func (g *Guard) trusting(r Request, c tool.Claim) ruling {
	switch c.Class {
	case tool.ReadFile:
		if Secret(c.Object) {
			return g.askRead(r, c.Object)
		}
		return allow()
	case tool.WriteFile, tool.DeleteFile:
		if !RunsLater(c.Object) && !Secret(c.Object) && within(r.Workspace, c.Object) && c.Object != r.Workspace {
			return allow() // a copy is kept
		}
	case tool.RunCommand:
		sandbox := g.options.Sandbox != nil && g.options.Sandbox()
		switch {
		case !g.windows && g.readOnly(r, c):
			return allow()
		case sandbox && !c.Outside && within(r.Workspace, c.Detail):
			return ruling{decision: Allow, boxed: true}
		case !sandbox:
			ruled := g.asking(r, c)
			ruled.why += " There is no sandbox on this computer to run it in."
			return ruled
		}
	case tool.Visit:
		site, ok := Site(c.Object)
		from, _ := Site(r.Taint)
		switch {
		case !ok:
		case private(site):
			return ask("It opens an address of this computer or its network, " + site + ".").or(Grant{Class: tool.Visit, Object: site, Until: Session})
		case r.Taint != "" && site != from && carries(c.Object):
			return ask("It carries data to " + site + ".").or(Grant{Class: tool.Visit, Object: site, Until: Session})
		default:
			return allow()
		}
	}
	return g.asking(r, c)
}

// private reports whether a site is this computer's own or of a network that
// is not the internet. A name may still lead there; only the connection tells.
func private(site string) bool {
	u, err := url.Parse(site)
	if err != nil {
		return true
	}
	host := strings.ToLower(u.Hostname())
	if addr, err := netip.ParseAddr(host); err == nil {
		return NearAddress(addr)
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	return len(labels) == 1 || last == "" || last[0] >= '0' && last[0] <= '9' || slices.Contains([]string{"local", "localhost", "internal", "lan", "home", "arpa", "test"}, last)
}
