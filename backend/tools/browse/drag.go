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
	From string   `json:"from" about:"A ref; e7@90%,50% for a place in it; 640,300 for a point of the last picture; or a text shown"`
	To   string   `json:"to" about:"The same, or +120,0 for a way from the start"`
	Path []string `json:"path,omitempty" about:"Places to go through before"`
}

func (k kit) drag() tool.Tool {
	return tool.New("browser_drag", dragAbout, tool.Acts,
		func(ctx context.Context, a dragArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Drag(ctx, a.From, a.To, a.Path)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[dragArgs](k),
		tool.Titled(func(a dragArgs) string { return k.title(a.From, "") }))
}
