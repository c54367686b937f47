//go:build !linux

package proc

// sandboxProgram is empty: no sandbox of this system has been tried.
const sandboxProgram = ""
