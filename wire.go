package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gofer/backend/cli"
	"gofer/backend/home"
	"gofer/backend/host"
)

// parts is what the window is made of besides itself.
type parts struct {
	service      host.Service
	settingsFile string // shown by Open settings file
	placeFile    string // where the place of the window is remembered
	close        func()
}

// wire makes this window the host of the data folder. When another window is
// it already, that one comes forward and the error is host.ErrWindow; while a
// terminal command is it, this waits and says so.
func wire(ctx context.Context, raised func()) (parts, error) {
	h, err := home.Open("")
	if err != nil {
		return parts{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = h.Dir() // the folder we were started in is gone; nothing needs it
	}
	service, end, err := host.Own(ctx, h, cli.Builder(version), host.Options{
		Version: version, Kind: host.Window,
		OnRaise: func(host.Raise) { raised() },
		Waiting: func(holder host.Hello) {
			fmt.Fprintf(os.Stderr, "gofer: a Gofer command is running in a terminal (process %d); the window opens when it has ended.\n", holder.PID)
		},
	}, host.Raise{Args: os.Args[1:], Dir: dir})
	if err != nil {
		return parts{}, err
	}
	return parts{service: service, settingsFile: h.Settings(), placeFile: filepath.Join(h.Dir(), "window.json"), close: end}, nil
}

// elsewhere reports whether another window has come forward instead of ours.
func elsewhere(err error) bool { return errors.Is(err, host.ErrWindow) }
