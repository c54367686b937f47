package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed hover.md
var hoverAbout string

type hoverArgs struct {
	Ref string   `json:"ref,omitempty"`
	X   *float64 `json:"x,omitempty" about:"Or a point as for browser_click_at"`
	Y   *float64 `json:"y,omitempty"`
}

func (k kit) hover() tool.Tool {
	return tool.New("browser_hover", hoverAbout, tool.Acts,
		func(ctx context.Context, a hoverArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				if a.Ref == "" && a.X != nil && a.Y != nil {
					r, err := s.HoverAt(ctx, browser.Point{X: *a.X, Y: *a.Y})
					return report(s, r, err)
				}
				r, err := s.Hover(ctx, browser.Target{Ref: a.Ref})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[hoverArgs](k),
		tool.Titled(func(a hoverArgs) string { return k.title(a.Ref, "") }))
}
