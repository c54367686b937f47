package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed ahead.
func flushInput(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // no terminal, nothing to drop
	}
}
