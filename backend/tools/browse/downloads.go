package browse

import (
	"context"
	_ "embed"
	"strings"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed downloads.md
var downloadsAbout string

type downloadsArgs struct {
	Wait bool `json:"wait,omitempty" about:"Wait until none is under way"`
}

func (k kit) downloads() tool.Tool {
	return tool.New("browser_downloads", downloadsAbout, tool.Reads,
		func(ctx context.Context, a downloadsArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				list, err := s.Downloads(ctx, a.Wait)
				if err != nil {
					return tool.Result{}, err
				}
				if len(list) == 0 {
					return tool.Text("Nothing was downloaded."), nil
				}
				var lines []string
				for _, d := range list {
					lines = append(lines, d.String())
				}
				r := tool.Text("%s", strings.Join(lines, "\n"))
				r.Origin, _, _ = s.Page()
				return r, nil
			})
		},
		tool.Within(callLimit))
}
