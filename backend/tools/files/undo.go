package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNothingToUndo says that no change fits.
var ErrNothingToUndo = errors.New("there is nothing to undo")

// Undone is a change that was taken back, or why it was not.
type Undone struct {
	Change
	Problem string `json:"problem,omitempty"`
}

// Undo takes back the changes in a trash folder that fit, newest first. A file
// a call had made goes away; one it changed or deleted comes back. What somebody
// has changed since stays as it is.
func Undo(trash string, fits func(Change) bool) ([]Undone, error) {
	list, err := Changes(trash)
	if err != nil {
		return nil, err
	}
	var out []Undone
	for _, c := range list {
		if !fits(c) {
			continue
		}
		u := Undone{Change: c, Problem: c.since()}
		if u.Problem == "" {
			if err := c.undo(filepath.Join(trash, c.ID+".data")); err != nil {
				u.Problem = err.Error()
				if errors.Is(err, fs.ErrPermission) {
					u.Problem = "the system does not permit it"
				}
			} else {
				drop(filepath.Join(trash, c.ID+".json"))
			}
		}
		out = append(out, u)
	}
	if len(out) == 0 {
		return nil, ErrNothingToUndo
	}
	return out, nil
}

// since says what has happened at the place since the call, so that undoing
// would destroy something; "" when nothing has.
func (c Change) since() string {
	if c.Was == "unkept" {
		return "it was too large to be kept"
	}
	_, err := os.Lstat(c.Path)
	there := err == nil
	switch {
	case c.Tool == "fs_delete" && there:
		return "there is something of that name again"
	case c.Left == "":
		return ""
	case !there && c.Was == "nothing":
		return "" // gone already
	case !there:
		return "it was moved or deleted since"
	}
	if sum, err := sumOf(c.Path); err != nil || sum != c.Left {
		return "it was changed since"
	}
	return ""
}

func sumOf(path string) (string, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	f, _, err := openRegular(root, filepath.Base(path))
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (c Change) undo(data string) error {
	switch c.Was {
	case "nothing":
		info, err := os.Lstat(c.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = os.Remove(c.Path)
		}
		if err != nil && info != nil && info.IsDir() {
			return nil // something was put into the new folder meanwhile
		}
		return err
	case "folder":
		return os.MkdirAll(c.Path, c.Mode|0o700)
	case "link":
		return os.Symlink(c.Link, c.Path)
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	from, err := os.Open(data)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	root, err := os.OpenRoot(filepath.Dir(c.Path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	name := filepath.Base(c.Path)
	if err := replace(context.Background(), root, name, func(string) error { return nil }, func(w io.Writer) error { _, err := io.Copy(w, from); return err }); err != nil {
		return err
	}
	return root.Chmod(name, c.Mode)
}
