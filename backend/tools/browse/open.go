package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed open.md
var openAbout string

type openArgs struct {
	URL    string `json:"url" about:"Address; https:// is added when missing"`
	NewTab bool   `json:"new_tab,omitempty"`
}

func (k kit) open() tool.Tool {
	return tool.New("browser_open", openAbout, tool.Acts,
		func(ctx context.Context, a openArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Open(ctx, a.URL, a.NewTab)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit),
		tool.Titled(func(a openArgs) string { return host(a.URL) }),
		tool.Claiming(func(_ context.Context, a openArgs) ([]tool.Claim, error) {
			to, err := browser.Address(a.URL)
			if err != nil {
				return nil, err
			}
			return visit(to), nil
		}))
}
