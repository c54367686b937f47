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
	Ref string `json:"ref"`
}

func (k kit) hover() tool.Tool {
	return tool.New("browser_hover", hoverAbout, tool.Acts,
		func(ctx context.Context, a hoverArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Hover(ctx, browser.Target{Ref: a.Ref})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[hoverArgs](k),
		tool.Titled(func(a hoverArgs) string { return k.title(a.Ref, "") }))
}
