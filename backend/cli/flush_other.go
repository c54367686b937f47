//go:build !linux && !darwin

package cli

import "io"

// flushInput cannot drop what was typed ahead here.
func flushInput(io.Reader) {}
