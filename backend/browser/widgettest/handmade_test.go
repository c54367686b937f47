package widgettest_test

import (
	"context"
	"testing"

	"gofer/backend/browser"
)

func TestDragsOfEveryKindTellWhatCameOfThem(t *testing.T) {
	a := page(t, "drags")
	a.drag(a.ref(`clickable "Write"`), a.ref(`clickable "Done"`), nil, `Dragged clickable "Write"`, "order now: Write")
	a.drag("North", "South", nil, "order now: East | South | North")
	a.drag(a.ref(`clickable "col-resize"`), "+80,0", nil, "it moved by 80,0 pixels")
	notes := a.ref(`textbox "Notes"`)
	a.drag(notes+"@100%,100%", "+60,30", nil, "pixels now")
	a.drag("09:30", "10:30", nil, `clickable "09:30"`, `clickable "10:00"`, "] on")
	a.drag(a.ref(`clickable "knob"`), "+150,0", nil, "it moved by", `status "53"`)
	sheet := a.ref(`canvas "Sketch"`)
	a.drag(sheet+"@10%,10%", sheet+"@90%,90%", []string{sheet + "@50%,10%", sheet + "@50%,90%"}, "the picture on the canvas changed")
	a.holds("Check | Write | East,South,North | 230 | 09:30,10:00,10:30 | 53")
}

func TestFieldsThatAreHardToSetAreSetInOneCall(t *testing.T) {
	a := page(t, "inputs")
	for _, c := range []struct{ field, text, want string }{
		{`textbox "Day"`, "2026-02-03", `value now "2026-02-03"`},
		{`textbox "Time"`, "13:45", `value now "13:45"`},
		{`textbox "Month"`, "2026-03", `value now "2026-03"`},
		{`textbox "Week"`, "2026-W07", `value now "2026-W07"`},
		{`textbox "Start"`, "2026-03-04T10:30", `value now "2026-03-04T10:30"`},
		{`button "Colour"`, "#aabbcc", `value now "#aabbcc"`},
		{`slider "Loud"`, "8", `value now "8"`},
		{`textbox "Digit 1"`, "123456", `value now "123456"`},
		{`textbox "Memo"`, "one\ntwo", `value now "one\ntwo"`},
		{`textbox "Price"`, "1234567", `value now "$1,234,567", as the field writes it`},
		{`slider "Heat"`, "7", `value now "7"`},
		{`spinbutton "Guests"`, "5", `value now "5"`},
		{`clickable "Split"`, "30", `value now "30"`},
		{`textbox "Inner"`, "deep", `value now "deep"`},
	} {
		a.typeIn(a.ref(c.field), c.text, c.want)
	}
	_, err := a.s.Type(context.Background(), browser.Typing{Target: browser.Target{Ref: a.ref(`textbox "Vanish"`)}, Text: "x"})
	a.fails(err, browser.NotInteractable, "did not keep the focus")
}

func TestStatesOfHandMadeControlsAreToldAndShown(t *testing.T) {
	a := page(t, "inputs")
	stars := a.all(`clickable "★"`)
	if len(stars) != 5 {
		t.Fatalf("%d stars", len(stars))
	}
	a.click(stars[3], `clickable "★" [ref=`+stars[0]+`] on`)
	a.click(a.ref(`clickable "Dark mode"`), "active")
	a.click(a.ref(`checkbox "Newsletter"`), "checked")
	a.click(a.ref(`radio "Premium"`), "checked")
	a.click(a.ref(`button "+"`), `textbox "Quantity"`, `value="2"`)
	a.sees(`clickable "Dark mode"`, "active", `radio "Premium"`, `value="2"`)
}

func TestNativeListsAreChosenFromByLabelGroupOrValue(t *testing.T) {
	a := page(t, "inputs")
	text := a.sees(`suggests: Apple | Banana`, `options: Mon | Tue | Wed (disabled) | Thu`)
	fruit, days := a.refIn(text, `combobox "Fruit"`), a.refIn(text, `listbox "Days"`)
	a.choose(fruit, []string{"banana"}, `value now "Banana"`)
	a.choose(days, []string{"Mon", "Thu"}, `value now "Mon, Thu"`)
	_, err := a.s.Select(context.Background(), browser.Target{Ref: days}, []string{"Wed"})
	a.fails(err, browser.NotInteractable, "disabled")
	_, err = a.s.Select(context.Background(), browser.Target{Ref: fruit}, []string{"Cherry"})
	a.fails(err, browser.NotFound, "it has Apple | Banana")
}

func TestListsWithoutRolesAreChosenFrom(t *testing.T) {
	a := page(t, "menus")
	a.choose(a.ref(`clickable "Choose a size"`), []string{"Large"}, `value now "Large"`)
	a.choose(a.ref(`clickable "Choose a zone"`), []string{"Zone 47"}, `value now "Zone 47"`)
	a.holds("Large | Zone 47 | ")
}

func TestMenusThatOpenUnderTheMouseAreWalkedDown(t *testing.T) {
	a := page(t, "menus")
	first := a.hover(a.ref(`clickable "Products"`), `link "Screens"`)
	second := a.hover(a.refIn(first, `clickable "Phones"`), `link "Android"`)
	a.click(a.refIn(second, `link "Apple"`), "#apple")
}

func TestContextMenusOpenWithTheRightButton(t *testing.T) {
	a := page(t, "menus")
	r, err := a.s.Click(context.Background(), browser.Click{Target: browser.Target{Ref: a.ref(`clickable "report.txt"`)}, Button: "right"})
	opened := a.says(r, err, "Rename", "Delete")
	a.click(a.refIn(opened, `clickable "Delete"`), "Delete chosen")
}

func TestRowsOfAVirtualListAreRefusedOnceTheyShowSomethingElse(t *testing.T) {
	a := page(t, "menus")
	row := a.ref(`clickable "Row 0"`)
	moved := a.scroll(browser.Scroll{Ref: row, Direction: "down", Amount: 240}, "Row 12")
	_, err := a.s.Click(context.Background(), browser.Click{Target: browser.Target{Ref: row}})
	a.fails(err, browser.Stale, `was clickable "Row 0", now it is clickable "Row 10"`)
	a.click(a.refIn(moved, `clickable "Row 12"`), "Row 12 opened")
}

func TestAnEndlessListGrowsByScrollingToItsEnd(t *testing.T) {
	a := page(t, "menus")
	v, err := a.s.Find(context.Background(), "Entry 9", "", "", 5)
	if err != nil {
		t.Fatal(err)
	}
	last := a.refIn(v.Text, `text "Entry 9"`)
	a.scroll(browser.Scroll{Ref: last, To: "bottom"}, "Entry 15")
}

func TestSlidesAndSectionsOpen(t *testing.T) {
	a := page(t, "menus")
	a.click(a.ref(`clickable "arrow next"`))
	a.click(a.ref(`button "More"`), `button "Deep"`)
	a.click(a.ref(`button "Deep"`), "deep")
}

func TestADragReachesAPlaceThatIsOutOfView(t *testing.T) {
	a := page(t, "longlist")
	a.drag(a.ref(`clickable "Job 2"`), "Job 50", nil, "order now:")
	a.holds("1,3 49,2,50,51")
	a.drag("Job 50", "Job 1", nil, "order now: Job 50 | Job 1 |")
}

func TestOptionsFarDownAVirtualListAreScrolledTo(t *testing.T) {
	a := page(t, "longlist")
	a.choose(a.ref(`combobox "City"`), []string{"City 180"}, `value now "City 180"`)
}
