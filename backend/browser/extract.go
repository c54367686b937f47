package browser

import (
	"context"
	"fmt"
	"strings"
)

// Column is one column of an extract: its name and where in a row its value is.
type Column struct {
	Name string
	From string // selector, selector@attribute, @attribute, text, href or value
}

// Extract says which rows and columns to read.
type Extract struct {
	Rows   string // selector, or ref of a table, a list or something in a row
	Fields []Column
	Limit  int // rows; 0 is 50
	Skip   int // rows to pass over
	Budget int // bytes of values; 0 is DefaultBudget
}

// Table is what Extract read.
type Table struct {
	URL   string
	Names []string
	Rows  [][]string
	Next  int      // rows to skip to go on; 0 when nothing was left out
	Left  int      // rows left out behind the last one
	Notes []string // what else was left out
}

// MaxRows is the most rows one extract tells.
const MaxRows = 500

// Extract reads the values of like rows, in all frames when a selector says
// which. It stops at the row limit or the budget and says what is left.
func (s *Session) Extract(ctx context.Context, q Extract) (Table, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return Table{}, err
	}
	defer done()
	out, err := t.extract(ctx, q)
	return out, s.explain(ctx, t, err)
}

type extracted struct {
	Rows          [][]string
	Filled        []bool
	Hidden, Empty int
	Shown, Left   int // rows passed or told; rows not come to
	Used          int
}

func (t *tab) extract(ctx context.Context, q Extract) (Table, error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit, q.Skip = min(q.Limit, MaxRows), max(q.Skip, 0)
	if q.Budget <= 0 {
		q.Budget = DefaultBudget
	}
	q.Budget = min(max(q.Budget, 400), MaxBudget)
	out := Table{}
	var from []string
	for _, f := range q.Fields {
		out.Names = append(out.Names, f.Name)
		from = append(from, f.From)
	}
	frames, a := t.allFrames(), args{"rows": q.Rows, "fields": from}
	if refForm.MatchString(q.Rows) || strings.Contains(q.Rows, "ref=e") {
		f, id, err := t.locate(q.Rows)
		if err != nil {
			return Table{}, err
		}
		frames = []*frame{f}
		a["ref"] = id
	}
	filled := make([]bool, len(from))
	var hidden, empty, shown int
	for _, f := range frames {
		a["limit"], a["skip"], a["bytes"] = q.Limit-len(out.Rows), max(q.Skip-shown, 0), q.Budget
		var got extracted
		if err := t.js(ctx, f, "extract", a, &got); err != nil {
			if f.no > 0 && a["ref"] == nil && ctx.Err() == nil && !isGone(err) {
				out.Notes = append(out.Notes, fmt.Sprintf("Frame f%d did not answer.", f.no))
				continue
			}
			return Table{}, err
		}
		out.Rows = append(out.Rows, got.Rows...)
		out.Left += got.Left
		hidden, empty, shown = hidden+got.Hidden, empty+got.Empty, shown+got.Shown
		q.Budget -= got.Used
		for i, ok := range got.Filled {
			filled[i] = filled[i] || ok
		}
	}
	t.mu.Lock()
	out.URL = t.url
	t.mu.Unlock()
	if out.Left > 0 {
		out.Next = shown
	}
	if len(out.Rows) == 0 {
		switch {
		case q.Skip > 0 && empty == 0:
			return Table{}, problem(NotFound, "there are only %d rows", shown)
		case empty > 0:
			return Table{}, problem(NotFound, "%d rows match, but none of the fields is in them", empty)
		case hidden > 0:
			return Table{}, problem(NotFound, "%d rows match, but none can be seen", hidden)
		}
		return Table{}, problem(NotFound, "no row matches %q", short(q.Rows, 100))
	}
	for i, ok := range filled {
		if !ok {
			out.Notes = append(out.Notes, fmt.Sprintf("Nothing found for %s (%s).", short(out.Names[i], 60), short(from[i], 80)))
		}
	}
	if empty > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d rows without any of the fields left out.", empty))
	}
	if hidden > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d hidden rows left out.", hidden))
	}
	return out, nil
}
