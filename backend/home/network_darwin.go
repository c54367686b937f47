package home

import "golang.org/x/sys/unix"

// onNetwork reports whether a folder lies on another machine.
func onNetwork(dir string) bool {
	var stat unix.Statfs_t
	return unix.Statfs(dir, &stat) == nil && stat.Flags&unix.MNT_LOCAL == 0
}
