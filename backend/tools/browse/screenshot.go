package browse

import (
	"context"
	_ "embed"
	"fmt"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed screenshot.md
var screenshotAbout string

type screenshotArgs struct {
	Scope string `json:"scope,omitempty" enum:"viewport,full" about:"viewport if not given"`
	Ref   string `json:"ref,omitempty" about:"Only this element"`
	Marks bool   `json:"marks,omitempty" about:"Draw the refs of what can be acted on"`
}

func (k kit) screenshot() tool.Tool {
	return tool.New("browser_screenshot", screenshotAbout, tool.Reads,
		func(ctx context.Context, a screenshotArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				p, err := s.Screenshot(ctx, browser.Shot{Full: a.Scope == "full", Ref: a.Ref, Marks: a.Marks})
				if err != nil {
					return tool.Result{}, err
				}
				r := tool.Text("Screenshot of %s, %d x %d pixels, %s", p.URL, p.Width, p.Height, browser.Size(int64(len(p.JPEG))))
				if p.Note != "" {
					r.Text += ", " + p.Note
				}
				r.Outcome = fmt.Sprintf("%d x %d", p.Width, p.Height)
				r.Origin = p.URL
				r.Files = []tool.File{{Name: "screenshot.jpg", Media: "image/jpeg", Bytes: p.JPEG, Width: p.Width, Height: p.Height}}
				return r, nil
			})
		},
		tool.Within(callLimit), reading[screenshotArgs](k))
}
