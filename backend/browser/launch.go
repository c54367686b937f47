package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a started browser and the pipes to it.
type process struct {
	cmd    *exec.Cmd
	conn   *conn
	said   *tailWriter
	exited chan struct{}
	link   *link // of a browser that was attached to, which has no cmd
}

// start runs the browser and returns once it answers.
func start(ctx context.Context, o Options, on func(session, method string, params json.RawMessage)) (*process, error) {
	if o.Attach != "" {
		return attach(ctx, o, on)
	}
	path, err := Find(o.Path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Profile, 0o700); err != nil {
		return nil, fmt.Errorf("make browser profile: %w", err)
	}
	if err := clearLock(o.Profile); err != nil {
		return nil, err
	}
	p := &process{said: &tailWriter{}, exited: make(chan struct{})}
	p.cmd = exec.Command(path, flags(o, os.Geteuid() == 0)...) //nolint:noctx // it outlives the call that starts it
	p.cmd.Env = append(os.Environ(), o.Env...)
	p.cmd.Stderr = p.said
	p.cmd.WaitDelay = time.Second // grandchildren may keep stderr open
	in, out, err := startPiped(p.cmd)
	if err != nil {
		return nil, fmt.Errorf("start browser %s: %w", path, err)
	}
	p.conn = newConn(in, out, on)
	go func() {
		if err := p.cmd.Wait(); err != nil && ownLock(o.Profile, p.cmd.Process.Pid) { // one that ends by itself tidies up
			_ = removeLock(o.Profile)
		}
		close(p.exited)
		p.conn.end()
		_ = in.Close()
		_ = out.Close()
	}()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := p.conn.call(ctx, "", "Browser.getVersion", nil, nil); err != nil {
		p.kill()
		said := p.said.String()
		if strings.Contains(said, "ProcessSingleton") || strings.Contains(said, "existing browser session") {
			return nil, fmt.Errorf("%w: %s", ErrProfileBusy, o.Profile)
		}
		if errors.Is(err, errConnEnded) {
			return nil, fmt.Errorf("start browser %s: it ended at once: %s", path, lastLine(said))
		}
		return nil, fmt.Errorf("start browser %s: %w", path, err)
	}
	return p, nil
}

// stop asks the browser to end and makes sure that it does. One that was
// attached to is let go.
func (p *process) stop() {
	if p.link != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = p.conn.call(ctx, "", "Browser.getVersion", nil, nil) // what was sent before has arrived
		p.kill()
		return
	}
	p.conn.send("", "Browser.close", nil)
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
		p.kill()
	}
}

func (p *process) kill() {
	if p.link != nil {
		_ = p.link.ws.Close()
		<-p.exited
		return
	}
	killTree(p.cmd)
	<-p.exited
}

// tailWriter keeps the end of what the browser wrote.
type tailWriter struct {
	mu  sync.Mutex
	buf []byte
}

// Write keeps the last 8 KB.
func (t *tailWriter) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 8192 {
		t.buf = append([]byte(nil), t.buf[len(t.buf)-8192:]...)
	}
	return len(b), nil
}

// String returns what was kept.
func (t *tailWriter) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
