package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed scroll.md
var scrollAbout string

type scrollArgs struct {
	Ref       string `json:"ref,omitempty" about:"To bring into view, or whose box to scroll"`
	Direction string `json:"direction,omitempty" enum:"up,down,left,right"`
	Amount    int    `json:"amount,omitempty" about:"Pixels; most of a screen if not given"`
	To        string `json:"to,omitempty" enum:"top,bottom"`
}

func (k kit) scroll() tool.Tool {
	return tool.New("browser_scroll", scrollAbout, tool.Acts,
		func(ctx context.Context, a scrollArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Scroll(ctx, browser.Scroll{Ref: a.Ref, Direction: a.Direction, Amount: a.Amount, To: a.To})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[scrollArgs](k))
}
