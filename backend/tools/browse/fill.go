package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed fill.md
var fillAbout string

type fillField struct {
	Ref   string `json:"ref"`
	Value string `json:"value" about:"Text, option, true or false, or the path of a file"`
}

type fillArgs struct {
	Fields []fillField `json:"fields"`
	Submit bool        `json:"submit,omitempty" about:"Press Enter in the last field"`
}

func (k kit) fill() tool.Tool {
	return tool.New("browser_fill", fillAbout, tool.Acts,
		func(ctx context.Context, a fillArgs) (tool.Result, error) {
			if len(a.Fields) == 0 {
				return tool.Failed("Give at least one field."), nil
			}
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				var fields []browser.Field
				for _, f := range a.Fields {
					fields = append(fields, browser.Field{Ref: f.Ref, Value: f.Value})
				}
				r, err := s.Fill(ctx, fields, a.Submit)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), tool.Putting(func(fillArgs) bool { return true }),
		tool.Claiming(func(ctx context.Context, a fillArgs) ([]tool.Claim, error) {
			s, err := k.lane(ctx)
			if err != nil {
				return nil, err
			}
			address, _, _ := s.Page()
			if !a.Submit || len(a.Fields) == 0 {
				return visit(address), nil
			}
			f, err := s.Facts(ctx, browser.Target{Ref: a.Fields[len(a.Fields)-1].Ref}, true)
			if err != nil {
				return visit(address), ctx.Err()
			}
			out := claims(f)
			for _, x := range a.Fields {
				if one, err := s.Facts(ctx, browser.Target{Ref: x.Ref}, false); err == nil {
					out = withTyped(out, one, x.Value)
				}
			}
			return out, nil
		}))
}
