package guard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes a text safe to show to the person who decides on it: what
// would not show, or would change the order of what shows, is written out as
// an escape. Line breaks and tabs stay.
func Visible(s string) string {
	if !strings.ContainsFunc(s, unseen) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !unseen(r):
			b.WriteRune(r)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// unseen reports whether a character shows as nothing, as blank, or moves
// others about.
func unseen(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800', '\u034F', '\u17B4', '\u17B5': // letters and signs that are blank
		return true
	}
	return !unicode.IsPrint(r) || r >= 0xE0100 && r <= 0xE01EF
}
