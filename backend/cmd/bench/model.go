package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gofer/backend/llm/script"
)

// playerEnv names the script that this program plays instead of measuring. The
// model lives in a process of its own, so that its work is not counted as ours.
const playerEnv = "GOFER_BENCH_SCRIPT"

// request is what the model saw of one call.
type request struct {
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
	Body []byte        `json:"body"`
}

// model is a scripted model in another process.
type model struct {
	URL string
	cmd *exec.Cmd
}

func startModel(dir string, turns ...script.Turn) (*model, error) {
	raw, err := json.Marshal(script.Script{Model: "m", Turns: turns})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "script.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self) //nolint:noctx // ended by close
	cmd.Env = append(os.Environ(), playerEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the scripted model: %w", err), cmd.Process.Kill())
	}
	return &model{URL: strings.TrimSpace(line), cmd: cmd}, nil
}

// requests returns what came in so far.
func (m *model) requests(ctx context.Context) ([]request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(m.URL, "/v1")+"/requests", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out []request
	return out, json.NewDecoder(resp.Body).Decode(&out)
}

func (m *model) close() {
	_ = m.cmd.Process.Kill() // it keeps nothing
	_ = m.cmd.Wait()
}

// play serves a script until this process is ended.
func play(ctx context.Context, path string) error {
	s, err := script.Load(path)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := script.New(s)
	mux := http.NewServeMux()
	mux.Handle("/", p)
	mux.HandleFunc("POST /clock/v1/chat/completions", clock)
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) {
		out := []request{}
		for _, r := range p.Requests() {
			out = append(out, request{r.At, r.Took, r.Body})
		}
		_ = json.NewEncoder(w).Encode(out)
	})
	fmt.Printf("http://%s/v1\n", l.Addr())
	return (&http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}).Serve(l)
}
