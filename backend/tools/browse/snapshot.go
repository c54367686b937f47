package browse

import (
	"context"
	_ "embed"
	"fmt"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed snapshot.md
var snapshotAbout string

type snapshotArgs struct {
	Ref    string `json:"ref,omitempty" about:"Only what is in this element"`
	View   string `json:"view,omitempty" enum:"auto,controls,text,full,visual,changes" about:"auto: controls and prose; controls only; text: prose uncut; full: all uncut; visual: with boxes (x,y WxH), colours, shapes, for graphical pages; changes: since the last snapshot"`
	Depth  int    `json:"depth,omitempty" about:"Levels of nesting"`
	Budget int    `json:"budget,omitempty" about:"Bytes, 6000 if not given, at most 64000"`
	After  string `json:"after,omitempty" about:"Go on where one was cut"`
}

func (k kit) snapshot() tool.Tool {
	return tool.New("browser_snapshot", snapshotAbout, tool.Reads,
		func(ctx context.Context, a snapshotArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				v, err := s.Snapshot(ctx, browser.Query{Ref: a.Ref, View: a.View, Depth: a.Depth, Budget: a.Budget, After: a.After})
				if err != nil {
					return tool.Result{}, err
				}
				r := tool.Outside(v.URL, v.Text)
				r.Outcome = fmt.Sprintf("%.1f KB", float64(len(v.Text))/1000)
				return r, nil
			})
		},
		tool.Within(callLimit), reading[snapshotArgs](k),
		tool.Titled(func(a snapshotArgs) string { return k.title(a.Ref, "") }))
}
