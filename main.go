// Gofer runs errands in a browser you can watch. Without arguments it opens
// the window.
package main

import (
	_ "embed"
	"fmt"
	"os"
	goruntime "runtime"
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
		fmt.Fprintln(os.Stderr, "gofer: this build only opens the window; start it without arguments.")
		os.Exit(2)
	}
	if err := displayed(goruntime.GOOS, os.Getenv); err != nil {
		return err
	}
	parts, err := wire()
	if err != nil {
		return err
	}
	defer parts.close()
	return openWindow(&App{service: parts.service, settingsFile: parts.settingsFile, tourPrompt: parts.tourPrompt}, readPlace(parts.placeFile))
}

// parts is what the window is made of besides itself.
type parts struct {
	service      Service
	settingsFile string // shown by Open settings file
	placeFile    string // where the place of the window is remembered
	tourPrompt   string
	close        func()
}

// displayed says in a sentence when there is no screen to open a window on.
// GTK itself would end the process with a stack trace.
func displayed(goos string, env func(string) string) error {
	if goos != "linux" || env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != "" {
		return nil
	}
	return fmt.Errorf("there is no display to open a window on. Set DISPLAY or WAYLAND_DISPLAY, or use the command line: gofer run \"…\"")
}
