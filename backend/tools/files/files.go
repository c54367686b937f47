package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"gofer/backend/tool"
)

// All returns the file tools of one folder.
func All(f Folder) []tool.Tool {
	return []tool.Tool{Read(f), Write(f), Edit(f), List(f), Mkdir(f), Delete(f), Search(f)}
}

// failed turns an error into words the model can act on.
func failed(doing, path string, err error) tool.Result {
	switch {
	case errors.Is(err, ErrProtected):
		return tool.Failed("Cannot %s %s: %v. Do without it.", doing, path, err)
	case errors.Is(err, fs.ErrNotExist):
		return tool.Failed("Cannot %s %s: there is no such file or folder. Look with fs_list or fs_search for what there is.", doing, path)
	case errors.Is(err, fs.ErrPermission):
		return tool.Failed("Cannot %s %s: the system does not permit it. Use another place, or ask the person.", doing, path)
	case errors.Is(err, errFolder):
		return tool.Failed("Cannot %s %s: it is a folder. Use fs_list for folders.", doing, path)
	case errors.Is(err, errSpecial):
		return tool.Failed("Cannot %s %s: %v. Only regular files can be used.", doing, path, err)
	}
	return tool.Failed("Cannot %s %s: %v.", doing, path, err)
}

// claim is one deed on the real target of a path.
func (f Folder) claim(class tool.Class, path string) ([]tool.Claim, spot, error) {
	s, err := f.at(path)
	if err != nil {
		return nil, s, fmt.Errorf("%s: %w", path, err)
	}
	c := tool.Claim{Class: class, Object: s.real}
	if s.real != s.path && within(f.Workspace, s.path) && !s.inside {
		c.Detail = "through the link " + s.path
	}
	return []tool.Claim{c}, s, nil
}

// base is the title of a call on a path.
func base(path string) string { return shown(filepath.Base(filepath.Clean(path))) }

// shown quotes a name that would not show as it is.
func shown(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if strings.IndexFunc(name, odd) >= 0 {
		return fmt.Sprintf("%+q", name)
	}
	return name
}
