package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Sandbox says what a command may touch: it writes in one folder, sees the rest
// of the system read-only and some folders not at all, and reaches no network,
// no display and no session bus.
type Sandbox struct {
	Write  string   // folder
	Hidden []string // folders that look empty
}

// ErrNoSandbox says that this system has none that can be used.
var ErrNoSandbox = errors.New("there is no sandbox on this computer")

// SandboxWorks says why no command can be run in a sandbox here, or nil. The
// answer is found once.
func SandboxWorks() error { return sandboxWorks() }

var sandboxWorks = sync.OnceValue(func() error {
	path, err := exec.LookPath(sandboxProgram)
	if sandboxProgram == "" || err != nil {
		return ErrNoSandbox
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	// User namespaces may be switched off; only trying tells.
	if err := exec.CommandContext(ctx, path, sandboxArgs(Sandbox{}, os.TempDir(), "true")...).Run(); err != nil {
		return fmt.Errorf("%w: %s does not work (%w)", ErrNoSandbox, sandboxProgram, err)
	}
	return nil
})

// without are variables that lead out of a sandbox.
var without = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"}

// sandboxArgs lays out a sandbox for bubblewrap.
func sandboxArgs(s Sandbox, dir, line string) []string {
	args := []string{
		"--unshare-all", "--die-with-parent", "--new-session",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run",
	}
	for _, name := range without {
		args = append(args, "--unsetenv", name)
	}
	for _, hidden := range s.Hidden {
		if info, err := os.Stat(hidden); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", hidden)
		}
	}
	for _, tools := range filepath.SplitList(os.Getenv("PATH")) { // programs of the person's own
		for _, hidden := range s.Hidden {
			if rel, err := filepath.Rel(hidden, tools); err == nil && filepath.IsLocal(rel) && rel != "." {
				args = append(args, "--ro-bind-try", tools, tools)
			}
		}
	}
	if s.Write != "" {
		args = append(args, "--bind", s.Write, s.Write)
	}
	return append(args, "--chdir", dir, "/bin/sh", "-c", line)
}
