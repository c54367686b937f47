// Command scriptmodel serves scripted models to tests that run outside of Go.
//
//	scriptmodel [-listen 127.0.0.1:0] script.json …
//
// It prints its base URL on the first line. GET /problems lists what was wrong
// with the requests so far, GET /requests what came in, and POST /release/NAME
// opens a gate.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"gofer/backend/llm/script"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scriptmodel:", err)
		os.Exit(1)
	}
}

func run() error {
	address := flag.String("listen", "127.0.0.1:0", "loopback address to listen on")
	flag.Parse()
	var scripts []script.Script
	for _, path := range flag.Args() {
		s, err := script.Load(path)
		if err != nil {
			return err
		}
		scripts = append(scripts, s)
	}
	host, _, err := net.SplitHostPort(*address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("listen on %s: only a loopback address is allowed", *address)
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", *address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/v1\n", l.Addr())
	s := &http.Server{Handler: handler(script.New(scripts...)), ReadHeaderTimeout: 10 * time.Second}
	return s.Serve(l)
}

func handler(p *script.Player) http.Handler {
	show := func(v func() any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v())
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/", p)
	mux.HandleFunc("GET /problems", show(func() any { return append([]string{}, p.Problems()...) }))
	mux.HandleFunc("GET /requests", show(func() any {
		type seen struct {
			Model string          `json:"model"`
			Step  int             `json:"step"`
			Left  bool            `json:"left"`
			Body  json.RawMessage `json:"body"`
		}
		out := []seen{}
		for _, r := range p.Requests() {
			out = append(out, seen{r.Model, r.Step, r.Left, r.Body})
		}
		return out
	}))
	mux.HandleFunc("POST /release/", func(_ http.ResponseWriter, r *http.Request) {
		p.Release(strings.TrimPrefix(r.URL.Path, "/release/"))
	})
	return mux
}
