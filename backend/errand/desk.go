package errand

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"

	"gofer/backend/llm"
)

// Desk pretends to be the tools of the app, so that a script can be tried
// without a browser: pages are fetched over HTTP and files land in a folder.
type Desk struct {
	Folder   string
	Relative bool              // links are given as they stand in the page
	Answer   string            // to a question; empty takes its default
	Counts   map[string]int    // calls by tool
	Before   func(n int) error // before call n (from 1) runs
	After    func(n int) error // after it took effect, before it is answered

	n    int
	url  string
	page *html.Node
	refs map[string]*html.Node
}

// Tools are the tools a desk has.
func (d *Desk) Tools() []llm.ToolSpec {
	var out []llm.ToolSpec
	for _, name := range []string{"browser_open", "browser_read", "browser_snapshot", "browser_click", "web_fetch", "fs_write", "fs_read", "fs_list", "ask_clarification"} {
		out = append(out, llm.ToolSpec{Name: name, Description: "Pretended.", Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

// Do runs one call and returns what the model reads.
func (d *Desk) Do(ctx context.Context, name string, raw []byte) (string, error) {
	d.n++
	if d.Counts == nil {
		d.Counts = map[string]int{}
	}
	d.Counts[name]++
	if d.Before != nil {
		if err := d.Before(d.n); err != nil {
			return "", err
		}
	}
	var a struct {
		URL, Ref, Text, Path, Content, Default string
		SaveAs                                 string `json:"save_as"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return "", err
	}
	text, err := "", error(nil)
	switch name {
	case "browser_open":
		text, err = d.open(ctx, http.MethodGet, a.URL)
	case "browser_read":
		text = d.fenced(d.markdown)
	case "browser_snapshot":
		text = d.fenced(d.snapshot)
	case "browser_click":
		text, err = d.click(ctx, a.Ref, a.Text)
	case "web_fetch":
		text, err = d.fetch(ctx, a.URL, a.SaveAs)
	case "fs_write":
		text, err = d.write(a.Path, []byte(a.Content))
	case "fs_read":
		content, failed := os.ReadFile(filepath.Join(d.Folder, a.Path))
		if text = string(content); failed != nil {
			text = a.Path + " does not exist."
		}
	case "fs_list":
		text = d.list(a.Path)
	case "ask_clarification":
		if a.Default == "" || d.Answer != "" {
			a.Default = d.Answer
		}
		text = "The question is answered. Act on it now, without asking again: " + a.Default
	default:
		text = "There is no tool " + name + "."
	}
	if err == nil && d.After != nil {
		err = d.After(d.n)
	}
	return text, err
}

// Restart forgets the open page, as a new browser would.
func (d *Desk) Restart() { d.url, d.page, d.refs = "", nil, nil }

func (d *Desk) open(ctx context.Context, method, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return err.Error(), nil
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if d.page, err = html.Parse(res.Body); err != nil {
		return "", err
	}
	d.url, d.refs = res.Request.URL.String(), map[string]*html.Node{}
	return fmt.Sprintf("Opened %s (%d) %q.", d.url, res.StatusCode, textOf(first(d.page, "title"))), nil
}

func (d *Desk) fenced(make func() string) string {
	if d.page == nil {
		return "no_tab: no page is open; open one first."
	}
	return fmt.Sprintf("<outside from=%q>\n%s\n</outside>", d.url, make())
}

func (d *Desk) click(ctx context.Context, ref, text string) (string, error) {
	if d.page == nil {
		return "no_tab: no page is open; open one first.", nil
	}
	target := d.refs[ref]
	walk(d.page, func(n *html.Node) {
		if target == nil && text != "" && (n.Data == "a" || n.Data == "button") && textOf(n) == text {
			target = n
		}
	})
	if target == nil {
		return "not_found: nothing here is called " + ref + text + ".", nil
	}
	what := fmt.Sprintf("clicked %s %q", target.Data, textOf(target))
	method, to := http.MethodGet, attr(target, "href")
	for p := target; p != nil && to == ""; p = p.Parent {
		if p.Data == "form" {
			method, to = http.MethodPost, attr(p, "action")
		}
	}
	_, err := d.open(ctx, method, d.absolute(to))
	return what + ", page changed: " + d.url, err
}

func (d *Desk) fetch(ctx context.Context, address, saveAs string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err.Error(), nil
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Sprintf("Did not save %s: status %d.", address, res.StatusCode), err
	}
	_, err = d.write(saveAs, body)
	return fmt.Sprintf("Saved %s to %s (%d B, %s).", address, saveAs, len(body), res.Header.Get("Content-Type")), err
}

func (d *Desk) write(path string, content []byte) (string, error) {
	path = filepath.Join(d.Folder, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote %s.", path), os.WriteFile(path, content, 0o644)
}

func (d *Desk) list(path string) string {
	entries, err := os.ReadDir(filepath.Join(d.Folder, path))
	if err != nil {
		return path + " does not exist."
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, "\n")
}

func (d *Desk) absolute(ref string) string {
	base, err := url.Parse(d.url)
	if err != nil {
		return ref
	}
	u, err := base.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}

func (d *Desk) link(ref string) string {
	if d.Relative {
		return ref
	}
	return d.absolute(ref)
}

// snapshot lists what can be acted on.
func (d *Desk) snapshot() string {
	var out []string
	walk(d.page, func(n *html.Node) {
		if n.Data != "a" && n.Data != "button" {
			return
		}
		ref := fmt.Sprintf("e%d", len(out)+1)
		d.refs[ref] = n
		line := fmt.Sprintf("- %s %q [ref=%s]", map[string]string{"a": "link", "button": "button"}[n.Data], textOf(n), ref)
		if to := attr(n, "href"); to != "" {
			line += " " + to
		}
		out = append(out, line)
	})
	return strings.Join(out, "\n")
}

// markdown gives the main content of the page.
func (d *Desk) markdown() string {
	root := first(d.page, "main")
	if root == nil {
		root = d.page
	}
	var b strings.Builder
	d.render(&b, root)
	return strings.TrimSpace(b.String())
}

func (d *Desk) render(b *strings.Builder, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			if text := strings.Join(strings.Fields(c.Data), " "); text != "" {
				b.WriteString(text + " ")
			}
			continue
		}
		switch c.Data {
		case "a":
			var inner strings.Builder
			d.render(&inner, c)
			fmt.Fprintf(b, "[%s](%s) ", strings.TrimSpace(inner.String()), d.link(attr(c, "href")))
		case "img":
			fmt.Fprintf(b, "![%s](%s)", attr(c, "alt"), d.link(attr(c, "src")))
		case "h1", "h2", "h3", "li":
			b.WriteString("\n" + map[string]string{"h1": "# ", "h2": "## ", "h3": "### ", "li": "- "}[c.Data])
			d.render(b, c)
			b.WriteString("\n")
		case "script", "style", "form":
		case "p", "figure", "figcaption", "ul", "article", "section", "div":
			b.WriteString("\n")
			d.render(b, c)
			b.WriteString("\n")
		default:
			d.render(b, c)
		}
	}
}

func walk(n *html.Node, visit func(*html.Node)) {
	if n == nil {
		return
	}
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

func first(root *html.Node, tag string) (found *html.Node) {
	walk(root, func(n *html.Node) {
		if found == nil && n.Data == tag {
			found = n
		}
	})
	return found
}

func textOf(n *html.Node) string {
	var b strings.Builder
	var add func(*html.Node)
	add = func(n *html.Node) {
		if n == nil {
			return
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			add(c)
		}
	}
	add(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
