package browse

import (
	"bytes"
	"context"
	_ "embed"
	"path/filepath"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed pdf.md
var pdfAbout string

type pdfArgs struct {
	SaveAs string `json:"save_as" about:"Path of the file, such as page.pdf"`
}

// fileCap is the largest file that is saved.
const fileCap = 100 << 20

func (k kit) pdf() tool.Tool {
	return tool.New("browser_pdf", pdfAbout, tool.Acts,
		func(ctx context.Context, a pdfArgs) (tool.Result, error) {
			path, err := k.files.Target(a.SaveAs)
			if err != nil {
				return tool.Failed("Cannot save to %s: %v. Choose another path.", a.SaveAs, err), nil
			}
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				d, err := s.PDF(ctx)
				if err != nil {
					return tool.Result{}, err
				}
				n, err := k.files.Save(ctx, a.SaveAs, bytes.NewReader(d.PDF), fileCap)
				if err != nil {
					if ctx.Err() != nil {
						return tool.Result{}, ctx.Err()
					}
					return tool.Failed("Did not save %s: %v. Choose another path.", a.SaveAs, err), nil
				}
				r := tool.Text("Saved %s as PDF to %s (%s).", d.URL, path, browser.Size(n))
				r.Outcome, r.Origin = browser.Size(n), d.URL
				return r, nil
			})
		},
		tool.Within(callLimit),
		tool.Titled(func(a pdfArgs) string { return filepath.Base(a.SaveAs) }),
		tool.Claiming(func(ctx context.Context, a pdfArgs) ([]tool.Claim, error) {
			path, err := k.files.Target(a.SaveAs)
			if err != nil {
				return nil, err
			}
			s, err := k.lane(ctx)
			if err != nil {
				return nil, err
			}
			address, _, _ := s.Page()
			return append(visit(address), tool.Claim{Class: tool.WriteFile, Object: path, Detail: "the page as PDF"}), nil
		}))
}
