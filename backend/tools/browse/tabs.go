package browse

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed tabs.md
var tabsAbout string

type tabsArgs struct {
	Action string `json:"action" enum:"list,open,select,close"`
	URL    string `json:"url,omitempty" about:"For open"`
	Tab    string `json:"tab,omitempty" about:"For select and close"`
}

func (k kit) tabs() tool.Tool {
	return tool.New("browser_tabs", tabsAbout, tool.Acts,
		func(ctx context.Context, a tabsArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				switch a.Action {
				case "open":
					if a.URL == "" {
						return tool.Failed("Give the url to open."), nil
					}
					r, err := s.Open(ctx, a.URL, true)
					return report(s, r, err)
				case "select":
					t, err := s.SelectTab(ctx, a.Tab)
					if err != nil {
						return tool.Result{}, err
					}
					r := tool.Text("%s is current now: %q %s", t.ID, t.Title, t.URL)
					r.Origin = t.URL
					return r, nil
				case "close":
					closed, current, err := s.CloseTab(ctx, a.Tab)
					if err != nil {
						return tool.Result{}, err
					}
					if current == "" {
						return tool.Text("Closed %s; no tab is left.", closed), nil
					}
					return tool.Text("Closed %s; %s is current.", closed, current), nil
				}
				var b strings.Builder
				for _, t := range s.Tabs(ctx) {
					title := strings.Join(strings.Fields(t.Title), " ")
					mark := ""
					if t.Current {
						mark = " (current)"
					}
					fmt.Fprintf(&b, "%s: %s %s%s\n", t.ID, title, t.URL, mark)
				}
				if b.Len() == 0 {
					return tool.Text("No tab is open."), nil
				}
				r := tool.Text("%s", strings.TrimSpace(b.String()))
				r.Origin, _, _ = s.Page()
				return r, nil
			})
		},
		tool.Within(callLimit),
		tool.Titled(func(a tabsArgs) string {
			if a.URL != "" {
				return host(a.URL)
			}
			return strings.TrimSpace(a.Action + " " + a.Tab)
		}),
		tool.Claiming(func(_ context.Context, a tabsArgs) ([]tool.Claim, error) {
			if a.Action != "open" {
				return nil, nil
			}
			to, err := browser.Address(a.URL)
			if err != nil {
				return nil, err
			}
			return visit(to), nil
		}))
}
