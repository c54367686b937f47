package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"
)

// attach connects to a browser that a person started with a debugging port.
// Only one of this computer is taken: whoever reaches the port has the browser.
// It is never ended, and of its tabs only those a session opened are touched.
func attach(ctx context.Context, o Options, on func(session, method string, params json.RawMessage)) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	address, err := debugAddress(o.Attach)
	if err != nil {
		return nil, err
	}
	socket, err := socketOf(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNotAttached, o.Attach, err)
	}
	link := &link{}
	if err := link.ws.Connect(ctx, socket, nil); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNotAttached, o.Attach, err)
	}
	p := &process{said: &tailWriter{}, exited: make(chan struct{}), link: link}
	p.conn = newConn(link, link, on)
	go func() {
		<-p.conn.done
		_ = link.ws.Close()
		close(p.exited)
	}()
	if err := p.conn.call(ctx, "", "Browser.getVersion", nil, nil); err != nil {
		p.stop()
		return nil, fmt.Errorf("%w: %s: %w", ErrNotAttached, o.Attach, err)
	}
	return p, nil
}

// debugAddress reads host and port of a debugging port on this computer.
func debugAddress(s string) (string, error) {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Port() == "" {
		return "", fmt.Errorf("%w: %q is no address such as 127.0.0.1:9222", ErrNotAttached, s)
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("%w: %s is not on this computer", ErrNotAttached, u.Host)
	}
	return u.Host, nil
}

// socketOf asks the port for the address of the protocol.
func socketOf(ctx context.Context, host string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/json/version", nil)
	if err != nil {
		return "", err
	}
	direct := &http.Transport{} // never through a proxy
	defer direct.CloseIdleConnections()
	resp, err := (&http.Client{Transport: direct}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var got struct {
		Socket string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&got); err != nil || got.Socket == "" {
		return "", fmt.Errorf("what answers there is no browser")
	}
	u, err := url.Parse(got.Socket)
	if err != nil {
		return "", err
	}
	u.Host = host
	return u.String(), nil
}

// link makes the messages of a web socket the lines, ended by NUL, of a pipe.
type link struct {
	ws   cdp.WebSocket
	rest []byte
}

// Read gives out the messages one after the other.
func (l *link) Read(b []byte) (int, error) {
	if len(l.rest) == 0 {
		m, err := l.ws.Read()
		if err != nil {
			return 0, io.EOF
		}
		l.rest = append(m, 0)
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Write sends one whole message.
func (l *link) Write(b []byte) (int, error) {
	if err := l.ws.Send(append([]byte(nil), b[:len(b)-1]...)); err != nil {
		return 0, err
	}
	return len(b), nil
}
