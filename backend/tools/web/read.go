package web

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"gofer/backend/tool"
)

//go:embed read.md
var readAbout string

type readArgs struct {
	URL            string `json:"url" about:"http or https address"`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" about:"Default 30, at most 120"`
	Offset         int    `json:"offset,omitempty" about:"Where to go on in a long page, as the last call said"`
}

func (a readArgs) timeout() time.Duration {
	if a.TimeoutSeconds <= 0 {
		return readTime
	}
	return time.Duration(min(a.TimeoutSeconds, 120)) * time.Second
}

func readTool(c *client) tool.Tool {
	return tool.New("web_read", readAbout, tool.Reads, func(ctx context.Context, a readArgs) (tool.Result, error) {
		ctx, end := context.WithTimeout(ctx, a.timeout())
		defer end()
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		resp, err := c.get(ctx, a.URL, "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5") //nolint:bodyclose // the reader that wraps it closes it
		if err != nil {
			return failed(ctx, a.URL, err), nil
		}
		body := steadily(resp.Body, stop)
		defer func() { _ = body.Close() }()
		raw, err := io.ReadAll(io.LimitReader(body, pageCap+1))
		if err != nil {
			return failed(ctx, a.URL, err), nil
		}
		kind := resp.Header.Get("Content-Type")
		if !texty(kind, raw) {
			return tool.Failed("%s is no page to read but %s of %s. Use web_fetch with save_as to keep it.", a.URL, media(kind, raw), about(resp, raw)), nil
		}
		cut := len(raw) > pageCap
		text, title := decoded(raw[:min(len(raw), pageCap)], kind), ""
		if strings.Contains(media(kind, raw), "html") {
			if text, title, err = markdown(text, resp.Request.URL); err != nil {
				return tool.Failed("%s cannot be turned into text: %v. Open it with the browser tools.", a.URL, err), nil
			}
		}
		if strings.TrimSpace(text) == "" && title == "" {
			return tool.Failed("%s has no text of its own; it is probably made by a script. Open it with the browser tools.", a.URL), nil
		}
		if title != "" {
			text = "Title: " + title + "\n\n" + text
		}
		next := min(a.Offset, len(text)) + showCap
		more := fmt.Sprintf("go on with offset %d", next)
		if next >= len(text) {
			more = "the page is longer than what is read here"
		}
		r := shown(resp.Request.URL.String(), text, a.Offset, cut, more)
		r.Text = fmt.Sprintf("Read %s.%s", resp.Request.URL, r.Text)
		if bad := status(resp); bad != "" {
			r.Failed = true
			r.Text = fmt.Sprintf("For %s %s.\n%s", a.URL, bad, r.Text)
			r.Outcome = fmt.Sprint(resp.StatusCode)
		}
		return r, nil
	},
		tool.Titled(func(a readArgs) string { return host(a.URL) }),
		tool.WithinOf(func(a readArgs) time.Duration { return a.timeout() + 5*time.Second }),
		tool.Claiming(func(_ context.Context, a readArgs) ([]tool.Claim, error) {
			if _, err := target(a.URL); err != nil {
				return nil, err
			}
			return []tool.Claim{{Class: tool.Visit, Object: strings.TrimSpace(a.URL)}}, nil
		}))
}

// dropped elements are no text of the page.
var dropped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true, atom.Frame: true,
	atom.Object: true, atom.Embed: true, atom.Svg: true, atom.Canvas: true, atom.Video: true, atom.Audio: true, atom.Math: true,
	atom.Nav: true, atom.Header: true, atom.Footer: true, atom.Aside: true, atom.Form: true, atom.Button: true, atom.Input: true,
	atom.Select: true, atom.Textarea: true, atom.Dialog: true, atom.Link: true, atom.Meta: true, atom.Base: true,
}

// markdown turns a page into text with links, without what is not content and
// what no person would see.
func markdown(page string, at *url.URL) (text, title string, err error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", "", err
	}
	if t := first(doc, atom.Title); t != nil && t.FirstChild != nil {
		title = strings.Join(strings.Fields(t.FirstChild.Data), " ")
	}
	if b := first(doc, atom.Base); b != nil {
		if href, err := at.Parse(attr(b, "href")); err == nil && href.Host != "" {
			at = href
		}
	}
	start := doc
	for _, a := range []atom.Atom{atom.Main, atom.Body} {
		if n := first(doc, a); n != nil {
			start = n
			break
		}
	}
	prune(start, false)
	resolve(start, at)
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(), strikethrough.NewStrikethroughPlugin()))
	out, err := conv.ConvertNode(start)
	return strings.TrimSpace(string(out)), title, err
}

func first(n *html.Node, a atom.Atom) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.DataAtom == a {
			return d
		}
	}
	return nil
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// prune removes what is not shown as content. The head of an article names
// it, so headers and footers inside one stay.
func prune(n *html.Node, article bool) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		in := article || c.DataAtom == atom.Article
		kept := article && (c.DataAtom == atom.Header || c.DataAtom == atom.Footer)
		if c.Type == html.CommentNode || c.Type == html.ElementNode && (dropped[c.DataAtom] && !kept || unseen(c)) {
			n.RemoveChild(c)
		} else {
			prune(c, in)
		}
		c = next
	}
}

// unseen reports whether an element says of itself that nobody sees it.
func unseen(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			for _, word := range []string{"display:none", "visibility:hidden", "opacity:0;", "font-size:0"} {
				if strings.Contains(style+";", word) {
					return true
				}
			}
		}
	}
	return false
}

// resolve makes links absolute and drops pictures that are data.
func resolve(n *html.Node, at *url.URL) {
	for d := range n.Descendants() {
		for i, a := range d.Attr {
			if a.Key != "href" && a.Key != "src" {
				continue
			}
			u, err := at.Parse(strings.TrimSpace(a.Val))
			if err != nil || u.Scheme == "data" || u.Scheme == "javascript" {
				d.Attr[i].Val = ""
				continue
			}
			d.Attr[i].Val = u.String()
		}
	}
}
