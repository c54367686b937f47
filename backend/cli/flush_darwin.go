package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed ahead.
func flushInput(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		const reading = 1                                                 // FREAD: the input queue only
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, reading) // no terminal, nothing to drop
	}
}
