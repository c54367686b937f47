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
	From string   `json:"from" about:"Ref, place in it (e7@90%,50%), point (640,300) or text"`
	To   string   `json:"to" about:"The same, or a way (+120,0)"`
	Path []string `json:"path,omitempty" about:"Places on the way"`
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
