package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed find.md
var findAbout string

type findArgs struct {
	Text  string `json:"text,omitempty" about:"In any case"`
	Regex string `json:"regex,omitempty" about:"Or a regular expression"`
	Role  string `json:"role,omitempty" about:"Such as button"`
	Limit int    `json:"limit,omitempty" about:"20 if not given"`
}

func (k kit) find() tool.Tool {
	return tool.New("browser_find", findAbout, tool.Reads,
		func(ctx context.Context, a findArgs) (tool.Result, error) {
			if a.Text == "" && a.Regex == "" && a.Role == "" {
				return tool.Failed("Give text, regex or role."), nil
			}
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				v, err := s.Find(ctx, a.Text, a.Regex, a.Role, min(a.Limit, 200))
				if err != nil {
					return tool.Result{}, err
				}
				return tool.Outside(origin(v.URL), v.Text), nil
			})
		},
		tool.Within(callLimit), reading[findArgs](k),
		tool.Titled(func(a findArgs) string { return a.Text + a.Regex }))
}
