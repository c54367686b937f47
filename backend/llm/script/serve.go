package script

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Server is a player that listens on this machine.
type Server struct {
	*Player
	URL string // base URL for clients, ends with /v1

	http *http.Server
	done chan struct{}
}

// Serve plays scripts on a free port of the loopback address.
func Serve(scripts ...Script) (*Server, error) { return New(scripts...).Serve("127.0.0.1:0") }

// Serve listens on a loopback address such as 127.0.0.1:0.
func (p *Player) Serve(address string) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{Player: p, URL: "http://" + l.Addr().String() + "/v1", done: make(chan struct{})}
	s.http = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// Close ends the server and every connection to it.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}
