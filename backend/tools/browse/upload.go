package browse

import (
	"context"
	_ "embed"
	"path/filepath"
	"strings"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed upload.md
var uploadAbout string

type uploadArgs struct {
	Ref   string   `json:"ref"`
	Paths []string `json:"paths" about:"Absolute paths"`
}

func (k kit) upload() tool.Tool {
	return tool.New("browser_upload", uploadAbout, tool.Acts,
		func(ctx context.Context, a uploadArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Upload(ctx, a.Ref, a.Paths)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), tool.Putting(func(uploadArgs) bool { return true }),
		tool.Titled(func(a uploadArgs) string {
			var names []string
			for _, p := range a.Paths {
				names = append(names, filepath.Base(p))
			}
			return strings.Join(names, ", ")
		}),
		tool.Claiming(func(ctx context.Context, a uploadArgs) ([]tool.Claim, error) {
			s, err := k.lane(ctx)
			if err != nil {
				return nil, err
			}
			address, _, _ := s.Page()
			c := tool.Claim{Class: tool.Send, Object: address, Detail: "upload of files"}
			var out []tool.Claim
			for _, p := range a.Paths {
				c.Fields = append(c.Fields, tool.Field{Label: "file", Value: p})
				out = append(out, tool.Claim{Class: tool.ReadFile, Object: p})
			}
			return append(out, c), nil
		}))
}
