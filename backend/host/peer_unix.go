//go:build !windows

package host

import (
	"fmt"
	"net"
	"os"
)

// sameUser fails when the other end of a socket is another user. The socket's
// folder keeps others out already; this holds where that was changed.
func sameUser(conn net.Conn) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%s is not a local socket", conn.RemoteAddr())
	}
	uid, err := peerUser(c)
	if err != nil {
		return fmt.Errorf("who is there: %w", err)
	}
	if uid != os.Getuid() {
		return fmt.Errorf("the other end belongs to user %d", uid)
	}
	return nil
}
