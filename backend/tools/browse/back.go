package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed back.md
var backAbout string

func (k kit) back() tool.Tool {
	return tool.New("browser_back", backAbout, tool.Acts,
		func(ctx context.Context, _ struct{}) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.History(ctx, "back")
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[struct{}](k))
}
