//go:build uitest

package uitest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"
)

// Element is one thing on the page.
type Element struct {
	page *Page
	what string
	rod  *rod.Element
}

// ByRole waits for the one thing with that accessible role and name, such as
// button "Send". A name that two things have is an error of the page.
func (p *Page) ByRole(role, name string) Element {
	p.t.Helper()
	return p.one(nil, role, exactly(name))
}

// ByRolePart is ByRole for a thing whose name only contains part, such as a row
// that also says how long something took.
func (p *Page) ByRolePart(role, part string) Element {
	p.t.Helper()
	return p.one(nil, role, containing(part))
}

// ByRole waits for the one thing in e with that role and name.
func (e Element) ByRole(role, name string) Element {
	e.page.t.Helper()
	return e.page.one(&e, role, exactly(name))
}

// ByRolePart waits for the one thing in e whose name contains part.
func (e Element) ByRolePart(role, part string) Element {
	e.page.t.Helper()
	return e.page.one(&e, role, containing(part))
}

// ByCSS waits for the one thing that a selector finds and whose text contains part.
func (p *Page) ByCSS(selector, part string) Element {
	p.t.Helper()
	found := Element{page: p, what: fmt.Sprintf("%s with %q", selector, part)}
	p.Wait(found.what, func() error {
		all, err := p.rod.Elements(selector)
		if err != nil {
			return err
		}
		found.rod = nil
		for _, e := range all {
			text, err := e.Text()
			switch {
			case err != nil:
				return err
			case !strings.Contains(text, part):
			case found.rod != nil:
				return errors.New("there are two")
			default:
				found.rod = e
			}
		}
		if found.rod == nil {
			return errors.New("there is none")
		}
		return nil
	})
	return found
}

// Gone waits until there is no such thing.
func (p *Page) Gone(role, name string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("%s %q to go", role, name), func() error {
		ids, err := p.named(nil, role, exactly(name))
		if err == nil && len(ids) > 0 {
			err = errors.New("it is still there")
		}
		return err
	})
}

// Count returns how many things have that role and name now.
func (p *Page) Count(role, name string) int {
	p.t.Helper()
	ids, err := p.named(nil, role, exactly(name))
	p.must("count "+role, err)
	return len(ids)
}

// wanted is what a name has to be.
type wanted struct {
	name string
	part bool
}

func exactly(name string) wanted    { return wanted{name: name} }
func containing(name string) wanted { return wanted{name: name, part: true} }

func (p *Page) one(in *Element, role string, name wanted) Element {
	p.t.Helper()
	what := fmt.Sprintf("%s %q", role, name.name)
	if in != nil {
		what += " in " + in.what
	}
	var found Element
	p.Wait(what, func() error {
		ids, err := p.named(in, role, name)
		switch {
		case err != nil:
			return err
		case len(ids) == 0:
			return errors.New("there is none")
		case len(ids) > 1:
			return fmt.Errorf("there are %d", len(ids))
		}
		node, err := proto.DOMResolveNode{BackendNodeID: ids[0]}.Call(p.rod)
		if err != nil {
			return err
		}
		e, err := p.rod.ElementFromObject(node.Object)
		found = Element{page: p, what: what, rod: e}
		return err
	})
	return found
}

// named asks the browser's accessibility tree.
func (p *Page) named(in *Element, role string, name wanted) ([]proto.DOMBackendNodeID, error) {
	query := proto.AccessibilityQueryAXTree{Role: role}
	if !name.part {
		query.AccessibleName = name.name
	}
	if in != nil {
		query.ObjectID = in.rod.Object.ObjectID
	} else {
		document, err := proto.DOMGetDocument{}.Call(p.rod)
		if err != nil {
			return nil, err
		}
		query.BackendNodeID = document.Root.BackendNodeID
	}
	tree, err := query.Call(p.rod)
	if err != nil {
		return nil, err
	}
	var ids []proto.DOMBackendNodeID
	for _, n := range tree.Nodes {
		if n.Ignored || n.BackendDOMNodeID == 0 {
			continue
		}
		if name.part && (n.Name == nil || !strings.Contains(n.Name.Value.Str(), name.name)) {
			continue
		}
		ids = append(ids, n.BackendDOMNodeID)
	}
	return ids, nil
}

// Click presses the mouse on it, or on its label where that is what one sees:
// of a hidden box, or of one whose mark is drawn by a style and hides it from
// the look at what is there.
func (e Element) Click() {
	e.page.t.Helper()
	target := e.rod
	if labelled, err := e.rod.Eval(`function () { return (this.offsetWidth < 2 || this.type === 'checkbox') && this.labels?.length === 1 }`); err == nil && labelled.Value.Bool() {
		label, err := e.rod.ElementByJS(rod.Eval(`function () { return this.labels[0] }`))
		e.page.must("find the label of "+e.what, err)
		target = label
	}
	e.page.must("click "+e.what, target.Timeout(patience).Click(proto.InputMouseButtonLeft, 1))
}

// DragTo presses the button on the element and lets it go over another one.
func (e Element) DragTo(to Element) {
	e.page.t.Helper()
	from, err := e.rod.Timeout(patience).WaitInteractable()
	e.page.must("find a place on "+e.what, err)
	shape, err := to.rod.Shape()
	e.page.must("find a place on "+to.what, err)
	mouse := e.page.rod.Mouse
	e.page.must("point at "+e.what, mouse.MoveTo(*from))
	e.page.must("press on "+e.what, mouse.Down(proto.InputMouseButtonLeft, 1))
	e.page.must("drag to "+to.what, mouse.MoveLinear(*shape.OnePointInside(), 5))
	e.page.must("let go over "+to.what, mouse.Up(proto.InputMouseButtonLeft, 1))
}

// Type replaces what a field holds.
func (e Element) Type(text string) {
	e.page.t.Helper()
	field := e.rod.Timeout(patience)
	e.page.must("select the text of "+e.what, field.SelectAllText())
	e.page.must("type into "+e.what, field.Input(text))
}

// Text returns what it shows.
func (e Element) Text() string {
	e.page.t.Helper()
	got, err := e.rod.Text()
	e.page.must("read "+e.what, err)
	return got
}

// WaitText waits until it shows a text.
func (e Element) WaitText(want string) {
	e.page.t.Helper()
	e.page.Wait(fmt.Sprintf("%s to say %q", e.what, want), func() error {
		got, err := e.rod.Text()
		if err == nil && !strings.Contains(got, want) {
			err = fmt.Errorf("it says %q", got)
		}
		return err
	})
}

// Focus gives it the keys.
func (e Element) Focus() {
	e.page.t.Helper()
	e.page.must("focus "+e.what, e.rod.Focus())
}

// Eval runs a function with the thing as this and returns what it says.
func (e Element) Eval(function string) string {
	e.page.t.Helper()
	got, err := e.rod.Eval(function)
	e.page.must("ask "+e.what, err)
	return got.Value.String()
}

// WaitIs waits until an attribute has that value.
func (e Element) WaitIs(attribute, want string) {
	e.page.t.Helper()
	e.page.Wait(fmt.Sprintf("%s of %s to be %q", attribute, e.what, want), func() error {
		got, err := e.rod.Attribute(attribute)
		switch {
		case err != nil:
			return err
		case got == nil:
			return errors.New("it has none")
		case *got != want:
			return fmt.Errorf("it is %q", *got)
		}
		return nil
	})
}
