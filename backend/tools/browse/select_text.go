package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed select_text.md
var selectTextAbout string

type selectTextArgs struct {
	Ref   string `json:"ref,omitempty"`
	Text  string `json:"text,omitempty" about:"What to select; all of the element if not given"`
	Start int    `json:"start,omitempty" about:"Or by characters: the first"`
	End   int    `json:"end,omitempty" about:"and the one behind the last"`
}

func (k kit) selectText() tool.Tool {
	return tool.New("browser_select_text", selectTextAbout, tool.Acts,
		func(ctx context.Context, a selectTextArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.SelectText(ctx, browser.Stretch{Ref: a.Ref, Text: a.Text, Start: a.Start, End: a.End})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[selectTextArgs](k),
		tool.Titled(func(a selectTextArgs) string { return k.title(a.Ref, a.Text) }))
}
