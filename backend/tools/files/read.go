package files

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"gofer/backend/tool"
)

//go:embed read.md
var readAbout string

const (
	readCap   = 256 << 10 // bytes of one call
	readLines = 2000      // lines of one call that names no limit
	countUpTo = 64 << 20  // bytes looked through to say how many lines there are
)

type readArgs struct {
	Path   string `json:"path" about:"File, relative to the workspace, absolute or with ~"`
	Offset int64  `json:"offset,omitempty" about:"First line, from 1; with unit bytes the first byte, from 0"`
	Limit  int64  `json:"limit,omitempty" about:"How many lines (default 2000) or bytes; at most 256 KiB come back"`
	Unit   string `json:"unit,omitempty" enum:"lines,bytes" about:"What offset and limit count; default lines"`
}

// Read gives the text of a file.
func Read(f Folder) tool.Tool {
	return tool.New("fs_read", readAbout, tool.Reads, func(ctx context.Context, a readArgs) (tool.Result, error) {
		s, err := f.at(a.Path)
		if err != nil {
			return failed("read", a.Path, err), nil
		}
		root, rel, err := f.root(s)
		if err != nil {
			return failed("read", a.Path, err), nil
		}
		defer func() { _ = root.Close() }()
		file, info, err := openRegular(root, rel)
		if err != nil {
			return failed("read", a.Path, err), nil
		}
		defer func() { _ = file.Close() }()

		start := make([]byte, 8<<10)
		n, err := io.ReadFull(file, start)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return failed("read", a.Path, err), nil
		}
		if start = start[:n]; binary(start) {
			return binaryResult(a.Path, info.Size(), start), nil
		}
		var p piece
		if a.Unit == "bytes" {
			if _, err = file.Seek(max(0, a.Offset), io.SeekStart); err == nil {
				p, err = readBytes(file, max(0, a.Offset), a.Limit, info.Size())
			}
		} else {
			p, err = readFrom(ctx, io.MultiReader(bytes.NewReader(start), file), a.Offset, a.Limit)
		}
		if err != nil {
			return failed("read", a.Path, err), nil
		}
		if bytes.IndexByte(p.text, 0) >= 0 {
			return binaryResult(a.Path, info.Size(), start), nil
		}
		return p.result(s.real, base(a.Path)), nil
	},
		tool.Titled(func(a readArgs) string { return base(a.Path) }),
		tool.Claiming(func(_ context.Context, a readArgs) ([]tool.Claim, error) {
			claims, _, err := f.claim(tool.ReadFile, a.Path)
			return claims, err
		}))
}

// piece is what one call reads, and in words which part of the file it is.
type piece struct {
	text  []byte
	where string // such as: lines 1–20 of 300
	next  string // how to read on; empty at the end
}

func (p piece) result(path, name string) tool.Result {
	notes := []string{p.where}
	if bytes.Contains(p.text, []byte("\r\n")) {
		p.text = bytes.ReplaceAll(p.text, []byte("\r\n"), []byte("\n"))
		notes = append(notes, "line ends are CRLF")
	}
	if !utf8.Valid(p.text) {
		p.text = bytes.ToValidUTF8(p.text, []byte("\uFFFD"))
		notes = append(notes, "bytes that are not UTF-8 are shown as \uFFFD")
	}
	head := fmt.Sprintf("%s: %s.", name, strings.Join(notes, "; "))
	if p.next != "" {
		head += " Truncated here: " + p.next + "."
	}
	r := tool.Outside(path, string(p.text))
	r.Text = head + "\n" + r.Text
	r.Outcome = p.where
	return r
}

