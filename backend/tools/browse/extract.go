package browse

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gofer/backend/browser"
	"gofer/backend/tool"
)

//go:embed extract.md
var extractAbout string

type extractArgs struct {
	Rows   string  `json:"rows" about:"CSS selector of a row, or ref of a table, list or something in a row"`
	Fields columns `json:"fields" about:"Name to place in the row: \"sel\", \"sel@attr\", \"@attr\", \"text\", \"href\" or \"value\""`
	Limit  int     `json:"limit,omitempty" about:"Rows, 50 if not given"`
	Skip   int     `json:"skip,omitempty" about:"Rows to pass over"`
}

// columns are the fields by name; at keeps the order they were given in.
type columns map[string]column

type column struct {
	from string
	at   int
}

// UnmarshalJSON reads an object of strings in its order.
func (c *columns) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("argument \"fields\" must be an object of names and places")
	}
	*c = columns{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var from string
		if err := d.Decode(&from); err != nil || strings.TrimSpace(from) == "" {
			return fmt.Errorf("field %q must name a place, such as \"h3\" or \"a@href\"", name)
		}
		(*c)[fmt.Sprint(name)] = column{strings.TrimSpace(from), len(*c)}
	}
	return nil
}

func (c columns) list() []browser.Column {
	var out []browser.Column
	for name, col := range c {
		out = append(out, browser.Column{Name: name, From: col.from})
	}
	slices.SortFunc(out, func(a, b browser.Column) int { return c[a.Name].at - c[b.Name].at })
	return out
}

func (k kit) extract() tool.Tool {
	return tool.New("browser_extract", extractAbout, tool.Reads,
		func(ctx context.Context, a extractArgs) (tool.Result, error) {
			if len(a.Fields) == 0 || len(a.Fields) > 30 {
				return tool.Failed("Give 1 to 30 fields, such as {\"title\":\"h3\",\"link\":\"a@href\"}."), nil
			}
			return k.with(ctx, func(s *browser.Session) (tool.Result, error) {
				t, err := s.Extract(ctx, browser.Extract{Rows: strings.TrimSpace(a.Rows), Fields: a.Fields.list(), Limit: a.Limit, Skip: a.Skip})
				if err != nil {
					return tool.Result{}, err
				}
				var b strings.Builder
				b.WriteString(line(t.Names))
				for _, row := range t.Rows {
					b.WriteString(line(row))
				}
				r := tool.Outside(t.URL, b.String())
				if t.Left > 0 {
					r.Text += fmt.Sprintf("\n%d more rows: call again with skip %d.", t.Left, t.Next)
				}
				if len(t.Notes) > 0 {
					r.Text += "\n" + strings.Join(t.Notes, " ")
				}
				r.Outcome = fmt.Sprintf("%d rows", len(t.Rows))
				return r, nil
			})
		},
		tool.Within(callLimit), reading[extractArgs](k))
}

// line writes values with bars between them; bars within are escaped.
func line(values []string) string {
	var cells []string
	for _, v := range values {
		cells = append(cells, strings.ReplaceAll(v, "|", `\|`))
	}
	return strings.TrimRight(strings.Join(cells, " | "), "\n") + "\n"
}
