//go:build !windows

package home

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"gofer/backend/fault"
)

// maxSocketPath is what fits into a socket address everywhere (104 bytes with
// the closing zero on macOS).
const maxSocketPath = 103

// Address is where the host of this home listens: a socket in the user's
// runtime folder, else in a private folder among the temporary files. The
// folder is made, and refused when it is not the user's alone.
func (h *Home) Address() (string, error) {
	var problem error
	for _, base := range socketFolders() {
		path := filepath.Join(base, h.Hash()+".sock")
		if len(path) > maxSocketPath {
			continue
		}
		if problem = private(base); problem == nil {
			return path, nil
		}
	}
	return "", fault.Wrap(fault.Unavailable, "There is no private folder for Gofer's socket.",
		"Set XDG_RUNTIME_DIR to a folder of your own.", problem)
}

func socketFolders() []string {
	mine := "gofer-" + strconv.Itoa(os.Getuid())
	var list []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && owned(dir) == nil {
		list = append(list, filepath.Join(dir, "gofer"))
	}
	return append(list, filepath.Join(os.TempDir(), mine), filepath.Join("/tmp", mine))
}

// private makes a folder only the user can enter, or checks that it is one.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	if err := owned(dir); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// owned fails unless dir is a real folder of the user.
func owned(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a folder of this user", dir)
	}
	return nil
}
