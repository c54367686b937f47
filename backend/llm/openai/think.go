package openai

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinking parts a leading <think> block from the text, piece by piece. Only a
// tag that opens the reply counts; anywhere else it is text.
type thinking struct {
	state int // before, within, after, through
	held  string
}

const (
	before = iota
	within
	after
	through
)

// add returns what a piece adds to the thinking and to the text.
func (t *thinking) add(piece string) (reasoning, text string) {
	t.held += piece
	if t.state == before {
		start := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(start, thinkOpen):
			t.state, t.held = within, start[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, start):
			return "", ""
		default:
			t.state = through
		}
	}
	if t.state == within {
		inner, rest, closed := strings.Cut(t.held, thinkClose)
		if !closed {
			keep := partial(t.held, thinkClose)
			reasoning, t.held = t.held[:len(t.held)-keep], t.held[len(t.held)-keep:]
			return reasoning, ""
		}
		reasoning, t.held, t.state = inner, rest, after
	}
	if t.state == after {
		t.held = strings.TrimLeft(t.held, " \t\r\n")
		if t.held == "" {
			return reasoning, ""
		}
		t.state = through
	}
	text, t.held = t.held, ""
	return reasoning, text
}

// end returns what was held back when nothing more comes.
func (t *thinking) end() (reasoning, text string) {
	held := t.held
	t.held = ""
	if t.state == within {
		return held, ""
	}
	return "", held
}

// partial returns how many bytes at the end of s may be the start of tag.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
