package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed dialog.md
var dialogAbout string

type dialogArgs struct {
	Accept bool   `json:"accept"`
	Text   string `json:"text,omitempty" about:"Answer to a prompt"`
}

func (k kit) dialog() tool.Tool {
	return tool.New("browser_dialog", dialogAbout, tool.Acts,
		func(ctx context.Context, a dialogArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Dialog(ctx, a.Accept, a.Text)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), tool.Putting(func(a dialogArgs) bool { return a.Text != "" }), reading[dialogArgs](k))
}
