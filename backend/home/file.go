package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const tempMark = ".gofer-tmp-"

// WriteFile replaces a file in one move: the new bytes go to a file beside it,
// reach the disk, and take its name. Whatever fails on the way (a full disk, a
// missing right), the old file stays as it was. A link is followed, so that a
// settings file kept elsewhere stays there.
func WriteFile(path string, data []byte, perm fs.FileMode) (err error) {
	if real, e := filepath.EvalSymlinks(path); e == nil {
		path = real
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+tempMark+"*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(perm); err != nil && runtime.GOOS != "windows" {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(dir)
	return nil
}

// rename tries again for a moment on Windows, where a file somebody reads
// cannot be replaced.
func rename(from, to string) error {
	err := os.Rename(from, to)
	for n := 0; err != nil && runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission) && n < 10; n++ {
		time.Sleep(50 * time.Millisecond)
		err = os.Rename(from, to)
	}
	return err
}

// syncDir makes the new name last through a power cut. Not every system can
// sync a folder, and the file is whole either way.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
