package guard

import (
	"net/url"
	"path/filepath"

	"gofer/backend/tool"
)

// A run that has read outside text is tainted: that text may have talked the
// model into what it does next. What it asks for is shown with the source, and
// leave that was given in general does not carry what was read to other places.

// acts reports whether a deed changes something or sends something out.
func acts(class tool.Class) bool {
	switch class {
	case tool.ReadFile, tool.Visit:
		return false
	}
	return true
}

// standsAfter reports whether a grant still counts once text from a source was
// read: one for sending only on the site the text is from, one for every site
// not for an address that carries data elsewhere.
func (g Grant) standsAfter(taint string, c tool.Claim) bool {
	if taint == "" {
		return true
	}
	site, ok := Site(c.Object)
	from, _ := Site(taint)
	switch c.Class {
	case tool.Send:
		return ok && site == from
	case tool.Visit:
		return g.Object != "*" || ok && (site == from || !carries(c.Object))
	}
	return true
}

// mostWords is the length up to which a path may be a plain name of a page.
const mostWords = 64

// carries reports whether an address has room for data besides the name of a page.
func carries(raw string) bool {
	u, err := url.Parse(raw)
	return err != nil || u.RawQuery != "" || u.Fragment != "" || len(u.EscapedPath()) > mostWords || len(u.Hostname()) > mostWords
}

// After says after which outside text something comes, for a person; "" when
// there was none.
func After(origin string) string {
	if origin == "" {
		return ""
	}
	return "It comes after reading text from " + source(origin) + "."
}

// source names where text came from, for a person: a site, a file or what was run.
func source(origin string) string {
	if site, ok := Site(origin); ok {
		if u, err := url.Parse(site); err == nil {
			return u.Host
		}
	}
	if filepath.IsAbs(origin) {
		return Visible(filepath.Base(origin))
	}
	return Visible(origin)
}
