package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed forward.md
var forwardAbout string

func (k kit) forward() tool.Tool {
	return tool.New("browser_forward", forwardAbout, tool.Acts,
		func(ctx context.Context, _ struct{}) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.History(ctx, "forward")
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[struct{}](k))
}
