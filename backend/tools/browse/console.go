package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed console.md
var consoleAbout string

type consoleArgs struct {
	Filter string `json:"filter,omitempty" about:"Only lines with this"`
	Limit  int    `json:"limit,omitempty" about:"The newest, 50 if not given"`
}

func (k kit) console() tool.Tool {
	return tool.New("browser_console", consoleAbout, tool.Reads,
		func(ctx context.Context, a consoleArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				v, err := s.Console(ctx, a.Filter, a.Limit)
				return listed(v, "The page logged nothing like that.", err)
			})
		},
		tool.Within(callLimit), reading[consoleArgs](k))
}

// listed is a result of lines the page caused.
func listed(v browser.View, none string, err error) (tool.Result, error) {
	if err != nil {
		return tool.Result{}, err
	}
	if v.Text == "" {
		r := tool.Text("%s", none)
		r.Origin = v.URL
		return r, nil
	}
	return tool.Outside(v.URL, v.Text), nil
}
