package browse

import (
	"context"
	_ "embed"
	"strings"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed select.md
var selectAbout string

type selectArgs struct {
	Ref    string   `json:"ref"`
	Values []string `json:"values" about:"Labels or values of the options"`
}

func (k kit) choose() tool.Tool {
	return tool.New("browser_select", selectAbout, tool.Acts,
		func(ctx context.Context, a selectArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Select(ctx, browser.Target{Ref: a.Ref}, a.Values)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), tool.Putting(func(selectArgs) bool { return true }), reading[selectArgs](k),
		tool.Titled(func(a selectArgs) string { return strings.Join(a.Values, ", ") }))
}
