package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gofer/backend/tool"
)

// Until says how long a grant holds.
type Until string

// A grant holds for one call, for the run, or as long as the session.
const (
	Once    Until = "once"
	Run     Until = "run"
	Session Until = "session"
)

// Grant is a leave the person gave. It is a plain value: two of the same
// content are the same grant.
type Grant struct {
	Class  tool.Class `json:"class"`
	Object string     `json:"object"`           // folder or file; site; command line; * for any site or command
	Folder string     `json:"folder,omitempty"` // commands: only in this folder; empty in any
	Prefix bool       `json:"prefix,omitempty"` // commands: Object is how a command may begin
	Deny   bool       `json:"deny,omitempty"`   // forbids instead
	Until  Until      `json:"until,omitempty"`  // empty is Session
}

var kinds = []struct {
	name  string
	class tool.Class
}{
	{"read", tool.ReadFile},
	{"write", tool.WriteFile},
	{"delete", tool.DeleteFile},
	{"shell", tool.RunCommand},
	{"visit", tool.Visit},
	{"send", tool.Send},
	{"script", tool.RunScript},
}

// ParseGrant reads a grant as it is written on a command line: a kind (read,
// write, delete, shell, visit, send, script), a colon and an object, such as
// "visit: https://example.org" or "shell: go test". The object of shell is how
// a command may begin. A leading "deny " forbids.
func ParseGrant(text string) (Grant, error) {
	rest, deny := strings.CutPrefix(strings.TrimSpace(text), "deny ")
	name, object, ok := strings.Cut(rest, ":")
	object = strings.TrimSpace(object)
	for _, k := range kinds {
		if !ok || strings.TrimSpace(name) != k.name {
			continue
		}
		g := Grant{Class: k.class, Object: object, Deny: deny, Until: Session, Prefix: k.class == tool.RunCommand}
		if object == "" {
			return Grant{}, fmt.Errorf("grant %q names nothing after the colon", text)
		}
		switch k.class {
		case tool.ReadFile, tool.WriteFile, tool.DeleteFile:
			if !filepath.IsAbs(object) {
				return Grant{}, fmt.Errorf("grant %q needs a whole path", text)
			}
		case tool.Visit, tool.Send, tool.RunScript:
			site, ok := Site(object)
			if object == "*" {
				site, ok = "*", true
			}
			if !ok {
				return Grant{}, fmt.Errorf("grant %q needs a site such as https://example.org", text)
			}
			g.Object = site
		}
		return g.clean(), nil
	}
	return Grant{}, fmt.Errorf("grant %q is not understood: write read, write, delete, shell, visit, send or script, a colon and what it is for", text)
}

// String writes a grant as ParseGrant reads it.
func (g Grant) String() string {
	text := ""
	if g.Deny {
		text = "deny "
	}
	for _, k := range kinds {
		if k.class == g.Class {
			return text + k.name + ": " + g.Object
		}
	}
	return text + string(g.Class) + ": " + g.Object
}

// Words says in plain English what the grant covers and what still asks.
func (g Grant) Words() string {
	object := g.object()
	switch g.Class {
	case tool.ReadFile, tool.WriteFile, tool.DeleteFile:
		verb := map[tool.Class]string{tool.ReadFile: "Read ", tool.WriteFile: "Write ", tool.DeleteFile: "Delete "}[g.Class]
		if info, err := os.Stat(g.Object); err != nil || !info.IsDir() {
			return verb + object + ". All other files still ask."
		}
		still := "files that run later or may hold secrets"
		switch g.Class {
		case tool.ReadFile:
			still = "files that may hold secrets"
		case tool.WriteFile:
			still = "deleting, and " + still + ","
		}
		return verb + "files in " + object + ". " + strings.ToUpper(still[:1]) + still[1:] + " still ask."
	case tool.RunCommand:
		if g.Object == "*" {
			return "Run " + object + g.where() + "."
		}
		if g.Prefix {
			return "Run plain commands that begin with " + object + g.where() + ". All others still ask."
		}
		return "Run exactly this command again" + g.where() + ". Any other still asks."
	case tool.Visit:
		return "Read all pages of " + object + ". Sending data and running scripts still ask."
	case tool.Send:
		return "Send data to " + object + ". Passwords still ask."
	case tool.RunScript:
		return "Run scripts on pages of " + object + "."
	}
	return string(g.Class) + " " + object
}

// Listed is Words for a list, where no card beside it shows what it is about.
func (g Grant) Listed() string {
	switch {
	case g.Deny:
		verb := map[tool.Class]string{
			tool.ReadFile: "read ", tool.WriteFile: "write ", tool.DeleteFile: "delete ", tool.RunCommand: "run ",
			tool.Visit: "open pages of ", tool.Send: "send data to ", tool.RunScript: "run scripts on pages of ",
		}[g.Class]
		return "Never " + verb + g.object() + g.where() + "."
	case g.Class == tool.RunCommand && !g.Prefix && g.Object != "*":
		return "Run " + g.object() + g.where() + ". Any other command still asks."
	}
	return g.Words()
}

func (g Grant) object() string {
	switch {
	case g.Object == "*" && g.Class == tool.RunCommand:
		return "any command"
	case g.Object == "*":
		return "any site"
	}
	return Visible(g.Object)
}

func (g Grant) where() string {
	if g.Folder == "" {
		return ""
	}
	return " in " + Visible(g.Folder)
}

// clean brings a grant into the form in which claims are compared.
func (g Grant) clean() Grant {
	switch g.Class {
	case tool.ReadFile, tool.WriteFile, tool.DeleteFile:
		g.Object = real(g.Object)
	case tool.Visit, tool.Send, tool.RunScript:
		if site, ok := Site(g.Object); ok {
			g.Object = site
		}
	case tool.RunCommand:
		if g.Folder != "" {
			g.Folder = real(g.Folder)
		}
	}
	if g.Until == "" {
		g.Until = Session
	}
	return g
}

// covers reports whether the grant is about a claim. When exact is set only a
// grant that names the very object counts.
func (g Grant) covers(r Request, c tool.Claim, exact bool) bool {
	class, object := c.Class, c.Object
	if class == tool.Visit {
		if path, ok := filePath(object); ok {
			class, object = tool.ReadFile, path // a file in the browser is a file
		}
	}
	if class != g.Class {
		return false
	}
	switch class {
	case tool.ReadFile, tool.WriteFile, tool.DeleteFile:
		return object == g.Object || !exact && within(g.Object, object)
	case tool.Visit, tool.Send, tool.RunScript:
		site, ok := Site(object)
		return ok && !exact && (site == g.Object || g.Object == "*")
	case tool.RunCommand:
		if g.Folder != "" && g.Folder != c.Detail {
			return false
		}
		return object == g.Object || g.Object == "*" || g.Prefix && begins(object, g.Object, g.Deny)
	}
	return false
}
