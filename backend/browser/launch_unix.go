//go:build !windows

package browser

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// startPiped starts the browser with the protocol on its descriptors 3 and 4.
// It ends by itself when our ends close, which the system does even when this
// process is killed. The group of its own keeps a Ctrl-C in a terminal from it.
func startPiped(cmd *exec.Cmd) (io.ReadCloser, io.WriteCloser, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		_ = theirIn.Close()
		_ = ourOut.Close()
		return nil, nil, err
	}
	cmd.Args = append(cmd.Args, "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// clearLock removes the lock of a browser that no longer lives and reports one
// that does. The lock is a link that reads host-pid.
func clearLock(profile string) error {
	lock := filepath.Join(profile, "SingletonLock")
	owner, err := os.Readlink(lock)
	if err != nil {
		return nil //nolint:nilerr // there is no lock
	}
	i := strings.LastIndexByte(owner, '-')
	if i < 0 {
		return nil
	}
	host, _ := os.Hostname()
	pid, err := strconv.Atoi(owner[i+1:])
	if err != nil {
		return nil //nolint:nilerr // not the link of a browser
	}
	if owner[:i] != host {
		return fmt.Errorf("%w: process %d on %s holds %s; remove that file if it no longer runs", ErrProfileBusy, pid, owner[:i], lock)
	}
	if err := syscall.Kill(pid, 0); err == nil || errors.Is(err, syscall.EPERM) {
		if ownsProfile(pid, profile) {
			return fmt.Errorf("%w: process %d holds %s; close that browser first", ErrProfileBusy, pid, profile)
		}
	}
	return removeLock(profile)
}

// removeLock removes what a browser that was killed leaves: its lock, and the
// folder of its socket among the temporary files of the system.
func removeLock(profile string) error {
	if socket, err := os.Readlink(filepath.Join(profile, "SingletonSocket")); err == nil && filepath.Base(socket) == "SingletonSocket" {
		dir := filepath.Dir(socket)
		_ = os.Remove(socket)
		_ = os.Remove(filepath.Join(dir, "SingletonCookie"))
		_ = os.Remove(dir) // only when nothing else is in it
	}
	for _, name := range []string{"SingletonLock", "SingletonSocket", "SingletonCookie"} {
		if err := os.Remove(filepath.Join(profile, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("clear browser lock: %w", err)
		}
	}
	return nil
}

// ownLock tells whether the lock of a profile is that of the process, and not
// of another browser that has the profile.
func ownLock(profile string, pid int) bool {
	owner, err := os.Readlink(filepath.Join(profile, "SingletonLock"))
	return err == nil && strings.HasSuffix(owner, fmt.Sprintf("-%d", pid))
}

// ownsProfile is false when the pid was given to a stranger meanwhile. Where
// the system does not tell command lines, a living pid counts as the owner.
func ownsProfile(pid int, profile string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return true
	}
	return strings.Contains(string(line), profile) || strings.Contains(string(line), "user-data-dir")
}
