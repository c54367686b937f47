//go:build widgettest

package widgettest_test

import "testing"

func TestCalendarsOfLibrariesAreOperatedByTheirDays(t *testing.T) {
	a := page(t, "dates")
	opened := a.click(a.ref(`textbox "Flat day"`), `combobox "Month"`, "next month")
	a.click(a.refIn(opened, `clickable "flatpickr next month"`), "February")
	a.click(a.ref(`clickable "February 20, 2026"`), `value="2026-02-20"`)

	a.click(a.ref(`textbox "Flat range"`))
	a.click(a.ref(`clickable "January 23, 2026"`), `value="2026-01-15 to 2026-01-23"`)

	a.click(a.ref(`textbox "Flat time"`))
	a.typeIn(a.ref(`spinbutton "Hour"`), "16")
	a.typeIn(a.ref(`spinbutton "Minute"`), "35")
	a.press("Enter", "")

	a.click(a.ref(`textbox "UI day"`), "January 2026")
	a.click(a.ref(`clickable "Next"`), "February 2026")
	a.click(a.ref(`link "14"`), `value="2026-02-14"`)
	a.holds("2026-02-20 | 2026-01-15 to 2026-01-23 | 16:35 | 2026-02-14")
}

func TestACalendarOfReactIsOperatedByItsCells(t *testing.T) {
	a := page(t, "react")
	a.click(a.ref(`textbox [ref=`), "January 2026")
	a.click(a.ref(`button "Next Month"`), "February 1st, 2026")
	a.click(a.ref(`gridcell "Choose Friday, February 20th, 2026"`))
	a.stateHas(`"date":"Fri Feb 20 2026"`)
}

func TestMasksWriteWhatIsTypedTheirWay(t *testing.T) {
	a := page(t, "masks")
	for _, c := range []struct{ field, text, want string }{
		{"Phone", "9123456789", "+7(912)345-67-89"},
		{"Card", "4111111111111111", "4111 1111 1111 1111"},
		{"Amount", "1234567.5", "1,234,567.5"},
		{"Day", "31122026", "31/12/2026"},
		{"Old mask", "2125551234", "(212) 555-1234"},
	} {
		a.typeIn(a.ref(`textbox "`+c.field+`"`), c.text, `value now "`+c.want+`", as the field writes it`)
	}
	a.holds("+7(912)345-67-89 | 4111 1111 1111 1111 | 1,234,567.5 | 31/12/2026 | (212) 555-1234")
}

func TestHandlesAndCountersOfLibrariesGoWhereTheyShould(t *testing.T) {
	a := page(t, "sliders")
	text := a.sees(`value="20.00"`, `value="80.00"`, `clickable "slider-handle"`, `button "spinner up"`)
	a.typeIn(a.refIn(text, "slider [ref="), "33", `value now "33.00"`)
	a.drag(a.under(`value="33.00"`, "slider [ref="), "-80,0", nil, `value="60.00"`)
	a.drag(a.ref(`clickable "slider-handle"`), "+80,0", nil, "it moved by 80,0 pixels")
	a.typeIn(a.ref("spinbutton"), "7", `value now "7"`)
	a.click(a.ref(`button "spinner up"`), `value="8"`)
	a.holds("33-60 | 50 | 8")
}

func TestSortablesOfLibrariesTellTheOrder(t *testing.T) {
	a := page(t, "sortables")
	a.drag(a.ref(`clickable "One"`), a.ref(`clickable "Three"`), nil, "order now: Two | Three | One | Four")
	a.drag("Tre", "Uno", nil, "order now: Tre | Uno | Due")
	a.drag(a.ref(`clickable "se-resize"`), "+60,40", nil, "212x142 pixels now")
	a.drag("Card", "+100,50", nil, "it moved by 100,50 pixels")
	a.holds("Two,Three,One,Four | Tre,Uno,Due | 212x142 | 100px 50px")
}

func TestASortableOfReactTellsTheOrder(t *testing.T) {
	a := page(t, "react")
	a.drag(a.ref(`button "Alpha"`), a.ref(`button "Gamma"`), nil, "order now: Beta | Gamma | Alpha | Delta")
	a.stateHas(`"items":["Beta","Gamma","Alpha","Delta"]`)
}
