package main

import (
	"context"
	"net/url"
	"os/exec"
	goruntime "runtime"
	"strings"

	"gofer/backend/fault"
)

// externalAddress returns address as it may leave the window: an absolute
// http, https or mailto address without control characters.
func externalAddress(address string) (string, error) {
	refused := fault.New(fault.Denied, "This address cannot be opened.", "Only http, https and mailto addresses leave the window.")
	if strings.ContainsFunc(address, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return "", refused
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", refused
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host == "" {
			return "", refused
		}
	case "mailto":
		if u.Opaque == "" {
			return "", refused
		}
	default:
		return "", refused
	}
	return u.String(), nil
}

// openWith hands a file or an address to the program the desktop has for it.
// The target is one argument of its own, so no shell ever reads it.
func openWith(ctx context.Context, target string) error {
	name, args := "xdg-open", []string{target}
	switch goruntime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", target}
	}
	// It must outlive the call: closing the window does not close the editor.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := cmd.Start(); err != nil {
		return fault.Wrap(fault.Unavailable, "No program could be started to open "+target+".", "Open it by hand.", err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
