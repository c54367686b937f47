package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// clean makes text safe to print on a terminal: control characters other than
// line ends and tabs, and those that turn the direction of text, are shown
// instead of obeyed.
func clean(text string) string {
	if strings.IndexFunc(text, sly) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if sly(r) {
			fmt.Fprintf(&b, "\\u{%X}", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func sly(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r == '\ufeff' || r == unicode.ReplacementChar
}

// line is clean text on one line, cut at about n characters.
func line(text string, n int) string {
	text = clean(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); n > 0 && len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// indent sets every line of text off by two spaces.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// took says how long something took.
func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// tokens says how many tokens.
func tokens(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d tokens", n)
	}
	return fmt.Sprintf("%.1fk tokens", float64(n)/1000)
}

// plural is a number with its word.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// at is a stored time as a person reads it.
func at(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04") }
