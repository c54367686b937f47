package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const nonblock = 0

// strange refuses alternate streams, device names and trailing dots, which
// mean another file than they seem to.
func strange(path string) error {
	rest := path[len(filepath.VolumeName(path)):]
	if strings.Contains(rest, ":") {
		return errors.New("a path cannot hold a colon behind the drive")
	}
	for _, name := range split(rest) {
		if name == "." || name == ".." {
			continue
		}
		if !filepath.IsLocal(name) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
			return errors.New(name + " is not a file name on this system")
		}
	}
	return nil
}

func keepOwner(*os.File, fs.FileInfo) {}

func syncDir(*os.Root, string) {}
