// Package browse is the browser as tools: one Go file and one prose file each.
// The tools translate; what they do is in package browser. What a model can act
// on comes back as a failed result with one sentence on what to do next.
package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

// Lane gives the browser session a call works in.
type Lane func(ctx context.Context) (*browser.Session, error)

// Saver writes files of the workspace; files.Folder is one.
type Saver interface {
	Target(path string) (string, error)
	Save(ctx context.Context, path string, r io.Reader, limit int64) (int64, error)
}

// Options are what the browser tools need besides a lane.
type Options struct {
	Files Saver // nil leaves out what saves files
}

// All returns the browser tools of a lane that save no files.
func All(lane Lane) []tool.Tool { return AllWith(lane, Options{}) }

// AllWith returns the browser tools of a lane.
func AllWith(lane Lane, o Options) []tool.Tool {
	k := kit{lane, o.Files}
	all := []tool.Tool{
		k.open(), k.history(), k.snapshot(), k.find(), k.read(), k.extract(), k.click(), k.typing(), k.fill(), k.choose(), k.press(),
		k.hover(), k.drag(), k.clickAt(), k.selectText(), k.scroll(), k.wait(), k.screenshot(), k.tabs(), k.dialog(), k.upload(), k.downloads(), k.eval(),
		k.console(), k.network(), k.close(),
	}
	if o.Files != nil {
		all = append(all, k.pdf())
	}
	return all
}

type kit struct {
	lane  Lane
	files Saver
}

// callLimit bounds a tool call from outside; the calls have limits of their own.
const callLimit = 45 * time.Second

// with runs do on the lane's session and turns problems into failed results.
func (k kit) with(ctx context.Context, do func(*browser.Session) (tool.Result, error)) (tool.Result, error) {
	s, err := k.lane(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	r, err := do(s)
	notes := s.Notices()
	if err != nil {
		if r, err = failed(s, err); err != nil {
			return r, err
		}
	}
	if len(notes) > 0 {
		r.Text = strings.Join(notes, " ") + "\n" + r.Text
	}
	return r, nil
}

// failed makes a result of what the model can act on.
func failed(s *browser.Session, err error) (tool.Result, error) {
	var p *browser.Problem
	if !errors.As(err, &p) {
		return tool.Result{}, err
	}
	r := tool.Failed("%s: %s. %s", p.Code, strings.TrimRight(p.Message, ". "), p.Advice())
	r.Text = strings.TrimSpace(r.Text)
	r.Outcome = strings.ReplaceAll(string(p.Code), "_", " ")
	r.Origin, _, _ = s.Page()
	return r, nil
}

// report makes a result of what an action did. Words of the page go into a
// marked block once there are more than a few.
func report(s *browser.Session, r browser.Report, err error) (tool.Result, error) {
	if err != nil {
		return tool.Result{}, err
	}
	if r.URL == "" {
		r.URL, _, _ = s.Page()
	}
	text := strings.Join(r.Changes, "\n")
	out := tool.Result{Text: r.Did, Outcome: r.Outcome, Origin: r.URL}
	if len(r.Record.Targets) > 0 || r.Record.Before.URL != "" {
		raw, err := json.Marshal(r.Record)
		if err != nil {
			return tool.Result{}, fmt.Errorf("record action: %w", err)
		}
		out.Record = raw
	}
	switch {
	case text == "":
	case len(text) <= 240 && len(r.Changes) <= 3:
		out.Text += "\n" + text
	default:
		out.Text += "\n" + tool.Fence(origin(r.URL), text)
	}
	return out, nil
}

// origin is scheme and host of an address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}

func host(address string) string {
	full, err := browser.Address(address)
	if err != nil {
		return address
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.TrimPrefix(u.Host, "www.")
}

// visit claims the reading of a page; an empty page needs no leave.
func visit(address string) []tool.Claim {
	if address == "" || address == "about:blank" {
		return nil
	}
	return []tool.Claim{{Class: tool.Visit, Object: address}}
}

// reading is the claim of a tool that looks at the current page.
func reading[A any](k kit) tool.Option {
	return tool.Claiming(func(ctx context.Context, _ A) ([]tool.Claim, error) {
		s, err := k.lane(ctx)
		if err != nil {
			return nil, err
		}
		address, _, _ := s.Page()
		return visit(address), nil
	})
}

// acting is the claim of a tool that presses something.
func acting[A any](k kit, on func(A) (target browser.Target, enter bool)) tool.Option {
	return tool.Claiming(func(ctx context.Context, a A) ([]tool.Claim, error) {
		s, err := k.lane(ctx)
		if err != nil {
			return nil, err
		}
		target, enter := on(a)
		address, _, _ := s.Page()
		f, err := s.Facts(ctx, target, enter)
		if err != nil {
			return visit(address), ctx.Err() // the call itself will say what is wrong
		}
		return claims(f), nil
	})
}

// claims turns what a press would do into claims.
func claims(f browser.Facts) []tool.Claim {
	switch {
	case f.Submit:
		c := tool.Claim{Class: tool.Send, Object: f.Action, Detail: strings.ToUpper(f.Method) + " " + named(f)}
		for _, x := range f.Fields {
			c.Fields = append(c.Fields, tool.Field{Label: x.Label, Value: x.Value, Secret: x.Secret})
		}
		return []tool.Claim{c}
	case f.Href != "" && origin(f.Href) != origin(f.Page) && !strings.HasPrefix(f.Href, "javascript:"):
		return append(visit(f.Page), tool.Claim{Class: tool.Visit, Object: f.Href})
	}
	return visit(f.Page)
}

func named(f browser.Facts) string { return strings.TrimSpace(fmt.Sprintf("%s %q", f.Role, f.Name)) }

// title names the target of a call for a card: the words it is known by if the
// page still tells, else the ref.
func (k kit) title(ref, text string) string {
	if text != "" {
		return text
	}
	if ref == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if s, err := k.lane(ctx); err == nil {
		if f, err := s.Facts(ctx, browser.Target{Ref: ref}, false); err == nil && f.Name != "" {
			return f.Name
		}
	}
	return ref
}