// readFrom takes whole lines from the offset on, as many as the limit and the
// cap allow.
func readFrom(ctx context.Context, r io.Reader, offset, limit int64) (piece, error) {
	first := max(1, offset)
	if limit <= 0 {
		limit = readLines
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var p piece
	var line, at, taken int64 // lines before the current one, bytes before it, lines taken
	full, long := false, false
	begin := int64(-1) // where a line that is too long begins
	for at < countUpTo || !full && len(p.text) == 0 {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		part, err := in.ReadSlice('\n')
		ends := err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return p, err
		}
		if line+1 >= first && !full {
			if len(p.text)+len(part) > readCap {
				full = true
				if whole := bytes.LastIndexByte(p.text, '\n') + 1; whole > 0 {
					p.text = p.text[:whole] // the line did not fit: leave it for the next call
				} else {
					long, begin = true, at-int64(len(p.text))
					p.text = append(p.text, part[:readCap-len(p.text)]...)
					taken++
				}
			} else {
				p.text = append(p.text, part...)
				if ends {
					taken++
					full = taken == limit
				} else if errors.Is(err, io.EOF) && len(part) > 0 {
					taken++
				}
			}
		}
		at += int64(len(part))
		if ends || errors.Is(err, io.EOF) && len(part) > 0 {
			line++
		}
		if errors.Is(err, io.EOF) {
			return p.lines(first, taken, line, true, long, begin), nil
		}
	}
	return p.lines(first, taken, line, false, long, begin), nil
}

func (p piece) lines(first, taken, seen int64, ended, long bool, begin int64) piece {
	total := fmt.Sprintf("of %d", seen)
	if !ended {
		total = fmt.Sprintf("of more than %d", seen)
	}
	last := first + taken - 1
	switch {
	case seen == 0:
		p.where = "the file is empty"
	case taken == 0:
		p.where = fmt.Sprintf("no line %d, the file has %d", first, seen)
	case long:
		p.where = fmt.Sprintf("the first %d bytes of line %d %s", len(p.text), first, total)
		p.next = fmt.Sprintf("the line goes on; read it with unit bytes and offset %d", begin+int64(len(p.text)))
	default:
		p.where = fmt.Sprintf("lines %d–%d %s", first, last, total)
		if last < seen || !ended {
			p.next = fmt.Sprintf("more follows; go on with offset %d", last+1)
		}
	}
	return p
}

// readBytes takes bytes from where the file stands, without cutting a letter.
func readBytes(r io.Reader, offset, limit, size int64) (piece, error) {
	if limit <= 0 || limit > readCap {
		limit = readCap
	}
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return piece{}, err
	}
	p := piece{text: text}
	more := int64(len(text)) > limit
	if more {
		p.text = text[:limit]
		for cut := 1; cut < utf8.UTFMax && len(p.text) > cut; cut++ {
			if tail := p.text[len(p.text)-cut:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					p.text = p.text[:len(p.text)-cut]
				}
				break
			}
		}
	}
	end := offset + int64(len(p.text))
	p.where = fmt.Sprintf("bytes %d–%d of %d", offset, end, max(size, end))
	if len(p.text) == 0 {
		p.where = fmt.Sprintf("nothing at byte %d, the file has %d", offset, size)
	}
	if more {
		p.next = fmt.Sprintf("more follows; go on with unit bytes and offset %d", end)
	}
	return p, nil
}

// binary reports whether bytes from the start of a file are no text.
func binary(start []byte) bool {
	if bytes.IndexByte(start, 0) >= 0 {
		return true
	}
	return !utf8.Valid(start) && !strings.HasPrefix(http.DetectContentType(start), "text/")
}

func binaryResult(path string, size int64, start []byte) tool.Result {
	show := start[:min(32, len(start))]
	bytes := fmt.Sprintf("% x", show)
	if int64(len(show)) < size {
		bytes += " … (truncated)"
	}
	r := tool.Failed("%s is a binary file of %d bytes (%s), which is no text to read. It begins with %s. "+
		"Use shell_exec with a program that knows this format.", path, size, http.DetectContentType(start), bytes)
	r.Outcome = "binary, " + Size(size)
	return r
}
