package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed network.md
var networkAbout string

type networkArgs struct {
	Filter string `json:"filter,omitempty" about:"Only lines with this"`
	Failed bool   `json:"failed,omitempty" about:"Only those that failed"`
	Limit  int    `json:"limit,omitempty" about:"The newest, 50 if not given"`
}

func (k kit) network() tool.Tool {
	return tool.New("browser_network", networkAbout, tool.Reads,
		func(ctx context.Context, a networkArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				v, err := s.Network(ctx, a.Filter, a.Failed, a.Limit)
				return listed(v, "No request like that.", err)
			})
		},
		tool.Within(callLimit), reading[networkArgs](k))
}
