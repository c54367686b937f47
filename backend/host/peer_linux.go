package host

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUser asks the system who is at the other end of a socket.
func peerUser(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var inner error
	err = raw.Control(func(fd uintptr) {
		cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
