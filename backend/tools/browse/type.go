package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed type.md
var typeAbout string

type typeArgs struct {
	Ref    string `json:"ref"`
	Text   string `json:"text"`
	Append bool   `json:"append,omitempty" about:"Keep what is there"`
	Submit bool   `json:"submit,omitempty" about:"Press Enter afterwards"`
	Keys   bool   `json:"keys,omitempty" about:"Type key by key"`
}

func (k kit) typing() tool.Tool {
	return tool.New("browser_type", typeAbout, tool.Acts,
		func(ctx context.Context, a typeArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Type(ctx, browser.Typing{Target: browser.Target{Ref: a.Ref}, Text: a.Text, Append: a.Append, Submit: a.Submit, Keys: a.Keys})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), tool.Putting(func(typeArgs) bool { return true }),
		tool.Titled(func(a typeArgs) string { return k.title(a.Ref, "") }),
		tool.Claiming(func(ctx context.Context, a typeArgs) ([]tool.Claim, error) {
			s, err := k.lane(ctx)
			if err != nil {
				return nil, err
			}
			address, _, _ := s.Page()
			if !a.Submit {
				return visit(address), nil
			}
			f, err := s.Facts(ctx, browser.Target{Ref: a.Ref}, true)
			if err != nil {
				return visit(address), ctx.Err()
			}
			out := claims(f)
			return withTyped(out, f, a.Text), nil
		}))
}

// withTyped puts the text about to be typed into the claim of its form, since
// the field still holds the old one.
func withTyped(list []tool.Claim, f browser.Facts, text string) []tool.Claim {
	for i := range list {
		for j, x := range list[i].Fields {
			if x.Label == f.Name && !x.Secret {
				list[i].Fields[j].Value = text
			}
		}
	}
	return list
}
