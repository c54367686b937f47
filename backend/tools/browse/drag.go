package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed drag.md
var dragAbout string

type dragArgs struct {
	From string `json:"from" about:"Ref of what to drag"`
	To   string `json:"to" about:"Ref of where to drop it"`
}

func (k kit) drag() tool.Tool {
	return tool.New("browser_drag", dragAbout, tool.Acts,
		func(ctx context.Context, a dragArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Drag(ctx, a.From, a.To)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[dragArgs](k),
		tool.Titled(func(a dragArgs) string { return k.title(a.From, "") }))
}
