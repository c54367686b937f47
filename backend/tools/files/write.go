package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"gofer/backend/tool"
)

//go:embed write.md
var writeAbout string

//go:embed edit.md
var editAbout string

// editCap bounds what is read to edit a file or to show what a write changes.
const editCap = 8 << 20

type writeArgs struct {
	Path    string `json:"path" about:"File, relative to the workspace, absolute or with ~; parent folders are made"`
	Content string `json:"content" about:"The whole new text"`
}

// Write puts a whole text into a file.
func Write(f Folder) tool.Tool {
	return tool.New("fs_write", writeAbout, tool.Acts, func(ctx context.Context, a writeArgs) (tool.Result, error) {
		return f.put(ctx, "fs_write", a.Path, func(string, bool) (string, error) { return a.Content, nil }), nil
	},
		tool.Titled(func(a writeArgs) string { return base(a.Path) }),
		tool.Claiming(func(_ context.Context, a writeArgs) ([]tool.Claim, error) {
			return f.claimWrite(a.Path, func(string) string { return a.Content })
		}))
}

type editArgs struct {
	Path       string `json:"path" about:"File, relative to the workspace, absolute or with ~"`
	OldText    string `json:"old_text" about:"Text to replace, exactly as in the file, with enough around it to occur once"`
	NewText    string `json:"new_text" about:"What takes its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" about:"Replace every occurrence"`
}

// Edit replaces a piece of a file.
func Edit(f Folder) tool.Tool {
	return tool.New("fs_edit", editAbout, tool.Acts, func(ctx context.Context, a editArgs) (tool.Result, error) {
		count := 0
		r := f.put(ctx, "fs_edit", a.Path, func(old string, there bool) (string, error) {
			if !there {
				return "", fs.ErrNotExist
			}
			var now string
			var err error
			now, count, err = a.apply(old)
			return now, err
		})
		if count > 1 && !r.Failed {
			r.Text = fmt.Sprintf("%s %d occurrences replaced.", r.Text, count)
		}
		return r, nil
	},
		tool.Titled(func(a editArgs) string { return base(a.Path) }),
		tool.Claiming(func(_ context.Context, a editArgs) ([]tool.Claim, error) {
			return f.claimWrite(a.Path, func(old string) string {
				now, _, err := a.apply(old)
				if err != nil {
					return old // nothing will change: the call fails with the reason
				}
				return now
			})
		}))
}

// apply makes the edit in a text. A file with CRLF line ends keeps them,
// since fs_read shows plain ones.
func (a editArgs) apply(text string) (string, int, error) {
	old, now := a.OldText, a.NewText
	if old == "" {
		return "", 0, errors.New("old_text is empty; use fs_write to write a whole file")
	}
	if old == now {
		return "", 0, errors.New("old_text and new_text are the same")
	}
	if strings.Contains(text, "\r\n") && !strings.Contains(old, "\r\n") {
		old = strings.ReplaceAll(old, "\n", "\r\n")
		now = strings.ReplaceAll(strings.ReplaceAll(now, "\r\n", "\n"), "\n", "\r\n")
	}
	n := strings.Count(text, old)
	switch {
	case n == 0:
		return "", 0, errors.New("old_text does not occur in the file; read it again and copy the text exactly, spaces included")
	case n > 1 && !a.ReplaceAll:
		return "", n, fmt.Errorf("old_text occurs %d times; give more of the text around it, or set replace_all", n)
	}
	return strings.ReplaceAll(text, old, now), n, nil
}

// put makes the new text of a file from the old one and writes it.
func (f Folder) put(ctx context.Context, by, path string, make func(old string, there bool) (string, error)) tool.Result {
	doing := strings.TrimPrefix(by, "fs_")
	s, err := f.at(path)
	if err != nil {
		return failed(doing, path, err)
	}
	root, rel, err := f.root(s)
	if err != nil {
		return failed(doing, path, err)
	}
	defer func() { _ = root.Close() }()
	old, there, text, err := before(root, rel)
	if err != nil {
		return failed(doing, path, err)
	}
	if by == "fs_edit" && there && !text {
		return tool.Failed("Cannot edit %s: it is binary or larger than %s. Use shell_exec with a program that can.", path, Size(editCap))
	}
	now, err := make(old, there)
	if err != nil {
		return failed(doing, path, err)
	}
	err = replace(ctx, root, rel,
		func(sum string) error { return f.keep(ctx, root, rel, s.real, by, sum) },
		func(w io.Writer) error { _, err := io.WriteString(w, now); return err })
	if err != nil {
		return failed(doing, path, err)
	}
	_, added, removed := Diff(old, now)
	verb := "Changed"
	if !there {
		verb = "Made"
	}
	r := tool.Text("%s %s (%s).", verb, s.real, Size(int64(len(now))))
	r.Outcome = fmt.Sprintf("+%d −%d", added, removed)
	if there && !text {
		r.Outcome = "replaced, " + Size(int64(len(now)))
	}
	return r
}

// before reads what a write will replace; text is false when it is binary or
// too large to compare.
func before(root *os.Root, rel string) (old string, there, text bool, err error) {
	file, info, err := openRegular(root, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, true, nil
	case err != nil:
		return "", false, false, err
	}
	defer func() { _ = file.Close() }()
	if info.Size() > editCap {
		return "", true, false, nil
	}
	raw, err := io.ReadAll(io.LimitReader(file, editCap+1))
	if err != nil || len(raw) > editCap || binary(raw) {
		return "", true, false, err
	}
	return string(raw), true, true, nil
}

// claimWrite claims a write with the difference it makes.
func (f Folder) claimWrite(path string, make func(old string) string) ([]tool.Claim, error) {
	claims, s, err := f.claim(tool.WriteFile, path)
	if err != nil || len(claims) == 0 {
		return claims, err
	}
	c := &claims[0]
	root, rel, err := f.root(s)
	if err != nil {
		c.Text, _, _ = Diff("", make(""))
		return claims, nil // the call fails with the reason
	}
	defer func() { _ = root.Close() }()
	old, there, text, err := before(root, rel)
	if err == nil && there && !text {
		c.Text = "(replaces a file that is binary or large)\n"
	}
	diff, _, _ := Diff(old, make(old))
	c.Text += diff
	if !there && err == nil {
		c.Detail = strings.TrimPrefix(c.Detail+", new file", ", ")
	}
	return claims, nil
}
