package files

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"gofer/backend/tool"
)

const (
	trashKeeps = 500      // newest changes that can be undone
	copyUpTo   = 64 << 20 // larger files are not kept when overwritten, and moved when deleted
)

// Change is one thing the trash can undo.
type Change struct {
	ID   string      `json:"id"` // sorts by time
	Path string      `json:"path"`
	Tool string      `json:"tool"`
	Run  string      `json:"run,omitempty"`
	Call string      `json:"call,omitempty"`
	Was  string      `json:"was"` // file, folder, link, nothing when the call made it, or unkept when it was too large
	Link string      `json:"link,omitempty"`
	Mode fs.FileMode `json:"mode"`
	Left string      `json:"left,omitempty"` // SHA-256 of the file the call left there
	At   int64       `json:"at"`             // Unix milliseconds
}

// keep puts a copy of what is at a spot into the trash, before it changes. sum
// is that of the file that will be there, "" when none will.
func (f Folder) keep(ctx context.Context, root *os.Root, rel, real, by, sum string) error {
	if f.Trash == "" {
		return nil
	}
	change := Change{Path: real, Tool: by, Was: "nothing", Left: sum}
	change.Run, change.Call = tool.CallOf(ctx)
	info, err := root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.note(change, nil)
	case err != nil:
		return err
	}
	change.Mode = info.Mode().Perm()
	switch {
	case info.IsDir():
		change.Was = "folder"
		return f.note(change, nil)
	case info.Mode()&fs.ModeSymlink != 0:
		change.Was = "link"
		if change.Link, err = root.Readlink(rel); err != nil {
			return err
		}
		return f.note(change, nil)
	case info.Size() > copyUpTo:
		if by != "fs_delete" {
			change.Was = "unkept"
			return f.note(change, nil)
		}
		change.Was = "file"
		return f.note(change, func(to string) error {
			if err := os.Rename(real, to); err == nil {
				return nil
			}
			return copyOut(root, rel, to)
		})
	}
	change.Was = "file"
	return f.note(change, func(to string) error { return copyOut(root, rel, to) })
}

func copyOut(root *os.Root, rel, to string) error {
	from, _, err := openRegular(root, rel)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(dst, from); err == nil {
		err = dst.Sync()
	}
	if e := dst.Close(); err == nil {
		err = e
	}
	return err
}

// note writes one change: its data first, then the note that makes it count.
func (f Folder) note(c Change, data func(to string) error) error {
	now := time.Now()
	var r [4]byte
	if _, err := rand.Read(r[:]); err != nil {
		return err
	}
	c.At = now.UnixMilli()
	c.ID = fmt.Sprintf("%020d-%s", now.UnixNano(), hex.EncodeToString(r[:]))
	if err := os.MkdirAll(f.Trash, 0o700); err != nil {
		return fmt.Errorf("open the trash: %w", err)
	}
	base := filepath.Join(f.Trash, c.ID)
	if data != nil {
		if err := data(base + ".data"); err != nil {
			_ = os.Remove(base + ".data")
			return fmt.Errorf("keep a copy in the trash: %w", err)
		}
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+".json", raw, 0o600); err != nil {
		return fmt.Errorf("write to the trash: %w", err)
	}
	if names, _ := filepath.Glob(filepath.Join(f.Trash, "*.json")); len(names) > trashKeeps {
		sort.Strings(names)
		for _, name := range names[:len(names)-trashKeeps] {
			drop(name)
		}
	}
	return nil
}

func drop(name string) {
	_ = os.Remove(name)
	_ = os.Remove(name[:len(name)-len(".json")] + ".data")
}

// Changes lists what a trash folder can undo, newest first.
func Changes(trash string) ([]Change, error) {
	names, err := filepath.Glob(filepath.Join(trash, "*.json"))
	if err != nil {
		return nil, err
	}
	sort.Sort(sort.Reverse(sort.StringSlice(names)))
	list := make([]Change, 0, len(names))
	for _, name := range names {
		var c Change
		if raw, err := os.ReadFile(name); err == nil && json.Unmarshal(raw, &c) == nil {
			list = append(list, c)
		}
	}
	return list, nil
}
