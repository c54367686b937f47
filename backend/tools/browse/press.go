package browse

import (
	"context"
	_ "embed"
	"strings"
	"unicode/utf8"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed press.md
var pressAbout string

type pressArgs struct {
	Key string `json:"key" about:"Keys and chords: Enter, Control+K, Tab Tab Space"`
	Ref string `json:"ref,omitempty" about:"Element to focus first"`
}

func (k kit) press() tool.Tool {
	return tool.New("browser_press", pressAbout, tool.Acts,
		func(ctx context.Context, a pressArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				r, err := s.Press(ctx, a.Key, a.Ref)
				return report(s, r, err)
			})
		},
		tool.Within(callLimit), tool.Putting(func(a pressArgs) bool { return writes(a.Key) }),
		tool.Titled(func(a pressArgs) string { return a.Key }),
		tool.Claiming(func(ctx context.Context, a pressArgs) ([]tool.Claim, error) {
			s, err := k.lane(ctx)
			if err != nil {
				return nil, err
			}
			address, _, _ := s.Page()
			if !presses(a.Key) {
				return visit(address), nil
			}
			f, err := s.Facts(ctx, browser.Target{Ref: a.Ref}, true)
			if err != nil {
				return visit(address), ctx.Err()
			}
			return claims(f), nil
		}))
}

// presses is true for keys that can press what has the focus.
func presses(keys string) bool {
	low := strings.ToLower(keys)
	return strings.Contains(low, "enter") || strings.Contains(low, "return") || strings.Contains(low, "space") || keys == " "
}

// writes is true for keys that can put a letter, or what was copied, into a page.
func writes(keys string) bool {
	for _, chord := range strings.Fields(keys) {
		key := chord[strings.LastIndexByte(chord[:len(chord)-1], '+')+1:]
		if utf8.RuneCountInString(key) == 1 || strings.EqualFold(key, "Insert") || strings.EqualFold(key, "Paste") {
			return true
		}
	}
	return false
}
