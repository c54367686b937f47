//go:build linux

// Package acceptance shows the product as a whole: the real engine, store and
// browser, the real command line in processes of its own, and a scripted model
// in place of a real one. GOFER_CHAOS=1 runs the long forms.
package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/cli"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host"
)

const (
	envChild = "GOFER_TEST_CHILD" // this process is gofer-cli, or plays one run of a session
	envChaos = "GOFER_CHAOS"      // take the long forms
	version  = "0.0.0-test"
)

// long reports whether the long forms are wanted.
func long() bool { return os.Getenv(envChaos) != "" }

// The tests start this program again as the command line, so that the race
// detector looks at that too.
func TestMain(m *testing.M) {
	switch os.Getenv(envChild) {
	case "cli":
		os.Exit(cli.Main(os.Args[1:], version, cli.Builder(version)))
	case "continue":
		os.Exit(goOn(os.Args[1], func(ctx context.Context, s host.Service) (string, error) {
			_, err := s.Continue(ctx, os.Args[2])
			if f := fault.From(err); f != nil && f.Code == fault.Busy {
				err = nil // it was queued and goes on by itself
			}
			return os.Args[2], err
		}))
	case "prompt":
		os.Exit(goOn(os.Args[1], func(ctx context.Context, s host.Service) (string, error) {
			return s.SendPrompt(ctx, os.Args[1], chat.Prompt{Text: os.Args[2]})
		}))
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(withRuntimeDir(m.Run))
}

// withRuntimeDir keeps the sockets of processes that are killed out of the
// user's folders. The name is short, as addresses of sockets must be.
func withRuntimeDir(run func() int) int {
	dir, err := os.MkdirTemp("", "g")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("XDG_RUNTIME_DIR", dir); err != nil {
		panic(err)
	}
	return run()
}

// goOn is a process that starts a run or continues one, and prints the events of
// its session as lines, as gofer-cli does with --json. It answers no question.
func goOn(sessionID string, begin func(context.Context, host.Service) (string, error)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() error {
		s, end, err := host.OpenDir(ctx, "", false, cli.Builder(version), host.Options{Version: version})
		if err != nil {
			return err
		}
		defer end()
		events, err := s.Events(ctx, sessionID)
		if err != nil {
			return err
		}
		runID, err := begin(ctx, s)
		if err != nil {
			return err
		}
		out := json.NewEncoder(os.Stdout)
		for e := range events {
			if err := out.Encode(e); err != nil {
				return err
			}
			if _, ok := e.Data.(event.RunFinished); ok && e.RunID == runID {
				return nil
			}
		}
		return ctx.Err()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
