package web

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"gofer/backend/tool"
)

//go:embed fetch.md
var fetchAbout string

type fetchArgs struct {
	URL    string `json:"url" about:"http or https address"`
	SaveAs string `json:"save_as,omitempty" about:"File in the workspace to save it to, up to 100 MB; without it the text comes back"`
}

func fetchTool(c *client, files Saver) tool.Tool {
	return tool.New("web_fetch", fetchAbout, tool.Acts, func(ctx context.Context, a fetchArgs) (tool.Result, error) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		resp, err := c.get(ctx, a.URL, "*/*") //nolint:bodyclose // the reader that wraps it closes it
		if err != nil {
			return failed(ctx, a.URL, err), nil
		}
		body := steadily(resp.Body, stop)
		defer func() { _ = body.Close() }()
		if bad := status(resp); bad != "" && a.SaveAs != "" {
			return tool.Failed("Did not save %s: %s.", a.URL, bad), nil
		}
		if a.SaveAs != "" {
			return save(ctx, files, a, resp, body), nil
		}
		raw, err := io.ReadAll(io.LimitReader(body, textCap+1))
		if err != nil {
			return failed(ctx, a.URL, err), nil
		}
		kind := resp.Header.Get("Content-Type")
		if !texty(kind, raw) {
			return tool.Failed("%s is not text but %s of %s. Name a file in save_as to keep it.", a.URL, media(kind, raw), about(resp, raw)), nil
		}
		text := decoded(raw[:min(len(raw), textCap)], kind)
		r := shown(resp.Request.URL.String(), text, 0, len(raw) > textCap,
			"use save_as and fs_read to read all of it")
		r.Text = fmt.Sprintf("%s, %s.%s", media(kind, raw), about(resp, raw), r.Text)
		if bad := status(resp); bad != "" {
			r.Failed = true
			r.Text = fmt.Sprintf("For %s %s.\n%s", a.URL, bad, r.Text)
			r.Outcome = fmt.Sprint(resp.StatusCode)
		}
		return r, nil
	},
		tool.Titled(func(a fetchArgs) string { return host(a.URL) }),
		tool.Within(fetchTime),
		tool.Claiming(func(_ context.Context, a fetchArgs) ([]tool.Claim, error) {
			if _, err := target(a.URL); err != nil {
				return nil, err
			}
			claims := []tool.Claim{{Class: tool.Visit, Object: strings.TrimSpace(a.URL)}}
			if a.SaveAs != "" {
				path, err := files.Target(a.SaveAs)
				if err != nil {
					return nil, err
				}
				claims = append(claims, tool.Claim{Class: tool.WriteFile, Object: path, Detail: "what " + a.URL + " sends"})
			}
			return claims, nil
		}))
}

// save streams the body into a file and tells how far it is.
func save(ctx context.Context, files Saver, a fetchArgs, resp *http.Response, body io.Reader) tool.Result {
	if resp.ContentLength > fileCap {
		return tool.Failed("Did not save %s: it has %s, and %s is the limit. Use shell_exec for larger files.", a.URL, size(resp.ContentLength), size(fileCap))
	}
	n, err := files.Save(ctx, a.SaveAs, &meter{r: body, ctx: ctx, of: resp.ContentLength}, fileCap)
	if err != nil {
		r := failed(ctx, a.URL, err)
		r.Text = fmt.Sprintf("Did not save %s. %s", a.SaveAs, r.Text)
		return r
	}
	path, err := files.Target(a.SaveAs)
	if err != nil {
		path = a.SaveAs
	}
	kind := resp.Header.Get("Content-Type")
	if kind == "" {
		kind = "unknown type"
	}
	r := tool.Text("Saved %s to %s (%s, %s).", resp.Request.URL, path, size(n), kind)
	r.Outcome = size(n)
	return r
}

// meter reports progress about twice a second.
type meter struct {
	r    io.Reader
	ctx  context.Context
	of   int64
	n    int64
	last time.Time
}

// Read passes bytes on and counts them.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	if now := time.Now(); now.Sub(m.last) > 500*time.Millisecond {
		if !m.last.IsZero() {
			text := size(m.n)
			if m.of > 0 {
				text += " of " + size(m.of)
			}
			tool.Progress(m.ctx, text+"\n")
		}
		m.last = now
	}
	return n, err
}

// texty reports whether a body is text a model can read.
func texty(kind string, raw []byte) bool {
	if bytes.IndexByte(raw[:min(len(raw), 8<<10)], 0) >= 0 && !strings.Contains(strings.ToLower(kind), "utf-16") {
		return false
	}
	t, _, err := mime.ParseMediaType(kind)
	if err != nil || t == "application/octet-stream" || t == "" {
		t, _, _ = mime.ParseMediaType(http.DetectContentType(raw))
	}
	for _, word := range []string{"text/", "json", "xml", "javascript", "yaml", "csv", "x-www-form-urlencoded", "toml", "graphql", "sql"} {
		if strings.Contains(t, word) {
			return true
		}
	}
	return false
}

func media(kind string, raw []byte) string {
	if t, _, err := mime.ParseMediaType(kind); err == nil {
		return t
	}
	t, _, _ := mime.ParseMediaType(http.DetectContentType(raw))
	return t
}

func about(resp *http.Response, raw []byte) string {
	if resp.ContentLength >= 0 {
		return size(resp.ContentLength)
	}
	if len(raw) > textCap {
		return "more than " + size(textCap)
	}
	return size(int64(len(raw)))
}

// decoded turns a body into UTF-8 by its type, its own words, or a guess.
func decoded(raw []byte, kind string) string {
	if r, err := charset.NewReader(bytes.NewReader(raw), kind); err == nil {
		if text, err := io.ReadAll(r); err == nil {
			raw = text
		}
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// shown fences the part of a text from offset on that fits, and says how to
// see more.
func shown(origin, text string, offset int, cut bool, more string) tool.Result {
	total := len(text)
	offset = min(max(0, offset), total)
	part := text[offset:]
	if len(part) > showCap {
		part, cut = part[:showCap], true
	}
	part = strings.ToValidUTF8(part, "") // an offset or a cut may split a letter
	r := tool.Outside(origin, part)
	head := ""
	if cut || offset > 0 {
		head = fmt.Sprintf(" Characters %d–%d of %d are shown", offset, offset+len(part), total)
		if cut {
			head += " (truncated); " + more
		}
		head += "."
	}
	r.Text = head + "\n" + r.Text
	r.Outcome = size(int64(total))
	return r
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
