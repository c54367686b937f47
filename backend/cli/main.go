package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"gofer/backend/engine"
	"gofer/backend/home"
	"gofer/backend/host"
	"gofer/backend/logbook"
)

// Main runs the command line of this process and returns its exit code. Build
// makes the engine when this process becomes host; Builder is the usual one.
func Main(args []string, version string, build host.Build) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The first signal asks for an end in good order, the second forces one.
	context.AfterFunc(ctx, stop)
	// A reader that has gone is an error of the write, so that the end is in
	// good order too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return Execute(ctx, Environment{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version, FindBrowser: engine.FindBrowser,
		OpenHost: func(ctx context.Context, dir string, o HostOptions) (host.Service, func(), error) {
			return host.OpenDir(ctx, dir, o.Ephemeral, build, host.Options{
				Version: version, Kind: host.Terminal, Quit: ctx.Done(),
				Lingering: func(n int) {
					fmt.Fprintf(os.Stderr, "Done. Another Gofer command still uses this one (%d); this one ends when it has. Ctrl-C ends both.\n", n)
				},
			})
		},
	})
}

// Builder makes the engine of a home for whoever becomes its host, with a log
// that holds no key.
func Builder(version string) host.Build {
	return func(h *home.Home) (host.Service, func(), error) {
		book, err := logbook.Open(h.Logs(), slog.LevelInfo)
		if err != nil {
			return nil, nil, err
		}
		before := slog.Default()
		slog.SetDefault(book.Log())
		closeLog := func() {
			slog.SetDefault(before)
			_ = book.Close() // the last lines are on disk or nobody can write them
		}
		e, err := engine.Build(h, engine.Options{Version: version, Redactor: &book.Redactor})
		if err != nil {
			closeLog()
			return nil, nil, err
		}
		if notices, err := e.Notices(context.Background()); err == nil {
			for _, n := range notices {
				fmt.Fprintf(os.Stderr, "gofer: %s\n", clean(strings.TrimSpace(n.Message+" "+n.Hint)))
			}
		}
		return e, func() {
			if err := e.Close(); err != nil {
				slog.Error("the engine did not close cleanly", "err", err)
			}
			closeLog()
		}, nil
	}
}
