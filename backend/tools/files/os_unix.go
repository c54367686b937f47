//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps the opening of a pipe that has no writer from waiting.
const nonblock = syscall.O_NONBLOCK

// strange names what a path must not look like; there is nothing of the kind here.
func strange(string) error { return nil }

// keepOwner gives a new file to the owner of the one it replaces, where that
// is possible.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}

// syncDir makes a rename last through a power cut.
func syncDir(root *os.Root, dir string) {
	if d, err := root.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
