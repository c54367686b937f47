// Package guard is the one permission function in front of every tool call. It
// judges what a call claims to do, never the name of the tool, and what it
// cannot judge it asks about.
//
// Deny beats ask beats allow. Nothing a model says changes a verdict: modes
// and grants come from the person. Where the app's own data is touched the
// answer is no in every mode.
package guard

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gofer/backend/tool"
)

// Mode is how much a session may do without asking.
type Mode string

// The modes there are today. An unknown one is judged like ModeAsk.
const (
	ModePlan Mode = "plan"
	ModeAsk  Mode = "ask"
	ModeAuto Mode = "auto"
	ModeFull Mode = "full"
)

// Decision is the answer of the guard.
type Decision string

// The decisions, from mild to strict.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Options are what holds for every session.
type Options struct {
	Protected []string    // folders of the app itself: denied always
	Shared    []string    // folders within them that are open all the same, such as downloads
	Always    []Grant     // hold in every session, such as those of a command line
	Sandbox   func() bool // whether commands can be run in a sandbox; nil says no
}

// Request is one call to judge.
type Request struct {
	Session   string
	Mode      Mode
	Workspace string
	Tool      string
	Claims    []tool.Claim
	Taint     string // where the last outside text the run has read came from; empty without
}

// Verdict is what the guard says to a call.
type Verdict struct {
	Decision Decision
	Why      string  // a plain sentence; for Deny it is told to the model
	Grants   []Grant // what Allow for this session would store; empty when that cannot be offered
	Words    string  // the same in plain English, and what would still ask
	Missing  string  // the grants that were missing, as ParseGrant reads them
	Sandbox  bool    // Allow holds for a command that is run in the sandbox
	By       []Grant // what Allow rests on; empty where the mode allows it
	Alone    bool    // Ask is about something for which no agreement may stand
}

// Guard judges calls and keeps the grants of sessions. It is safe for use by
// several goroutines.
type Guard struct {
	options Options
	windows bool // commands are for cmd, which is not parsed here, so none is free
	mu      sync.Mutex
	grants  map[string][]Grant
	used    map[string]map[Grant]int // how often each grant of a session was needed
}

// New makes a guard without session grants.
func New(o Options) *Guard {
	o.Always = slices.Clone(o.Always)
	for i := range o.Always {
		o.Always[i] = o.Always[i].clean()
	}
	return &Guard{options: o, windows: runtime.GOOS == "windows", grants: map[string][]Grant{}, used: map[string]map[Grant]int{}}
}

// ruling is the answer for one claim before grants are looked at.
type ruling struct {
	decision Decision
	why      string
	grant    Grant // what a session grant would be
	offered  bool  // whether that may be offered
	exact    bool  // only a grant for exactly this object covers it
	boxed    bool  // it is allowed in the sandbox
}

func allow() ruling         { return ruling{decision: Allow} }
func ask(why string) ruling { return ruling{decision: Ask, why: why} }

// or offers a grant; by only names the one that would do, for the settings and
// the command line; only lets no wider grant count.
func (r ruling) or(g Grant) ruling { r.grant, r.offered = g, true; return r }
func (r ruling) by(g Grant) ruling { r.grant = g; return r }
func (r ruling) only() ruling      { r.exact = true; return r }

// policies say how a mode judges a claim that nothing forbids.
var policies = map[Mode]func(*Guard, Request, tool.Claim) ruling{
	ModePlan: (*Guard).planning,
	ModeAuto: (*Guard).trusting,
	ModeAsk:  (*Guard).asking,
	ModeFull: func(*Guard, Request, tool.Claim) ruling { return allow() },
}

