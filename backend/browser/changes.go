package browser

import (
	"context"
	"regexp"
	"strings"
)

// lastView is the last snapshot of the whole page.
type lastView struct {
	loader string // document it showed
	q      Query
	text   string
}

// look takes a snapshot, or tells what changed since the last one of the page
// when that is shorter.
func (t *tab) look(ctx context.Context, q Query) (View, error) {
	changes := q.View == "changes"
	t.mu.Lock()
	last, loader := t.last, t.loader
	t.mu.Unlock()
	known := changes && last.text != "" && last.loader == loader
	if changes {
		if q.View = ""; known && q.Ref == "" && q.After == "" {
			q = last.q // alike, so that they can be compared
		}
	}
	v, err := t.snapshot(ctx, q)
	if err != nil || q.Ref != "" || q.After != "" {
		return v, err
	}
	t.mu.Lock()
	same := loader == t.loader
	t.last = lastView{loader, q, v.Text}
	t.mu.Unlock()
	if !changes {
		return v, nil
	}
	if !known || !same {
		v.Text += "\n(no earlier snapshot of this page to compare with; this is all of it)"
		return v, nil
	}
	diff := difference(last.text, v.Text)
	head, _, _ := strings.Cut(v.Text, "\n")
	switch {
	case diff == "":
		v.Text = head + "\n(no change since the last snapshot)"
	case len(diff)+40 >= len(v.Text):
		v.Text += "\n(most of the page changed; this is all of it)"
	default:
		v.Text = head + ", changes since the last snapshot\n" + diff
	}
	return v, nil
}

var (
	goOn      = regexp.MustCompile(`(ref|after)=(f?\d*e\d+)\)$`)
	lineRef   = regexp.MustCompile(`\[ref=(\w+)\]`)
	stateRest = regexp.MustCompile(`( \[ref=\w+\]).*$`)
)

// difference lists the lines that are new (+), changed in place (~) or gone,
// under the line they are in. Refs of continuations do not count.
func difference(before, after string) string {
	a, b := strings.Split(before, "\n")[1:], strings.Split(after, "\n")[1:]
	key := func(s string) string { return goOn.ReplaceAllString(s, "") }
	for len(a) > 0 && len(b) > 0 && key(a[len(a)-1]) == key(b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a)*len(b) > 4_000_000 {
		return after
	}
	// common[i][j] is the length of what a[i:] and b[j:] have in common.
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if key(a[i]) == key(b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var gone, added []string
	isNew := make([]bool, len(b))
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && key(a[i]) == key(b[j]):
			i, j = i+1, j+1
		case j < len(b) && (i == len(a) || common[i][j+1] >= common[i+1][j]):
			isNew[j] = true
			j++
		default:
			gone = append(gone, strings.TrimSpace(a[i]))
			i++
		}
	}
	was := map[string]bool{}
	for _, l := range gone {
		if m := lineRef.FindStringSubmatch(l); m != nil {
			was[m[1]] = true
		}
	}
	kept := map[string]bool{}
	told := -1
	for j, l := range b {
		if !isNew[j] {
			continue
		}
		if up := parentLine(b, j); up >= 0 && !isNew[up] && up != told {
			added = append(added, "in "+stateRest.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(b[up]), "- "), "$1")+":")
			told = up
		}
		mark, text := "+ ", strings.TrimPrefix(strings.TrimSpace(l), "- ")
		if m := lineRef.FindStringSubmatch(l); m != nil && was[m[1]] {
			mark, kept[m[1]] = "~ ", true
		}
		added = append(added, strings.Repeat("  ", newAbove(b, isNew, j))+mark+text)
	}
	for _, l := range gone {
		if m := lineRef.FindStringSubmatch(l); m != nil && kept[m[1]] || strings.HasPrefix(l, "…") {
			continue
		}
		added = append(added, "gone: "+strings.TrimPrefix(l, "- "))
	}
	return strings.Join(added, "\n")
}

// parentLine is the line that the line at is nested in, -1 if none.
func parentLine(lines []string, at int) int {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	for i := at - 1; i >= 0; i-- {
		if indent(lines[i]) < indent(lines[at]) {
			return i
		}
	}
	return -1
}

// newAbove counts the new lines that a line is nested in.
func newAbove(lines []string, isNew []bool, at int) int {
	n := 0
	for up := parentLine(lines, at); up >= 0 && isNew[up]; up = parentLine(lines, up) {
		n++
	}
	return n
}
