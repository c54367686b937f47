package files

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// openRegular opens a file for reading and refuses everything else: a pipe
// would wait, a device would never end.
func openRegular(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(rel)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(info); err != nil {
		return nil, nil, err
	}
	file, err := root.OpenFile(rel, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

var (
	errFolder  = errors.New("it is a folder")
	errSpecial = errors.New("it is not a regular file")
)

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w (%s)", errSpecial, kind(info.Mode()))
	}
	return nil
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "special file"
}

// replace writes a file whole or not at all: into a new file beside it, to the
// disk, then in its place. Parent folders are made. What must be kept of the
// old file is kept by before, once the new one is sure; it gets the SHA-256 of the new one.
func replace(ctx context.Context, root *os.Root, rel string, before func(sum string) error, fill func(io.Writer) error) error {
	dir := filepath.Dir(rel)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := root.Stat(rel)
	switch {
	case err == nil:
		if err := regular(old); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	var r [8]byte
	if _, err := rand.Read(r[:]); err != nil {
		return err
	}
	temp := filepath.Join(dir, ".gofer-"+hex.EncodeToString(r[:])+".tmp")
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
	}
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = fill(io.MultiWriter(file, sum))
	if err == nil && old != nil {
		keepOwner(file, old)
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = before(hex.EncodeToString(sum.Sum(nil)))
	}
	if err == nil {
		err = rename(ctx, root, temp, rel)
	}
	if err != nil {
		_ = root.Remove(temp)
		return err
	}
	syncDir(root, dir)
	return nil
}

// rename waits a little for a program that holds the target open, which some
// systems do not allow.
func rename(ctx context.Context, root *os.Root, from, to string) error {
	for try := 0; ; try++ {
		err := root.Rename(from, to)
		if err == nil || nonblock != 0 || try == 10 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Save writes what r gives to a path, atomically and at most limit bytes, for
// tools that fetch files. What was there before goes to the trash.
func (f Folder) Save(ctx context.Context, path string, r io.Reader, limit int64) (int64, error) {
	s, err := f.at(path)
	if err != nil {
		return 0, err
	}
	root, rel, err := f.root(s)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }()
	var n int64
	keep := func(sum string) error { return f.keep(ctx, root, rel, s.real, "web_fetch", sum) }
	err = replace(ctx, root, rel, keep, func(w io.Writer) (err error) {
		if n, err = io.Copy(w, io.LimitReader(r, limit+1)); err == nil && n > limit {
			err = fmt.Errorf("it is larger than %s", Size(limit))
		}
		return err
	})
	return n, err
}

// Size says a number of bytes for people.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}
