package chat

import "strings"

// Pieces is a text that grows. What is there is not copied while more comes, and
// several may share their pieces.
type Pieces struct {
	list []string
	size int
}

// Add appends a piece.
func (p *Pieces) Add(s string) {
	p.list, p.size = append(p.list, s), p.size+len(s)
}

// Len returns how many bytes the text has.
func (p *Pieces) Len() int { return p.size }

// String returns the whole text.
func (p *Pieces) String() string { return strings.Join(p.list, "") }