// Check judges a call by all it claims. The strictest answer wins. A grant for
// once is used up by the check that needed it and allowed the call.
func (g *Guard) Check(r Request) Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.Workspace = real(r.Workspace)
	policy, ok := policies[r.Mode]
	if !ok {
		policy = (*Guard).asking
	}
	held := append(slices.Clone(g.options.Always), g.grants[r.Session]...)
	v := Verdict{Decision: Allow}
	offer, tainted := true, false
	var used []Grant
	var words, missing, whys []string
	for _, c := range r.Claims {
		if why := g.forbidden(r, c); why != "" {
			return Verdict{Decision: Deny, Why: why, Missing: "none can be given"}
		}
		if r.Mode != ModeFull {
			if i := slices.IndexFunc(held, func(h Grant) bool { return h.Deny && h.covers(r, c, false) }); i >= 0 {
				return Verdict{Decision: Deny, Why: "A rule of yours denies it: " + held[i].String() + ".", Missing: "none can be given"}
			}
		}
		ruled := policy(g, r, c)
		if ruled.decision == Allow {
			v.Sandbox = v.Sandbox || ruled.boxed
			continue
		}
		if ruled.decision == Deny {
			return Verdict{Decision: Deny, Why: ruled.why, Missing: "ask mode"}
		}
		tainted = tainted || acts(c.Class)
		alone := ruled.exact || binds(c)
		covers := func(h Grant) bool { return !h.Deny && h.covers(r, c, ruled.exact) && h.standsAfter(r.Taint, c) }
		if i := slices.IndexFunc(held, func(h Grant) bool { return covers(h) && (h.Until != Run || !alone) }); i >= 0 {
			used = append(used, held[i])
			continue
		}
		if slices.ContainsFunc(held, covers) {
			ruled.why += " It may pay, order, sign or accept something, which what was agreed on for this run does not cover."
		}
		v.Decision, v.Alone = Ask, v.Alone || alone || !ruled.grant.standsAfter(r.Taint, c)
		if !slices.Contains(whys, ruled.why) {
			whys = append(whys, ruled.why)
		}
		if !ruled.offered {
			offer = false
			need := "full mode"
			if ruled.grant != (Grant{}) {
				need = ruled.grant.String()
			}
			missing = append(missing, need)
			continue
		}
		if !slices.Contains(v.Grants, ruled.grant) {
			v.Grants = append(v.Grants, ruled.grant)
			words = append(words, ruled.grant.Words())
			missing = append(missing, ruled.grant.String())
		}
	}
	if tainted && r.Taint != "" {
		whys = append(whys, After(r.Taint))
	}
	v.Why, v.Missing = strings.Join(whys, " "), strings.Join(missing, ", ")
	if v.Decision == Allow {
		g.use(r.Session, used)
		v.By = used
		return v
	}
	if !offer {
		v.Grants = nil
	} else {
		v.Words = strings.Join(words, " ")
	}
	return v
}

// Grant stores what the person allowed, or denied, for a session.
func (g *Guard) Grant(session string, grants ...Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range grants {
		if n = n.clean(); !slices.Contains(g.grants[session], n) {
			g.grants[session] = append(g.grants[session], n)
		}
	}
}

// GrantsOf lists the grants of a session, oldest first.
func (g *Guard) GrantsOf(session string) []Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.grants[session])
}

// Revoke takes a grant of a session back.
func (g *Guard) Revoke(session string, grant Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	grant = grant.clean()
	g.grants[session] = slices.DeleteFunc(g.grants[session], func(h Grant) bool { return h == grant })
}

// Forget drops all grants of a session, such as when it is deleted.
func (g *Guard) Forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.grants, session)
	delete(g.used, session)
}

// Used counts how often the grants of a session were needed. Count sets where
// the counting of one goes on, as after a restart.
func (g *Guard) Used(session string) map[Grant]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.used[session])
}

// Count sets how often a grant of a session was needed so far.
func (g *Guard) Count(session string, grant Grant, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(session, grant.clean(), n)
}

func (g *Guard) count(session string, grant Grant, n int) {
	if g.used[session] == nil {
		g.used[session] = map[Grant]int{}
	}
	g.used[session][grant] = n
}

func (g *Guard) use(session string, used []Grant) {
	for _, u := range used {
		if slices.Contains(g.grants[session], u) {
			g.count(session, u, g.used[session][u]+1)
		}
	}
	g.grants[session] = slices.DeleteFunc(g.grants[session], func(h Grant) bool {
		return h.Until == Once && slices.Contains(used, h)
	})
	if len(g.grants[session]) == 0 {
		delete(g.grants, session)
	}
}

