package home

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// onNetwork reports whether a folder lies on another machine.
func onNetwork(dir string) bool {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) {
		return !strings.HasPrefix(volume, `\\?\`) && !strings.HasPrefix(volume, `\\.\`)
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	return err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE
}
