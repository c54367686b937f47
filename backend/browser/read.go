package browser

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
)

// Article is the main content of a page as Markdown.
type Article struct {
	URL, Title string
	Markdown   string // this part, at most the budget
	Part       int    // from 1
	Parts      int
	Contents   []string // headings with the part they are in, when there are several
}

// Read returns the main content of the page, or of an element, as Markdown
// with absolute links. Long pages come in parts that begin at headings.
func (s *Session) Read(ctx context.Context, ref string, part, budget int) (Article, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Article{}, err
	}
	defer done()
	a, err := t.read(ctx, ref, part, budget)
	return a, s.explain(ctx, t, err)
}

func (t *tab) read(ctx context.Context, ref string, part, budget int) (Article, error) {
	f, a := t.root(), args{}
	if ref != "" {
		var id int
		var err error
		if f, id, err = t.locate(ref); err != nil {
			return Article{}, err
		}
		a["ref"] = id
	}
	var got struct {
		HTML, Title, URL string
		Metas            map[string]string
	}
	if err := t.js(ctx, f, "content", a, &got); err != nil {
		return Article{}, err
	}
	md, err := Markdown(got.HTML)
	if err != nil {
		return Article{}, err
	}
	if ref == "" {
		var head []string
		for _, k := range []string{"author", "published"} {
			if v := got.Metas[k]; v != "" {
				head = append(head, k+": "+v)
			}
		}
		if len(head) > 0 {
			md = strings.Join(head, ", ") + "\n\n" + md
		}
	}
	if budget <= 0 {
		budget = 2 * DefaultBudget
	}
	parts := split(md, min(max(budget, 1000), MaxBudget))
	if part < 1 {
		part = 1
	}
	if part > len(parts) {
		return Article{}, problem(NotFound, "the page has %d parts", len(parts))
	}
	out := Article{URL: got.URL, Title: got.Title, Markdown: parts[part-1], Part: part, Parts: len(parts)}
	if len(parts) > 1 {
		for i, p := range parts {
			for _, m := range headingLine.FindAllStringSubmatch(p, -1) {
				if len(out.Contents) < 60 {
					out.Contents = append(out.Contents, fmt.Sprintf("%d: %s", i+1, short(strings.TrimSpace(m[1]), 80)))
				}
			}
		}
	}
	return out, nil
}

var (
	headingLine = regexp.MustCompile(`(?m)^#{1,4} +(.+)$`)
	manyLines   = regexp.MustCompile(`\n{3,}`)
)

// Markdown converts cleaned HTML.
func Markdown(html string) (string, error) {
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	md, err := conv.ConvertString(html)
	if err != nil {
		return "", fmt.Errorf("turn page into Markdown: %w", err)
	}
	return strings.TrimSpace(manyLines.ReplaceAllString(md, "\n\n")), nil
}

// split cuts a text into parts of at most size bytes, at headings if it can,
// else between paragraphs, else at a rune.
func split(md string, size int) []string {
	var parts []string
	for len(md) > size {
		at := strings.LastIndex(md[:size], "\n#")
		if at < size/3 {
			at = strings.LastIndex(md[:size], "\n\n")
		}
		if at < size/3 {
			at = strings.LastIndex(md[:size], "\n")
		}
		if at < size/3 {
			for at = size; at > 0 && md[at]&0xC0 == 0x80; at-- {
			}
		}
		parts = append(parts, strings.TrimSpace(md[:at]))
		md = strings.TrimSpace(md[at:])
	}
	return append(parts, md)
}
