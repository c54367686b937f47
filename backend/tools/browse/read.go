package browse

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed read.md
var readAbout string

type readArgs struct {
	Ref    string `json:"ref,omitempty" about:"Only this element"`
	Part   int    `json:"part,omitempty" about:"Which part of a long page, from 1"`
	Budget int    `json:"budget,omitempty" about:"Bytes per part, 12000 if not given"`
}

func (k kit) read() tool.Tool {
	return tool.New("browser_read", readAbout, tool.Reads,
		func(ctx context.Context, a readArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				p, err := s.Read(ctx, a.Ref, a.Part, a.Budget)
				if err != nil {
					return tool.Result{}, err
				}
				text := p.Markdown
				if a.Ref == "" && p.Part == 1 && p.Title != "" && !strings.HasPrefix(text, "# ") {
					text = "Title: " + p.Title + "\n\n" + text
				}
				if p.Parts > 1 {
					text += fmt.Sprintf("\n\n(part %d of %d)", p.Part, p.Parts)
					if p.Part == 1 && len(p.Contents) > 0 {
						text += " Headings by part:\n" + strings.Join(p.Contents, "\n")
					}
				}
				r := tool.Outside(p.URL, text)
				r.Outcome = fmt.Sprintf("%.1f KB", float64(len(text))/1000)
				return r, nil
			})
		},
		tool.Within(callLimit), reading[readArgs](k))
}
