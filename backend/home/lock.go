package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"gofer/backend/fault"
)

// ErrHeld says that another process holds the lock of the home.
var ErrHeld = errors.New("another process holds the data folder")

// Lock is the right to be the one process that works on a home.
type Lock struct{ file *flock.Flock }

// TryLock takes the home without waiting. It fails with a fault that wraps
// ErrHeld when another process has it. The lock is the operating system's: it
// ends with the process, also after a kill.
func (h *Home) TryLock() (*Lock, error) {
	file := flock.New(filepath.Join(h.dir, lockName), flock.SetPermissions(0o600))
	ok, err := file.TryLock()
	if err != nil {
		return nil, unwritable(h.dir, err)
	}
	if !ok {
		return nil, fault.Wrap(fault.Busy, fmt.Sprintf("Another Gofer is using %s.", h.dir),
			"Wait until it has ended, or set GOFER_HOME to another folder.", ErrHeld)
	}
	h.sweep()
	return &Lock{file}, nil
}

// Unlock gives the home back. The lock file stays: removing it would let two
// processes lock two files of the same name.
func (l *Lock) Unlock() error { return l.file.Close() }

// sweep removes what processes that were killed left behind.
func (h *Home) sweep() {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), tempMark) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(h.dir, e.Name()))
		}
	}
}
