package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

// readingPages are a form, an article, a long table and many buttons.
func readingPages() map[string]string {
	many := func(n int, row string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, row, i, i, i)
		}
		return b.String()
	}
	return map[string]string{
		"form":    `<h1>Order</h1><form>` + many(12, `<p><label>Field %d <input name=f%d id=i%d></label></p>`) + `<button>Send</button></form>`,
		"article": `<main><article>` + many(60, `<h2>Part %d</h2><p>Paragraph %d tells about <a href="#a%d">a topic</a> and goes on with enough plain words to look like real prose of ordinary length.</p>`) + `</article></main>`,
		"table":   `<table><tr><th>Id<th>Customer<th>Total</tr>` + many(5000, `<tr><td>%d<td>Customer %d<td>%d.50</tr>`) + `</table>`,
		"buttons": many(3000, `<button onclick="1" data-a=%d data-b=%d>Item %d</button>`),
	}
}

// BenchmarkReading compares our walk with what the browser itself offers for
// reading a page whole: its accessibility tree and its snapshot of the document.
func BenchmarkReading(b *testing.B) {
	for name, html := range readingPages() {
		site := browsertest.Site(b, map[string]string{"/": "<!doctype html><title>t</title>" + html})
		s := browsertest.Session(b)
		browsertest.Open(b, s, site.URL+"/")
		for how, read := range map[string]func() (int, error){
			"walk": func() (int, error) {
				v, err := s.Snapshot(context.Background(), browser.Query{})
				return len(v.Text), err
			},
			"walk-full": func() (int, error) {
				v, err := s.Snapshot(context.Background(), browser.Query{View: "full", Budget: browser.MaxBudget})
				return len(v.Text), err
			},
			"accessibility-tree": func() (int, error) {
				return browser.Raw(context.Background(), s, "Accessibility.getFullAXTree", nil)
			},
			"document-snapshot": func() (int, error) {
				return browser.Raw(context.Background(), s, "DOMSnapshot.captureSnapshot", map[string]any{"computedStyles": []string{"display", "visibility", "opacity", "cursor"}})
			},
		} {
			b.Run(name+"/"+how, func(b *testing.B) {
				size, err := read() // the first look also finds what listens and what hides in closed roots
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if size, err = read(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}

// BenchmarkOpening opens a small page. With GOFER_TEST_PROXY set it does so
// through a proxy.
func BenchmarkOpening(b *testing.B) {
	site := browsertest.Site(b, map[string]string{"/": `<!doctype html><title>t</title><button>Go</button>`})
	s := browsertest.Session(b)
	browsertest.Open(b, s, site.URL+"/")
	for n := 0; b.Loop(); n++ {
		browsertest.Open(b, s, fmt.Sprintf("%s/?%d", site.URL, n))
	}
}
