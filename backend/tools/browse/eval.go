package browse

import (
	"context"
	_ "embed"
	"fmt"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed eval.md
var evalAbout string

type evalArgs struct {
	Expression string `json:"expression" about:"Expression or function; with a ref, of the element"`
	Ref        string `json:"ref,omitempty"`
}

// bareValue is how long a JSON value may be to be told as it is; JSON quotes
// what the page wrote. Longer ones come in a marked block.
const bareValue = 600

// mostValue is the longest value that is told.
const mostValue = 16000

func (k kit) eval() tool.Tool {
	return tool.New("browser_eval", evalAbout, tool.Acts,
		func(ctx context.Context, a evalArgs) (tool.Result, error) {
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				raw, err := s.Eval(ctx, a.Expression, a.Ref)
				if err != nil {
					return tool.Result{}, err
				}
				address, _, _ := s.Page()
				r := tool.Text("%s", raw)
				if len(raw) > mostValue {
					r.Text = fmt.Sprintf("%s… (%d of %d bytes)", raw[:mostValue], mostValue, len(raw))
				}
				if len(raw) > bareValue {
					r = tool.Outside(origin(address), r.Text)
				}
				r.Origin = address
				return r, nil
			})
		},
		tool.Within(callLimit), tool.Putting(func(evalArgs) bool { return true }),
		tool.Claiming(func(ctx context.Context, a evalArgs) ([]tool.Claim, error) {
			s, err := k.lane(ctx)
			if err != nil {
				return nil, err
			}
			address, _, _ := s.Page()
			return []tool.Claim{{Class: tool.RunScript, Object: address, Text: a.Expression}}, nil
		}))
}
