package files

import (
	"fmt"
	"strings"
)

// diffLimit bounds the text of a diff; the count of lines stays right.
const diffLimit = 200 << 10

// edit is a run of lines that are the same in both texts, or differ.
type edit struct {
	same     bool
	a, b     []string // lines of the old and the new text
	atA, atB int      // where they start, from 0
}

// Diff returns a unified diff with three lines around each change, and how
// many lines it adds and takes away.
func Diff(old, now string) (text string, added, removed int) {
	edits := compare(lines(old), lines(now))
	var b strings.Builder
	const around = 3
	for i := 0; i < len(edits); {
		if edits[i].same {
			i++
			continue
		}
		// A hunk takes in all changes with little between them.
		last := i
		for j := i + 2; j < len(edits) && len(edits[j-1].a) <= 2*around; j += 2 {
			last = j
		}
		var before, after []string
		if i > 0 {
			before = edits[i-1].a[max(0, len(edits[i-1].a)-around):]
		}
		if last+1 < len(edits) {
			after = edits[last+1].a[:min(around, len(edits[last+1].a))]
		}
		lenA, lenB := len(before)+len(after), len(before)+len(after)
		for _, e := range edits[i : last+1] {
			lenA, lenB = lenA+len(e.a), lenB+len(e.b)
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(edits[i].atA-len(before), lenA), span(edits[i].atB-len(before), lenB))
		put(&b, " ", before)
		for _, e := range edits[i : last+1] {
			if e.same {
				put(&b, " ", e.a)
				continue
			}
			added, removed = added+len(e.b), removed+len(e.a)
			put(&b, "-", e.a)
			put(&b, "+", e.b)
		}
		put(&b, " ", after)
		i = last + 1
	}
	text = b.String()
	if len(text) > diffLimit {
		hidden := strings.Count(text[diffLimit:], "\n")
		text = strings.ToValidUTF8(text[:diffLimit], "") + fmt.Sprintf("\n[... %d more lines of this change are not shown ...]\n", hidden)
	}
	return text, added, removed
}

func span(start, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", start)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}

func put(b *strings.Builder, mark string, lines []string) {
	for _, l := range lines {
		b.WriteString(mark)
		b.WriteString(strings.TrimSuffix(l, "\n"))
		b.WriteByte('\n')
		if !strings.HasSuffix(l, "\n") {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	list := strings.SplitAfter(s, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// compare returns runs that are same and different in turn. Large middles are
// taken as replaced whole, since nobody would read the difference.
func compare(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var edits []edit
	add := func(same bool, a, b []string, atA, atB int) {
		if len(a) == 0 && len(b) == 0 {
			return
		}
		if n := len(edits); n > 0 && edits[n-1].same == same {
			edits[n-1].a, edits[n-1].b = append(edits[n-1].a, a...), append(edits[n-1].b, b...)
			return
		}
		edits = append(edits, edit{same, append([]string(nil), a...), append([]string(nil), b...), atA, atB})
	}
	add(true, a[:head], b[:head], 0, 0)
	midA, midB := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(midA)*len(midB) > 4_000_000 {
		add(false, midA, midB, head, head)
	} else {
		match(midA, midB, func(same bool, i, j, n, m int) {
			add(same, midA[i:i+n], midB[j:j+m], head+i, head+j)
		})
	}
	add(true, a[len(a)-tail:], b[len(b)-tail:], len(a)-tail, len(b)-tail)
	return edits
}

// match walks a longest common subsequence.
func match(a, b []string, step func(same bool, i, j, n, m int)) {
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			step(true, i, j, 1, 1)
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[(i+1)*width+j] >= longest[i*width+j+1]:
			step(false, i, j, 1, 0)
			i++
		default:
			step(false, i, j, 0, 1)
			j++
		}
	}
}
