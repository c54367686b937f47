// Gofer runs errands in a browser you can watch. Without arguments it opens
// the window.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/signal"
	goruntime "runtime"
	"strings"
	"syscall"
	"time"

	"gofer/backend/cli"
)

//go:embed build/appicon.png
var icon []byte

// version is set by the build.
var version = "0.1.0"

func main() {
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "gofer:", err)
		os.Exit(1)
	}
}

func start() error {
	if generating {
		return openWindow(&App{}, readPlace(""))
	}
	if len(os.Args) > 1 {
		os.Exit(cli.Main(os.Args[1:], version, cli.Builder(version)))
	}
	if err := displayed(goruntime.GOOS, os.Getenv); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	app := &App{}
	parts, err := wire(ctx, app.comeForward)
	stop() // from here on the window's own handlers end it
	if elsewhere(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parts.close()
	defer app.endTours()
	app.service, app.settingsFile = parts.service, parts.settingsFile
	return openWindow(app, readPlace(parts.placeFile))
}

// displayed says in a sentence when there is no screen to open a window on.
// GTK itself would end the process with a stack trace, or wait for ever.
func displayed(goos string, env func(string) string) error {
	if goos != "linux" || env("WAYLAND_DISPLAY") != "" {
		return nil
	}
	if display := env("DISPLAY"); display != "" {
		number, local := strings.CutPrefix(display, ":")
		number, _, _ = strings.Cut(number, ".")
		if local && !answers("/tmp/.X11-unix/X"+number) && !answers("@/tmp/.X11-unix/X"+number) {
			return fmt.Errorf("the display %s does not answer. Set DISPLAY or WAYLAND_DISPLAY, or use the command line: gofer run \"…\"", display)
		}
		return nil
	}
	return fmt.Errorf("there is no display to open a window on. Set DISPLAY or WAYLAND_DISPLAY, or use the command line: gofer run \"…\"")
}

// answers reports whether somebody listens on a socket of this machine.
func answers(socket string) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).Dial("unix", socket) //nolint:noctx // it has a time limit of its own
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
