// Package home is the data folder of one person: where it lies, what is in
// it, who may use it, and how its small files are written.
//
// One process at a time owns a home: it holds the lock, which the operating
// system drops when that process ends, however it ends. The folder and what is
// in it belong to the person alone (0700, 0600).
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gofer/backend/fault"
)

// EnvDir names the environment variable that overrides the data folder.
const EnvDir = "GOFER_HOME"

// Home is a data folder that exists and can be written.
type Home struct {
	dir      string
	keysFrom string // folder whose keys this home uses; itself unless it is throwaway
}

// Dir returns the data folder to use: GOFER_HOME, else gofer in the folder the
// platform has for such data.
func Dir() (string, error) {
	if dir := os.Getenv(EnvDir); dir != "" {
		return absolute(dir)
	}
	base, err := platformDir()
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, "There is no home folder to keep data in.",
			"Set GOFER_HOME to a folder of your own.", err)
	}
	return filepath.Join(base, "gofer"), nil
}

func platformDir() (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return dir, nil
		}
		return os.UserConfigDir()
	case "darwin":
		return os.UserConfigDir()
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(user, ".local", "share"), nil
}

// Open returns the home in dir, "" for the usual one. It makes the folder when
// it is missing, takes it from the eyes of other users, and fails with a fault
// when it cannot hold a home: not writable, on a network drive, or full of
// other things that others may read.
func Open(dir string) (*Home, error) {
	if dir == "" {
		var err error
		if dir, err = Dir(); err != nil {
			return nil, err
		}
	}
	dir, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unwritable(dir, err)
	}
	// The folder may be reached by a link; one folder has one name from here on.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if err := claim(dir); err != nil {
		return nil, err
	}
	if onNetwork(dir) {
		return nil, fault.New(fault.Unavailable, fmt.Sprintf("The data folder %s is on a network drive, where the database cannot be kept safe.", dir),
			"Set GOFER_HOME to a folder on a disk of this computer.")
	}
	if err := probe(dir); err != nil {
		return nil, unwritable(dir, err)
	}
	return &Home{dir: dir, keysFrom: dir}, nil
}

func absolute(dir string) (string, error) {
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", unwritable(dir, err)
		}
		dir = filepath.Join(user, strings.TrimPrefix(dir, "~"))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", unwritable(dir, err)
	}
	return abs, nil
}

// claim makes an existing folder private. A folder that holds other people's
// things is not ours to close, so it is refused instead.
func claim(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return unwritable(dir, err)
	}
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return unwritable(dir, err)
	}
	if len(entries) > 0 && !ours(entries) {
		return fault.New(fault.Invalid, fmt.Sprintf("The folder %s already holds other files and other users may look into it.", dir),
			"Choose an empty folder for Gofer's data.")
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return unwritable(dir, err)
	}
	return nil
}

func ours(entries []fs.DirEntry) bool {
	for _, e := range entries {
		switch e.Name() {
		case lockName, databaseName, settingsName:
			return true
		}
	}
	return false
}

func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func unwritable(dir string, cause error) *fault.Fault {
	return fault.Wrap(fault.Unavailable, fmt.Sprintf("The data folder %s cannot be used: %s.", dir, reason(cause)),
		"Make it writable for you, or set GOFER_HOME to another folder.", cause)
}

// reason is the last words of a file error, without the path that the sentence
// around it names already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
