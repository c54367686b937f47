package widgettest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func TestListsWithRolesAreChosenFromAndReadBack(t *testing.T) {
	a := page(t, "aria")
	text := a.snap()
	colour := a.refIn(text, `combobox "Colour"`)
	a.choose(colour, []string{"Green"}, `value now "Green"`)
	_, err := a.s.Select(context.Background(), browser.Target{Ref: colour}, []string{"Black"})
	a.fails(err, browser.NotInteractable, "disabled")
	_, err = a.s.Select(context.Background(), browser.Target{Ref: colour}, []string{"Mauve"})
	a.fails(err, browser.NotFound, `it shows "Red", "Green", "Black"`)
	a.choose(a.refIn(text, `combobox "Country"`), []string{"Australia"}, `value now "Australia"`)
	a.choose(a.refIn(text, `listbox "Toppings"`), []string{"Ham", "Olives"}, `value now "Ham, Olives"`, `"Ham" is selected already`)
	a.holds("Green | Australia | Ham,Olives | ")
}

func TestTabsTreesDialogsAndSwitchesTellTheirStates(t *testing.T) {
	a := page(t, "aria")
	text := a.snap()
	a.click(a.refIn(text, `tab "Second"`), `tab "Second"`, "selected", `button "Inside"`)
	a.click(a.refIn(text, `treeitem "src"`), "expanded", `treeitem "main.go"`)
	a.click(a.refIn(text, `switch "Sync"`), "checked")
	opened := a.click(a.refIn(text, `button "Remove"`), `dialog "Sure"`, `button "Yes"`)
	a.click(a.refIn(opened, `button "Yes"`), "Removed")
}

func TestMenusOfMenusAreWalkedDown(t *testing.T) {
	a := page(t, "aria")
	opened := a.click(a.ref(`button "File"`), `menuitem "Open"`, `menuitem "Export"`)
	deeper := a.hover(a.refIn(opened, `menuitem "Export"`), `menuitem "PDF"`)
	a.click(a.refIn(deeper, `menuitem "PDF"`), "PDF done")
}

func TestAFormOfWidgetsIsFilledInOneCall(t *testing.T) {
	a := page(t, "inputs")
	text := a.snap()
	r, err := a.s.Fill(context.Background(), []browser.Field{
		{Ref: a.refIn(text, `textbox "Day"`), Value: "2026-02-03"},
		{Ref: a.refIn(text, `slider "Heat"`), Value: "6"},
		{Ref: a.refIn(text, `checkbox "Newsletter"`), Value: "true"},
		{Ref: a.refIn(text, `radio "Premium"`), Value: "true"},
		{Ref: a.refIn(text, `listbox "Days"`), Value: "Thu"},
		{Ref: a.refIn(text, `textbox "Digit 1"`), Value: "654321"},
		{Ref: a.refIn(text, `textbox "Inner"`), Value: "deep"},
		{Ref: a.refIn(text, `combobox "Free"`), Value: "Paris"},
	}, false)
	a.says(r, err, "Filled 8 of 8", `typed only`, "Paris, France", `value now "654321"`, `value now "6"`)
	a.sees(`date value="2026-02-03"`, `slider "Heat"`, `checkbox "Newsletter"`, `radio "Premium"`, `value="Thu"`, `value="deep"`)
}

// framed shows a page in a frame of another site.
func framed(t *testing.T, name string) *agent {
	t.Helper()
	inner := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	t.Cleanup(inner.Close)
	outer := browsertest.Site(t, map[string]string{"/": `<!doctype html><title>outer</title><h1>Outer</h1><iframe style="width:900px;height:900px" src="` + inner.URL + `/pages/` + name + `.html"></iframe>`})
	a := &agent{t, browsertest.Session(t)}
	browsertest.Open(t, a.s, strings.Replace(outer.URL, "127.0.0.1", "localhost", 1))
	return a
}

func TestWidgetsInAFrameOfAnotherSiteAreOperated(t *testing.T) {
	a := framed(t, "inputs")
	a.typeIn(a.ref(`textbox "Digit 1"`), "123456", `value now "123456"`)
	a.typeIn(a.ref(`textbox "Memo"`), "one\ntwo", `value now "one\ntwo"`)
	a.typeIn(a.ref(`slider "Heat"`), "7", `value now "7"`)
	a.choose(a.ref(`listbox "Days"`), []string{"Mon", "Thu"}, `value now "Mon, Thu"`)
}

func TestDragsInAFrameOfAnotherSiteAreTold(t *testing.T) {
	a := framed(t, "drags")
	text := a.snap()
	a.drag(a.refIn(text, `clickable "North"`), a.refIn(text, `clickable "South"`), nil, "order now: East | South | North")
	a.drag(a.refIn(text, `clickable "Write"`), a.refIn(text, `clickable "Done"`), nil, "order now: Write")
}
