package browse

import (
	"context"
	_ "embed"
	"time"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed wait.md
var waitAbout string

type waitArgs struct {
	Text     string `json:"text,omitempty" about:"Until it is there"`
	TextGone string `json:"text_gone,omitempty" about:"Until it is gone"`
	Ref      string `json:"ref,omitempty" about:"Until it has the state"`
	State    string `json:"state,omitempty" enum:"visible,gone,enabled,disabled"`
	URL      string `json:"url,omitempty" about:"Until the address holds it"`
	Idle     bool   `json:"idle,omitempty" about:"Until no request runs"`
	MS       int    `json:"ms,omitempty" about:"Just this long"`
	Timeout  int    `json:"timeout,omitempty" about:"Seconds, 10 if not given"`
}

func (k kit) wait() tool.Tool {
	return tool.New("browser_wait", waitAbout, tool.Reads,
		func(ctx context.Context, a waitArgs) (tool.Result, error) {
			if a.Text == "" && a.TextGone == "" && a.Ref == "" && a.URL == "" && !a.Idle && a.MS <= 0 {
				return tool.Failed("Say what to wait for: text, text_gone, ref, url, idle or ms."), nil
			}
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				limit := time.Duration(a.Timeout) * time.Second
				span := time.Duration(a.MS) * time.Millisecond
				if span > 0 && limit == 0 {
					limit = max(span, browser.DefaultLimit)
				}
				r, err := s.Wait(ctx, browser.Await{Text: a.Text, Gone: a.TextGone, Ref: a.Ref, State: a.State, URL: a.URL, Idle: a.Idle, Span: span, Limit: limit})
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), reading[waitArgs](k),
		tool.Titled(func(a waitArgs) string { return a.Text + a.TextGone + a.URL }))
}
