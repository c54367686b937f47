//go:build !windows

package host

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
)

// listen opens the private socket. Only the holder of the home's lock may call
// it: a socket file that is there already belongs to a process that is gone.
func listen(address string) (net.Listener, error) {
	if err := os.Remove(address); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

func dial(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: helloLimit}).DialContext(ctx, "unix", address)
}
