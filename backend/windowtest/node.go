//go:build linux && windowtest

package windowtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
)

// Role is an AT-SPI role. WebKit gives numbers only, no role names.
type Role uint32

// The roles that tests look for. Any stands for all of them.
const (
	Any          Role = 0
	CheckBox     Role = 7
	ComboBox     Role = 11
	Dialog       Role = 16
	Frame        Role = 23
	List         Role = 31
	ListItem     Role = 32
	Panel        Role = 39
	Button       Role = 43
	RadioButton  Role = 44
	StatusBar    Role = 54
	ToggleButton Role = 62
	Entry        Role = 79
	Heading      Role = 83
	Link         Role = 88
	Document     Role = 95
	Article      Role = 109
	Region       Role = 110
)

// AT-SPI states.
const (
	enabled = 8
	focused = 12
)

// Node is one accessible object of a window. It may vanish at any time; every
// method then returns an error, and the caller looks again.
type Node struct {
	conn *dbus.Conn
	bus  string
	path dbus.ObjectPath
}

const iface = "org.a11y.atspi."

func (n Node) call(ctx context.Context, method string, args ...any) *dbus.Call {
	return n.conn.Object(n.bus, n.path).CallWithContext(ctx, iface+method, 0, args...)
}

func (n Node) property(name string, into any) error {
	return n.conn.Object(n.bus, n.path).StoreProperty(iface+name, into)
}

// Role returns what kind of thing it is.
func (n Node) Role(ctx context.Context) (Role, error) {
	var r uint32
	err := n.call(ctx, "Accessible.GetRole").Store(&r)
	return Role(r), err
}

// Name returns its accessible name.
func (n Node) Name() (string, error) {
	var s string
	err := n.property("Accessible.Name", &s)
	return s, err
}

// Focused reports whether keys go to it.
func (n Node) Focused(ctx context.Context) (bool, error) { return n.is(ctx, focused) }

// Enabled reports whether it can be used now.
func (n Node) Enabled(ctx context.Context) (bool, error) { return n.is(ctx, enabled) }

func (n Node) is(ctx context.Context, state int) (bool, error) {
	var states []uint32
	err := n.call(ctx, "Accessible.GetState").Store(&states)
	return len(states) > 0 && states[0]&(1<<state) != 0, err
}

// Children returns what lies directly in it. Where a window holds a web page,
// the list is empty although a count is given, so each child is asked for.
func (n Node) Children(ctx context.Context) ([]Node, error) {
	type reference struct {
		Bus  string
		Path dbus.ObjectPath
	}
	var refs []reference
	if err := n.call(ctx, "Accessible.GetChildren").Store(&refs); err != nil || len(refs) == 0 {
		var count int32
		if err := n.property("Accessible.ChildCount", &count); err != nil {
			return nil, err
		}
		refs = nil
		for i := range count {
			var r reference
			if err := n.call(ctx, "Accessible.GetChildAtIndex", i).Store(&r); err != nil {
				return nil, err
			}
			refs = append(refs, r)
		}
	}
	var nodes []Node
	for _, r := range refs {
		if r.Path != "/org/a11y/atspi/null" {
			nodes = append(nodes, Node{conn: n.conn, bus: r.Bus, path: r.Path})
		}
	}
	return nodes, nil
}

// walk visits n and everything in it, depth first, until visit returns false.
// What vanishes meanwhile is passed over.
func (n Node) walk(ctx context.Context, depth int, visit func(Node, int) bool) bool {
	if ctx.Err() != nil || !visit(n, depth) {
		return false
	}
	children, err := n.Children(ctx)
	if err != nil {
		return true
	}
	for _, c := range children {
		if !c.walk(ctx, depth+1, visit) {
			return false
		}
	}
	return true
}

// Find returns the first thing in n with that role and name.
func (n Node) Find(ctx context.Context, role Role, name string) (Node, error) {
	return n.find(ctx, role, fmt.Sprintf("named %q", name), func(s string) bool { return s == name })
}

// FindPart returns the first thing in n with that role whose name contains part.
func (n Node) FindPart(ctx context.Context, role Role, part string) (Node, error) {
	return n.find(ctx, role, fmt.Sprintf("with %q in its name", part), func(s string) bool { return strings.Contains(s, part) })
}

func (n Node) find(ctx context.Context, role Role, what string, fits func(name string) bool) (Node, error) {
	var found *Node
	n.walk(ctx, 0, func(c Node, _ int) bool {
		if r, err := c.Role(ctx); err != nil || role != Any && r != role {
			return true
		}
		if s, err := c.Name(); err != nil || !fits(s) {
			return true
		}
		found = &c
		return false
	})
	if found == nil {
		return Node{}, fmt.Errorf("there is no thing of role %d %s", role, what)
	}
	return *found, nil
}

// embedded stands in a text for a child that has a text of its own.
const embedded = "\ufffc"

// Text returns what can be read in n, one line for each thing in it.
func (n Node) Text(ctx context.Context) string {
	var lines []string
	n.walk(ctx, 0, func(c Node, _ int) bool {
		if s := c.ownText(ctx); s != "" {
			lines = append(lines, s)
		}
		return true
	})
	return strings.Join(lines, "\n")
}

func (n Node) ownText(ctx context.Context) string {
	var s string
	var offers []string
	err := n.call(ctx, "Accessible.GetInterfaces").Store(&offers)
	if err == nil && slices.Contains(offers, iface+"Text") {
		err = n.call(ctx, "Text.GetText", int32(0), int32(-1)).Store(&s)
	} else if err == nil {
		s, err = n.Name()
	}
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(s, embedded, ""))
}

// Extents returns where it is on the screen.
func (n Node) Extents(ctx context.Context) (x, y, width, height int, err error) {
	var r struct{ X, Y, W, H int32 }
	err = n.call(ctx, "Component.GetExtents", uint32(0)).Store(&r)
	return int(r.X), int(r.Y), int(r.W), int(r.H), err
}

// Do performs its first action, which for a button is a click that needs no
// mouse and no free sight.
func (n Node) Do(ctx context.Context) error {
	var done bool
	if err := n.call(ctx, "Action.DoAction", int32(0)).Store(&done); err != nil {
		return err
	}
	if !done {
		return fmt.Errorf("%s has no action", n.path)
	}
	return nil
}

// All returns every thing in n with that role.
func (n Node) All(ctx context.Context, role Role) []Node {
	var all []Node
	n.walk(ctx, 0, func(c Node, _ int) bool {
		if r, err := c.Role(ctx); err == nil && r == role {
			all = append(all, c)
		}
		return true
	})
	return all
}

// Address returns the address of a document.
func (n Node) Address(ctx context.Context) (string, error) {
	var s string
	err := n.call(ctx, "Document.GetAttributeValue", "URI").Store(&s)
	return s, err
}

// Tree writes down everything in n, for the message of a failed test.
func (n Node) Tree(ctx context.Context) string {
	var b strings.Builder
	n.walk(ctx, 0, func(c Node, depth int) bool {
		role, _ := c.Role(ctx)
		name, _ := c.Name()
		fmt.Fprintf(&b, "%s%d %q", strings.Repeat("  ", depth), role, name)
		if s := c.ownText(ctx); s != name {
			fmt.Fprintf(&b, " text %q", s)
		}
		b.WriteByte('\n')
		return true
	})
	return b.String()
}
