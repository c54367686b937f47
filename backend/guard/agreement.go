package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gofer/backend/tool"
)

// An agreement is what an agent proposes to be allowed for one run, before it
// sets out. What the person leaves in it becomes grants that end with the run.
// It carries less than other grants do: nothing in it stands for a secret, for
// what is run later, or for what binds the person.

// Wish is what an agent proposes.
type Wish struct {
	Sites    []SiteWish
	Folders  []FolderWish
	Commands []string // how a command may begin, in the workspace
}

// SiteWish is a site with read, send and script.
type SiteWish struct {
	Site  string
	Kinds []string
}

// FolderWish is a folder with read, write and delete.
type FolderWish struct {
	Path  string
	Kinds []string
}

// How much one agreement may hold, so that a person can read it.
const (
	mostLines   = 24
	longestLine = 300 // bytes
)

// Propose turns a wish into the grants it would be, each a line that the person
// sees, or says what is wrong with it. Nothing is granted by it. What a session
// is allowed already is left out.
func (g *Guard) Propose(r Request, w Wish) ([]Grant, error) {
	var out []Grant
	add := func(n Grant) {
		n.Until = Run
		if n = n.clean(); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, s := range w.Sites {
		if err := g.proposeSite(s, add); err != nil {
			return nil, err
		}
	}
	for _, f := range w.Folders {
		if err := g.proposeFolder(f, add); err != nil {
			return nil, err
		}
	}
	for _, line := range w.Commands {
		prefix, err := proposedCommand(line)
		if err != nil {
			return nil, err
		}
		add(Grant{Class: tool.RunCommand, Object: prefix, Folder: r.Workspace, Prefix: true})
	}
	if len(out) > mostLines {
		return nil, fmt.Errorf("it has %d lines; %d are the most a person can be asked to read at once", len(out), mostLines)
	}
	if i := slices.IndexFunc(out, func(n Grant) bool { return r.Mode == ModePlan && n.Class != tool.Visit && n.Class != tool.ReadFile }); i >= 0 {
		return nil, fmt.Errorf("in Plan mode nothing is changed, sent or run, whatever is agreed on; leave out %q", out[i].String())
	}
	return g.notHeld(r.Session, out), nil
}

func (g *Guard) proposeSite(s SiteWish, add func(Grant)) error {
	site, ok := Site(s.Site)
	switch {
	case strings.Contains(s.Site, "*"):
		return fmt.Errorf("%s is no single site; name each one in full, such as https://example.org", quoted(s.Site))
	case !ok || len(site) > longestLine:
		return fmt.Errorf("%s is no site; write it like https://example.org", quoted(s.Site))
	}
	kinds, err := kindsOf(s.Kinds, s.Site, map[string]tool.Class{"read": tool.Visit, "send": tool.Send, "script": tool.RunScript})
	if err != nil {
		return err
	}
	add(Grant{Class: tool.Visit, Object: site}) // whoever sends there looks there
	for _, class := range kinds {
		add(Grant{Class: class, Object: site})
	}
	return nil
}

func (g *Guard) proposeFolder(f FolderWish, add func(Grant)) error {
	name := quoted(f.Path)
	switch {
	case strings.ContainsAny(f.Path, "*?") || strings.ContainsRune(f.Path, 0) || !utf8.ValidString(f.Path):
		return fmt.Errorf("%s is no single folder; name each one in full", name)
	case !filepath.IsAbs(f.Path) || len(f.Path) > longestLine:
		return fmt.Errorf("%s is no whole path; write folders from the root on", name)
	}
	kinds, err := kindsOf(f.Kinds, f.Path, map[string]tool.Class{"read": tool.ReadFile, "write": tool.WriteFile, "delete": tool.DeleteFile})
	if err != nil {
		return err
	}
	dir := real(f.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder that is there", name)
	}
	_, narrow := folderOf(dir)
	inside := filepath.Join(dir, "file")
	switch {
	case g.closed(dir):
		return fmt.Errorf("%s belongs to the app itself and is closed to tools", name)
	case !narrow:
		return fmt.Errorf("%s holds the whole home folder or more; name the folders in it that are needed", name)
	case Secret(dir) || Secret(inside):
		return fmt.Errorf("%s may hold passwords or keys, for which an agreement never stands", name)
	}
	for _, class := range kinds {
		if class != tool.ReadFile && (RunsLater(dir) || RunsLater(inside)) {
			return fmt.Errorf("what is in %s is run later by itself, so changes in it are asked for one by one", name)
		}
		add(Grant{Class: class, Object: dir})
	}
	return nil
}

func proposedCommand(line string) (string, error) {
	line = strings.TrimSpace(line)
	words, ok := plain(line, false, nil)
	if !ok || len(words) != 1 || len(line) > longestLine {
		return "", fmt.Errorf("%s is no plain beginning of a command, such as go test", quoted(line))
	}
	if !begins(line, line, false) {
		return "", fmt.Errorf("%s runs other programs or is named by its place, so it says nothing about what would run", quoted(line))
	}
	return line, nil
}

// kindsOf reads the kinds of a line; none is read.
func kindsOf(kinds []string, of string, known map[string]tool.Class) ([]tool.Class, error) {
	if len(kinds) == 0 {
		kinds = []string{"read"}
	}
	var out []tool.Class
	for _, k := range kinds {
		class, ok := known[k]
		if !ok {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			return nil, fmt.Errorf("%s is no kind for %s; there are %s", quoted(k), quoted(of), strings.Join(names, ", "))
		}
		out = append(out, class)
	}
	return out, nil
}

// quoted names a part of a wish in a sentence, however long or odd it is.
func quoted(s string) string {
	if r := []rune(Visible(s)); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// notHeld leaves out what a session is allowed for longer than a run.
func (g *Guard) notHeld(session string, list []Grant) []Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	held := append(slices.Clone(g.options.Always), g.grants[session]...)
	return slices.DeleteFunc(list, func(n Grant) bool {
		return slices.ContainsFunc(held, func(h Grant) bool {
			return !h.Deny && h.Until == Session && h.Class == n.Class && h.Object == n.Object && (h.Folder == "" || h.Folder == n.Folder)
		})
	})
}

// EndRun drops all that was allowed for a run of a session, and its counts.
func (g *Guard) EndRun(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grants[session] = slices.DeleteFunc(g.grants[session], func(h Grant) bool { return h.Until == Run })
	if len(g.grants[session]) == 0 {
		delete(g.grants, session)
	}
	for h := range g.used[session] {
		if h.Until == Run {
			delete(g.used[session], h)
		}
	}
}

// Agreed says in plain English what a line of an agreement covers.
func (g Grant) Agreed() string {
	switch g.Class {
	case tool.Visit:
		text := "Read all pages of " + g.object() + "."
		if private(g.Object) {
			text += " It is this computer or its network."
		}
		return text
	case tool.Send:
		return "Send data to " + g.object() + ". Passwords, and what pays, orders, signs or accepts, still ask."
	case tool.RunScript:
		return "Run scripts on pages of " + g.object() + ". A script can do all that the page can."
	}
	return g.Listed()
}

// Words that go with paying, ordering, signing and consenting, and with who one
// is. A form that shows one of them may bind the person, so no agreement stands
// for it. They tell what a form says of itself, not what it does.
var bindingWords = words(`
pay payment buy purchase order checkout subscribe donate transfer book reserve bid
sign signature accept agree consent terms contract authorize authorise allow grant approve confirm
password passcode otp pin card cardnumber cvc cvv iban bic passport ssn identity oauth
bezahlen zahlen zahlung kaufen bestellen buchen abonnieren spenden unterschreiben zustimmen akzeptieren passwort kennwort konto bestätigen
payer acheter commander réserver signer accepter
pagar comprar pedir reservar firmar aceptar
pagare acquistare ordinare firmare accettare`)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// binds reports whether a deed may pay, order, sign, accept or identify, as far
// as its button, its fields and its address say.
func binds(c tool.Claim) bool {
	if c.Class != tool.Send {
		return false
	}
	said := []string{c.Object, c.Detail}
	for _, f := range c.Fields {
		if f.Secret {
			return true
		}
		said = append(said, f.Label)
	}
	for _, text := range said {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if bindingWords[w] {
				return true
			}
		}
	}
	return false
}
