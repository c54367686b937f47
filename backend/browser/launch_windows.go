//go:build windows

package browser

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// startPiped starts the browser with the protocol on two inherited handles. It
// ends by itself when our ends close.
func startPiped(cmd *exec.Cmd) (io.ReadCloser, io.WriteCloser, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	a, b := windows.Handle(theirIn.Fd()), windows.Handle(theirOut.Fd())
	for _, h := range []windows.Handle{a, b} {
		if err := windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return nil, nil, err
		}
	}
	cmd.Args = append(cmd.Args, "--remote-debugging-pipe", fmt.Sprintf("--remote-debugging-io-pipes=%d,%d", a, b))
	cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(a), syscall.Handle(b)}}
	err = cmd.Start()
	_ = theirIn.Close()
	_ = theirOut.Close()
	if err != nil {
		_ = ourIn.Close()
		_ = ourOut.Close()
		return nil, nil, err
	}
	return ourIn, ourOut, nil
}

func killTree(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}

// clearLock has nothing to do: on Windows the lock dies with its owner, and a
// living one is reported by the browser itself.
func clearLock(string) error { return nil }

func ownLock(string, int) bool { return false }

// removeLock has nothing to do either.
func removeLock(string) error { return nil }
