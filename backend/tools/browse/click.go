package browse

import (
	"context"
	_ "embed"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed click.md
var clickAbout string

type clickArgs struct {
	Ref       string   `json:"ref,omitempty" about:"Such as e12"`
	Text      string   `json:"text,omitempty" about:"Or the text or name on it"`
	Button    string   `json:"button,omitempty" enum:"left,right,middle"`
	Count     int      `json:"count,omitempty" about:"2 for a double click"`
	Modifiers []string `json:"modifiers,omitempty" about:"Control, Shift, Alt, Meta"`
}

func (k kit) click() tool.Tool {
	return tool.New("browser_click", clickAbout, tool.Acts,
		func(ctx context.Context, a clickArgs) (tool.Result, error) {
			if a.Ref == "" && a.Text == "" {
				return tool.Failed("Give a ref or a text."), nil
			}
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Click(ctx, browser.Click{Target: browser.Target{Ref: a.Ref, Text: a.Text}, Button: a.Button, Count: min(a.Count, 3), Modifiers: a.Modifiers})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit),
		tool.Titled(func(a clickArgs) string { return k.title(a.Ref, a.Text) }),
		acting(k, func(a clickArgs) (browser.Target, bool) { return browser.Target{Ref: a.Ref, Text: a.Text}, false }))
}
