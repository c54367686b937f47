package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed reload.md
var reloadAbout string

func (k kit) reload() tool.Tool {
	return tool.New("browser_reload", reloadAbout, tool.Acts,
		func(ctx context.Context, _ struct{}) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.History(ctx, "reload")
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[struct{}](k))
}
