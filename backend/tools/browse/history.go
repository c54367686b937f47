package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed history.md
var historyAbout string

type historyArgs struct {
	Go string `json:"go" enum:"back,forward,reload"`
}

func (k kit) history() tool.Tool {
	return tool.New("browser_history", historyAbout, tool.Acts,
		func(ctx context.Context, a historyArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.History(ctx, a.Go)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[historyArgs](k),
		tool.Titled(func(a historyArgs) string { return a.Go }))
}
