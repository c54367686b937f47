// Command gofer-cli is Gofer without a window: the same commands for machines
// without a desktop. It links no window library and needs no C compiler.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"gofer/backend/cli"
	"gofer/backend/fault"
	"gofer/backend/home"
	"gofer/backend/host"
)

// version is set by the linker.
var version = "dev"

// The parts of the engine the commands need; wire.go puts them in.
var (
	build       host.Build
	findBrowser func(ctx context.Context, preferred string) (string, error)
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The first signal asks for an end in good order, the second forces one.
	context.AfterFunc(ctx, stop)
	// A reader that has gone is an error of the write, so that the end is in
	// good order too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return cli.Execute(ctx, cli.Environment{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
		OpenHost: openHost, FindBrowser: findBrowser,
	})
}

func openHost(ctx context.Context, dir string, o cli.HostOptions) (host.Service, func(), error) {
	builder := build
	if builder == nil {
		builder = func(*home.Home) (host.Service, func(), error) {
			return nil, nil, fault.New(fault.Internal, "This program was built without the engine.", "Build it with \"make build\".")
		}
	}
	return host.OpenDir(ctx, dir, o.Ephemeral, builder, host.Options{Version: version, Kind: host.Terminal})
}
