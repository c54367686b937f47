package browse

import (
	"context"
	_ "embed"
	"fmt"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed close.md
var closeAbout string

func (k kit) close() tool.Tool {
	return tool.New("browser_close", closeAbout, tool.Acts,
		func(ctx context.Context, _ struct{}) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				n, err := s.CloseTabs(ctx)
				if err != nil {
					return tool.Result{}, err
				}
				if n == 0 {
					return tool.Text("No tab was open."), nil
				}
				r := tool.Text("Closed all tabs (%d).", n)
				r.Outcome = fmt.Sprintf("%d closed", n)
				return r, nil
			})
		},
		tool.Within(callLimit))
}
