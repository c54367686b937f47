//go:build widgettest

package widgettest_test

import "testing"

func TestEveryListOfALibraryIsChosenFrom(t *testing.T) {
	a := page(t, "lists")
	text := a.sees("- Choices one", `combobox [ref=`, `combobox "Red"`, `clickable "red ×"`)
	refs := []string{}
	for _, w := range []string{"- Choices one\n- combobox", "- Choices many\n- combobox", "- Select2 one\n- combobox", "- Select2 many\n- combobox"} {
		refs = append(refs, a.refIn(text, w))
	}
	a.choose(refs[0], []string{"Green"}, `value now "Green"`)
	a.holds("g  r  r red,green")
	a.choose(refs[1], []string{"Blue", "Green"}, "Blue", "Green")
	a.holds("g g,b r  r red,green")
	a.choose(refs[2], []string{"Blue"}, `value now "Blue"`)
	a.choose(refs[3], []string{"blue", "Red"}, "Red", "Blue")
	a.holds("g g,b b r,b r red,green")
	a.choose(a.ref(`combobox "Tom one"`), []string{"Blue"}, `value now "Blue"`)
	a.choose(a.ref(`combobox "Tom tags"`), []string{"violet"}, "violet")
	a.holds("g g,b b r,b b red,green,violet")
	a.click(a.under(`clickable "green ×"`, `button "×"`), "gone")
	a.holds("g g,b b r,b b red,violet")
}

func TestListsOfReactAreChosenFrom(t *testing.T) {
	a := page(t, "react")
	text := a.sees(`heading "One"`, `heading "Many"`, `heading "Found"`)
	one, many, found := a.refIn(text, `heading "One" level 2`+"\n- Select...\n- combobox"), a.refIn(text, `heading "Many" level 2`+"\n- Select...\n- combobox"), a.refIn(text, `heading "Found" level 2`+"\n- Select...\n- combobox")
	a.choose(one, []string{"Banana"}, `value now "Banana"`)
	a.choose(many, []string{"Apple", "Cherry"}, `value now "Apple Cherry"`)
	a.choose(found, []string{"Apricot"}, `value now "Apricot"`)
	a.sees("- Banana", `button "Remove Apple"`, "- Apricot")
	a.stateHas(`"one":"banana","many":["apple","cherry"],"found":"apricot"`)
}

func TestFieldsOfReactKeepWhatIsTyped(t *testing.T) {
	a := page(t, "react")
	a.typeIn(a.ref(`textbox "Name"`), "Ann É 😀", `value now "Ann É 😀"`)
	a.typeIn(a.ref(`textbox "Upper"`), "abc", `value now "ABC", as the field writes it`)
	a.stateHas(`"name":"Ann É 😀","upper":"ABC"`)
}
