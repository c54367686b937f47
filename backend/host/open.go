package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"gofer/backend/fault"
	"gofer/backend/home"
)

// Build makes the engine of a home whose lock this process holds. The function
// it returns ends the engine and waits for it.
type Build func(*home.Home) (Service, func(), error)

// Options say who opens a home.
type Options struct {
	Version string
	Kind    string             // Window or Terminal; "" is Terminal
	OnRaise func(Raise)        // what a window does when another hands over to it
	Waiting func(holder Hello) // told once by Own when a terminal command is host

	// A host with a Quit stays, when it is asked to end, until its clients have
	// left or Quit is closed: their runs would end with it. Lingering is told
	// once when it has to stay.
	Quit      <-chan struct{}
	Lingering func(clients int)
}

// ErrWindow says that a window is the host already.
var ErrWindow = errors.New("a window is open")

const (
	// startLimit is how long the lock may be held by a process that does not
	// listen: one that is starting or ending.
	startLimit = 20 * time.Second
	retry      = 30 * time.Millisecond
)

// Open connects to the host of a home, or becomes it: then it builds the
// engine and serves it to others until the returned function is called. Of two
// processes that start at once, one becomes host and the other its client.
func Open(ctx context.Context, h *home.Home, build Build, o Options) (Service, func(), error) {
	deadline := time.Now().Add(startLimit)
	for {
		c, err := Dial(ctx, h)
		if err == nil {
			return c, c.Close, nil
		}
		if !errors.Is(err, ErrNoHost) {
			return nil, nil, err
		}
		lock, err := h.TryLock()
		if err == nil {
			return become(h, lock, build, o)
		}
		if !errors.Is(err, home.ErrHeld) || time.Now().After(deadline) {
			return nil, nil, err
		}
		if err := pause(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// OpenDir is Open for the home in dir, "" for the usual one. A throwaway home
// has this process alone, and goes away when the returned function is called.
func OpenDir(ctx context.Context, dir string, throwaway bool, build Build, o Options) (Service, func(), error) {
	h, err := home.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	if !throwaway {
		return Open(ctx, h, build, o)
	}
	t, remove, err := h.Ephemeral()
	if err != nil {
		return nil, nil, err
	}
	s, end, err := Open(ctx, t, build, o)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return s, func() {
		end()
		_ = remove() // what is left is swept by the next throwaway home
	}, nil
}

// Own becomes the host of a home, as a window does. When a window has it
// already, the error is ErrWindow and r was handed over; while a terminal
// command has it, Own waits.
func Own(ctx context.Context, h *home.Home, build Build, o Options, r Raise) (Service, func(), error) {
	told := false
	for {
		lock, err := h.TryLock()
		if err == nil {
			return become(h, lock, build, o)
		}
		if !errors.Is(err, home.ErrHeld) {
			return nil, nil, err
		}
		if c, err := Dial(ctx, h); err == nil {
			if c.hello.Kind == Window {
				err := c.Raise(ctx, r)
				ending := c.why() != nil
				c.Close()
				if err == nil {
					return nil, nil, ErrWindow
				}
				if !ending && ctx.Err() == nil {
					return nil, nil, err
				}
			} else {
				if !told && o.Waiting != nil {
					o.Waiting(c.hello)
				}
				told = true
				select {
				case <-c.Done():
				case <-ctx.Done():
				}
				c.Close()
			}
		} else if !errors.Is(err, ErrNoHost) && ctx.Err() == nil {
			return nil, nil, err
		}
		if err := pause(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// Remote says who serves, when that is another process.
func Remote(s Service) (Hello, bool) {
	if c, ok := s.(*Client); ok {
		return c.hello, true
	}
	return Hello{}, false
}

func pause(ctx context.Context) error {
	t := time.NewTimer(retry)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// become serves a home whose lock is held. Clients may connect while the
// engine is still being built; their calls wait.
func become(h *home.Home, lock *home.Lock, build Build, o Options) (Service, func(), error) {
	if o.Kind == "" {
		o.Kind = Terminal
	}
	hello := Hello{Protocol: protocol, Version: o.Version, Kind: o.Kind, PID: os.Getpid()}
	ln, err := announce(h, hello)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Unlock())
	}
	s := newServer(hello, o.OnRaise)
	s.serve(ln)
	stop := func(bye *fault.Fault) {
		_ = ln.Close() // removes the socket
		s.close(bye)
		_ = h.ForgetHost()
		_ = lock.Unlock()
	}
	service, end, err := build(h)
	s.start(service, err)
	if err != nil {
		stop(fault.From(err))
		return nil, nil, err
	}
	return service, func() {
		s.linger(o)
		end()
		stop(goodbye(hello))
	}, nil
}

func announce(h *home.Home, hello Hello) (net.Listener, error) {
	address, err := h.Address()
	if err != nil {
		return nil, err
	}
	ln, err := listen(address)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, fmt.Sprintf("Gofer cannot open its private socket %s.", address),
			"Set XDG_RUNTIME_DIR to a folder of your own.", err)
	}
	if err := h.SaveHost(home.Host{Address: address, PID: hello.PID, Kind: hello.Kind, Version: hello.Version}); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Unavailable, "The data folder cannot be written.", "Look at its permissions and the free space.", err), ln.Close())
	}
	return ln, nil
}

func goodbye(h Hello) *fault.Fault {
	if h.Kind == Window {
		return fault.New(fault.Unavailable, fmt.Sprintf("Gofer was quit (process %d), and with it the engine this command used.", h.PID),
			"Start the command again.")
	}
	return fault.New(fault.Unavailable, fmt.Sprintf("The Gofer command that ran the engine (process %d) has ended.", h.PID),
		"Start this command again; an interrupted run can be continued.")
}
