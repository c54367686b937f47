package browser_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func TestActionsRecordWaysToTheirTargetsAndHowThePageLooked(t *testing.T) {
	site := browsertest.Site(t, map[string]string{
		"/":     `<title>Inbox</title><h1>Mail</h1><ul><li>From Ann <button data-testid=del id=x12345 onclick="this.closest('li').remove()">Delete</button><li>From Bob <a href="/next?token=secret">Open</a></ul><input name=q placeholder=Search value=secret>`,
		"/next": `<title>Letter</title><h1>From Bob</h1>`,
	})
	s := browsertest.Session(t)
	browsertest.Open(t, s, site.URL+"/?key=secret")
	snap(t, s, browser.Query{})
	r := click(t, s, "e1")
	if len(r.Record.Targets) != 1 {
		t.Fatalf("record %+v", r.Record)
	}
	var by []string
	for _, l := range r.Record.Targets[0].Locators {
		by = append(by, l.By+" "+l.Value)
	}
	want := []string{"attribute data-testid=del", `role button "Delete"`, "within From Ann Delete", "path body > ul > li:nth-of-type(1) > button"}
	if !slices.Equal(by, want) {
		t.Errorf("got %q\nwant %q", by, want)
	}
	if b, a := r.Record.Before, r.Record.After; b.URL != site.URL+"/" || b.Heading != "Mail" || b.Title != "Inbox" || a.Counts == b.Counts || a.URL != b.URL {
		t.Errorf("fingerprints %+v, %+v", b, a)
	}
	r, err := s.Click(context.Background(), browser.Click{Target: browser.Target{Text: "Open"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Record.After.URL != site.URL+"/next" || r.Record.After.Heading != "From Bob" {
		t.Errorf("after the way to another page: %+v", r.Record.After)
	}
	raw, err := json.Marshal(r.Record)
	if err != nil || strings.Contains(string(raw), "secret") {
		t.Errorf("a record holds what it must not: %s, %v", raw, err)
	}
}

func TestAFormRecordsEachFieldAndNoValue(t *testing.T) {
	s := browsertest.Page(t, `<label>Name <input></label><label>Pin <input type=password></label><label>Colour <select><option>red<option>blue</select></label>`)
	snap(t, s, browser.Query{})
	r, err := s.Fill(context.Background(), []browser.Field{{"e1", "Robin Hood"}, {"e2", "4711"}, {"e3", "blue"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(r.Record)
	if len(r.Record.Targets) != 3 || strings.Contains(string(raw), "Robin") || strings.Contains(string(raw), "4711") {
		t.Errorf("record %s", raw)
	}
}