// forbidden says why a claim is denied in every mode, or "".
func (g *Guard) forbidden(r Request, c tool.Claim) string {
	const own = "This belongs to the app itself and is closed to tools."
	switch c.Class {
	case tool.ReadFile, tool.WriteFile, tool.DeleteFile:
		if g.closed(c.Object) {
			return own
		}
	case tool.Visit, tool.Send, tool.RunScript:
		if path, ok := filePath(c.Object); ok && g.closed(path) {
			return own
		}
	case tool.RunCommand:
		if g.closed(c.Detail) || !g.windows && g.names(c.Object, c.Detail) {
			return own
		}
	}
	return ""
}

// planning is the Plan row: it looks where Ask would let it look, and does
// nothing else.
func (g *Guard) planning(r Request, c tool.Claim) ruling {
	switch c.Class {
	case tool.ReadFile, tool.Visit:
		return g.asking(r, c)
	}
	return ruling{decision: Deny, why: "In Plan mode nothing is changed, sent or run."}
}

// asking is the Ask row: reading in the workspace is free, the rest asks.
func (g *Guard) asking(r Request, c tool.Claim) ruling {
	switch c.Class {
	case tool.ReadFile:
		return g.askRead(r, c.Object)
	case tool.WriteFile, tool.DeleteFile:
		return g.askChange(r, c)
	case tool.RunCommand:
		if !g.windows && g.readOnly(r, c) {
			return allow()
		}
		return ask("It runs a command with your rights.").or(Grant{Class: tool.RunCommand, Object: c.Object, Folder: c.Detail, Until: Session})
	case tool.Visit:
		return g.askVisit(c.Object)
	case tool.Send:
		site, ok := Site(c.Object)
		if slices.ContainsFunc(c.Fields, func(f tool.Field) bool { return f.Secret }) {
			return ask("It sends a password or another secret.").only()
		}
		if !ok {
			return ask("It sends data to an address that cannot be judged.")
		}
		return ask("It sends data to " + site + ".").or(Grant{Class: tool.Send, Object: site, Until: Session})
	case tool.RunScript:
		site, ok := Site(c.Object)
		if !ok {
			return ask("It runs a script on a page that cannot be judged.")
		}
		return ask("It runs a script on a page of " + site + ".").or(Grant{Class: tool.RunScript, Object: site, Until: Session})
	}
	return ask("It does something of a kind that is not known here.")
}

func (g *Guard) askRead(r Request, path string) ruling {
	exact := Grant{Class: tool.ReadFile, Object: path, Until: Session}
	switch {
	case Secret(path):
		return ask("It may hold passwords or keys.").or(exact).only()
	case within(r.Workspace, path) || g.shared(path):
		return allow()
	}
	outside := ask("It is outside the workspace.")
	if folder, ok := folderOf(path); ok {
		return outside.or(Grant{Class: tool.ReadFile, Object: folder, Until: Session})
	}
	return outside.by(exact)
}

func (g *Guard) askChange(r Request, c tool.Claim) ruling {
	exact := Grant{Class: c.Class, Object: c.Object, Until: Session}
	switch {
	case RunsLater(c.Object):
		return ask("What is in this file is run later by itself.").by(exact).only()
	case Secret(c.Object):
		return ask("It may hold passwords or keys.").or(exact).only()
	case within(r.Workspace, c.Object) && c.Object != r.Workspace:
		why := "It changes a file in the workspace."
		if c.Class == tool.DeleteFile {
			why = "It deletes something in the workspace."
		}
		return ask(why).or(Grant{Class: c.Class, Object: r.Workspace, Until: Session})
	}
	why := "It changes something outside the workspace."
	if c.Class == tool.DeleteFile {
		why = "It deletes something outside the workspace."
	}
	return ask(why).or(exact)
}

func (g *Guard) askVisit(raw string) ruling {
	if strings.TrimSpace(raw) == "about:blank" {
		return allow()
	}
	if path, ok := filePath(raw); ok {
		return ask("It opens a file of this computer in the browser.").or(Grant{Class: tool.ReadFile, Object: path, Until: Session}).only()
	}
	site, ok := Site(raw)
	if !ok {
		return ask("The address cannot be judged.")
	}
	return ask("It is the first visit of " + site + ".").or(Grant{Class: tool.Visit, Object: site, Until: Session})
}
