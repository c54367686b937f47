package browse_test

import (
	"fmt"
	"strings"
	"testing"

	"gofer/backend/browser/browsertest"
)

func TestExtractReadsLikeRowsAsATable(t *testing.T) {
	s := browsertest.Page(t, `<title>Shop</title><div id=list>
<div class=card><h3>Green | tea</h3><b class=price data-cents=450>4.50</b><a href="/tea">Buy</a><input value=2></div>
<div class="card sale"><h3>Coffee</h3><a href="/coffee">Buy</a><input type=password value=hush></div>
<div class=card style="display:none"><h3>Ghost</h3></div><div class=card>nothing here</div></div>
<ul id=u><li><a href="#a">One</a></li><li><a href="#b">Two</a></li></ul>`)
	b := box(s)
	page, _, _ := s.Page()
	got := run(t, b, "browser_extract", `{"rows":".card","fields":{"title":"h3","price":".price","cents":".price@data-cents","link":"a@href","n":"value","none":"h6"}}`).Text
	want := `<outside from="` + page + `">
title | price | cents | link | n | none
Green \| tea | 4.50 | 450 | ` + page + `tea | 2 | 
Coffee |  |  | ` + page + `coffee | •••• | 
</outside>
Nothing found for none (h6). 1 rows without any of the fields left out. 1 hidden rows left out.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	snapshot := run(t, b, "browser_snapshot", `{}`).Text
	_, ref, _ := strings.Cut(snapshot, `link "Two" [ref=`)
	ref, _, _ = strings.Cut(ref, "]")
	got = run(t, b, "browser_extract", `{"rows":"`+ref+`","fields":{"what":"text","to":"href"}}`).Text
	if !strings.Contains(got, "what | to\nOne | "+page+"#a\nTwo | "+page+"#b\n") {
		t.Errorf("rows around %s:\n%s", ref, got)
	}
	for args, want := range map[string]string{
		`{"rows":".card","fields":{}}`:               "Give 1 to 30 fields",
		`{"rows":"..","fields":{"a":"b"}}`:           "neither a ref nor a CSS selector",
		`{"rows":".card","fields":{"a":"..b"}}`:      "is no selector",
		`{"rows":".none","fields":{"a":"b"}}`:        "no row matches",
		`{"rows":".card","fields":{"a":"h6"}}`:       "none of the fields",
		`{"rows":".card","fields":{"a":["h6"]}}`:     "must name a place",
		`{"rows":"e999","fields":{"a":"text"}}`:      "stale",
		`{"rows":".card[","fields":{"a":"text"}}`:    "invalid_request",
		`{"rows":"#u","fields":{"a":"li:nth-("}}`:    "is no selector",
		`{"rows":".card","fields":"title and link"}`: "must be an object",
	} {
		if r := run(t, b, "browser_extract", args); !r.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestExtractIsBoundedAndGoesOn(t *testing.T) {
	var page strings.Builder
	page.WriteString("<table id=t><thead><tr><th>No</th></tr></thead>")
	for i := range 3000 {
		fmt.Fprintf(&page, "<tr><td>row %d<td>%s</tr>", i, strings.Repeat("x", 300))
	}
	s := browsertest.Page(t, page.String()+"</table>")
	b := box(s)
	got := run(t, b, "browser_extract", `{"rows":"#t tr","fields":{"no":"td","x":"td + td"},"limit":500}`).Text
	if len(got) > 6800 || !strings.Contains(got, "row 0 | xxx") || !strings.Contains(got, "more rows: call again with skip ") {
		t.Errorf("%d bytes: %s", len(got), got[max(0, len(got)-300):])
	}
	got = run(t, b, "browser_extract", `{"rows":"#t tr","fields":{"no":"td"},"limit":2,"skip":11}`).Text
	if !strings.Contains(got, "no\nrow 10\nrow 11\n</outside>\n2988 more rows: call again with skip 13.") {
		t.Errorf("got %s", got)
	}
}
