//go:build linux && windowtest

package windowtest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
)

// Desktop is a private desktop. Close ends everything that was started in it.
type Desktop struct {
	dir     string // runtime folder, home, sockets
	mark    string // in the environment of every process of this desktop
	display string
	bus     string
	access  *dbus.Conn
	screen  *screen // opened on first need
	sweeper *exec.Cmd
	hold    io.Closer // while it is open, the sweeper waits
}

// Start brings up a desktop with an empty screen.
func Start(ctx context.Context) (*Desktop, error) {
	dir, err := os.MkdirTemp("", "gofer-desktop-")
	if err != nil {
		return nil, fmt.Errorf("make the desktop's folder: %w", err)
	}
	d := &Desktop{dir: dir, mark: markName + "=" + rand.Text()}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"sweeper", d.startSweeper},
		{"display", d.startDisplay},
		{"bus", d.startBus},
		{"window manager", d.startManager},
		{"accessibility", d.startAccess},
	} {
		if err := step.do(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("start the %s: %w", step.name, err), d.Close())
		}
	}
	return d, nil
}

// Env is the environment of programs on this desktop: the caller's, pointed at
// the private display, bus and folders.
func (d *Desktop) Env() []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch name {
		case "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "XAUTHORITY", "AT_SPI_BUS_ADDRESS", markName:
		default:
			env = append(env, pair)
		}
	}
	return append(env, d.mark,
		"DISPLAY="+d.display,
		"DBUS_SESSION_BUS_ADDRESS="+d.bus,
		"XDG_RUNTIME_DIR="+d.dir,
		"XDG_SESSION_TYPE=x11",
		"NO_AT_BRIDGE=0",
	)
}

// Close ends every process of the desktop and removes its folder.
func (d *Desktop) Close() error {
	var errs []error
	if d.access != nil {
		_ = d.access.Close() // its other end is about to go as well
	}
	if d.screen != nil {
		errs = append(errs, d.screen.close())
	}
	if d.sweeper != nil {
		errs = append(errs, d.hold.Close(), d.sweeper.Wait())
	}
	return errors.Join(append(errs, os.RemoveAll(d.dir))...) // there still if the sweeper never started
}

const markName = "GOFER_TEST_DESKTOP"

// sweep waits until its input ends, which it does when this process closes it
// or dies, and then ends every process that carries the mark: politely first.
// Services that the bus starts are in no process group of ours, so the mark in
// their environment is the one sure sign. Then it removes the folder.
const sweep = `
read -r _
marked() {
  for e in /proc/[0-9]*/environ; do
    if grep -qazxF "$1" "$e" 2>/dev/null; then p=${e#/proc/}; echo "${p%/environ}"; fi
  done
}
for try in 1 2 3 4 5 6 7 8 9 10; do
  all=$(marked "$1")
  if [ -z "$all" ]; then rm -rf "$2"; exit 0; fi
  if [ $try -lt 6 ]; then kill $all 2>/dev/null; else kill -9 $all 2>/dev/null; fi
  sleep 0.1
done
exit 1
`

func (d *Desktop) startSweeper(context.Context) error {
	d.sweeper = exec.Command("sh", "-c", sweep, "sweep", d.mark, d.dir)
	d.sweeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := d.sweeper.StdinPipe()
	if err != nil {
		return err
	}
	d.hold = in
	if err := d.sweeper.Start(); err != nil {
		d.sweeper = nil
		return err
	}
	return nil
}

func (d *Desktop) startDisplay(ctx context.Context) error {
	number, err := d.announced(ctx, exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1440x900x24", "-nolisten", "tcp", "-noreset", "-fbdir", d.dir))
	d.display = ":" + number
	return err
}

func (d *Desktop) startBus(ctx context.Context) (err error) {
	d.bus, err = d.announced(ctx, exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile",
		"--address=unix:path="+filepath.Join(d.dir, "bus"), "--print-address=3"))
	return err
}

func (d *Desktop) startManager(ctx context.Context) error {
	if err := d.start(exec.Command("openbox", "--sm-disable")); err != nil {
		return err
	}
	return until(ctx, "openbox to manage the screen", func() error {
		return d.Command(ctx, "xdotool", "get_num_desktops").Run()
	})
}

func (d *Desktop) startAccess(ctx context.Context) error {
	session, err := dbus.Connect(d.bus, dbus.WithContext(ctx))
	if err != nil {
		return err
	}
	defer session.Close()
	var address string
	err = session.Object("org.a11y.Bus", "/org/a11y/bus").CallWithContext(ctx, "org.a11y.Bus.GetAddress", 0).Store(&address)
	if err != nil {
		return err
	}
	d.access, err = dbus.Connect(address)
	return err
}

// Command is a program on this desktop that ends with ctx.
func (d *Desktop) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = d.Env()
	return cmd
}

// start runs a program that lives as long as the desktop.
func (d *Desktop) start(cmd *exec.Cmd) error {
	cmd.Env = d.Env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the sweeper ends it
	return nil
}

// announced starts a program and returns the line it writes to its descriptor 3
// once it can be used.
func (d *Desktop) announced(ctx context.Context, cmd *exec.Cmd) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	err = d.start(cmd)
	w.Close()
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s ended before it was ready: %w", cmd.Path, err)
	}
	return strings.TrimSpace(line), nil
}

// patience is how long anything on the desktop may take to come true.
const patience = 20 * time.Second

// until asks check again and again and returns nil when it does.
func until(ctx context.Context, what string, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for %s: %w", what, err)
		case <-tick.C:
		}
	}
}
