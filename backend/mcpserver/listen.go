package mcpserver

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"golang.org/x/net/netutil"

	"gofer/backend/fault"
)

// DefaultAddress is where the tools are served over HTTP when no address is
// named.
const DefaultAddress = "127.0.0.1:4637"

// maxConnections bounds the connections open at once; more wait.
const maxConnections = 256

// Listen opens an address of this computer. An address others could reach is
// refused. A port alone, and a host alone, are taken too; port 0 picks a free
// one.
func Listen(address string) (net.Listener, error) {
	address, err := loopback(address)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", address) //nolint:noctx // it does not wait
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.Wrap(fault.Busy, fmt.Sprintf("Another program listens on %s.", address), "Name another port, or 0 for a free one, such as --http=0.", err)
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, fmt.Sprintf("Nothing can listen on %s here.", address), "Name another address, such as --http="+DefaultAddress+".", err)
	}
	return netutil.LimitListener(ln, maxConnections), nil
}

func loopback(address string) (string, error) {
	usual, port, err := net.SplitHostPort(DefaultAddress)
	if err != nil {
		return "", err
	}
	host, named, err := net.SplitHostPort(address)
	switch {
	case err == nil:
		port = named
	case isPort(address):
		host, port = usual, address
	default:
		host = address
	}
	switch host {
	case "localhost":
		host = usual
	case "[::1]":
		host = "::1"
	}
	if host != usual && host != "::1" {
		return "", fault.New(fault.Invalid, fmt.Sprintf("The tools are served to this computer only, and %q is not an address of it alone.", address),
			"Use "+DefaultAddress+" or [::1]:PORT. From another computer, use a tunnel such as ssh -L.")
	}
	if !isPort(port) {
		return "", fault.New(fault.Invalid, fmt.Sprintf("%q is not a port.", port), "Use a number up to 65535, or 0 for a free one.")
	}
	return net.JoinHostPort(host, port), nil
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}
