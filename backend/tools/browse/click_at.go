package browse

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed click_at.md
var clickAtAbout string

type clickAtArgs struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Button string  `json:"button,omitempty" enum:"left,right,middle"`
	Count  int     `json:"count,omitempty"`
	Hold   int     `json:"hold,omitempty" about:"Milliseconds to keep it down, at most 5000"`
}

func (k kit) clickAt() tool.Tool {
	return tool.New("browser_click_at", clickAtAbout, tool.Acts,
		func(ctx context.Context, a clickAtArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.ClickAt(ctx, browser.Press{Point: browser.Point{X: a.X, Y: a.Y}, Button: a.Button, Count: min(a.Count, 3), Hold: time.Duration(a.Hold) * time.Millisecond})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit),
		tool.Titled(func(a clickAtArgs) string { return fmt.Sprintf("%.0f, %.0f", a.X, a.Y) }),
		tool.Claiming(func(ctx context.Context, a clickAtArgs) ([]tool.Claim, error) {
			s, err := k.lane(ctx)
			if err != nil {
				return nil, err
			}
			address, _, _ := s.Page()
			f, err := s.FactsAt(ctx, browser.Point{X: a.X, Y: a.Y})
			if err != nil {
				return visit(address), ctx.Err()
			}
			return claims(f), nil
		}))
}
