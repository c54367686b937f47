package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gofer/backend/fault"
)

// Workspace makes a folder usable as a workspace: absolute, there, writable.
// Empty takes Gofer in the home folder.
func Workspace(dir string) (string, error) {
	if dir == "" {
		dir = filepath.Join("~", "Gofer")
	}
	if rest, ok := strings.CutPrefix(filepath.ToSlash(dir), "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fault.Wrap(fault.Unavailable, "Your home folder cannot be found.", "Name the workspace by its full path.", err)
		}
		dir = filepath.Join(home, filepath.FromSlash(rest))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, fmt.Sprintf("The workspace %s makes no sense.", dir), "Name a folder.", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fault.Wrap(fault.Unavailable, fmt.Sprintf("The workspace %s cannot be made.", dir), "Name another folder.", err)
	}
	probe, err := os.CreateTemp(dir, ".gofer-*")
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, fmt.Sprintf("The workspace %s cannot be written.", dir), "Make it writable or name another folder.", err)
	}
	probe.Close()
	return dir, os.Remove(probe.Name())
}
