//go:build linux && windowtest

package windowtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Open starts a desktop that ends with the test.
func Open(t testing.TB) *Desktop {
	t.Helper()
	d, err := Start(t.Context())
	if err != nil {
		t.Fatalf("start a desktop: %v", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("end the desktop: %v", err)
		}
	})
	return d
}

// Window is a program with a window on a desktop. Its methods end the test
// when something does not come true in time, and then show what is on screen.
type Window struct {
	t      testing.TB
	d      *Desktop
	cmd    *exec.Cmd
	root   Node // the application
	stderr *lockedBuffer
	exited chan struct{}
	fault  error // of the process, once exited is closed

	Started time.Time // when the process was started
}

// Launch starts a program and waits for its window. The added variables win
// over those of the desktop.
func (d *Desktop) Launch(t testing.TB, env []string, binary string, args ...string) *Window {
	t.Helper()
	w := d.Begin(t, env, binary, args...)
	w.Appear()
	return w
}

// Begin starts a program and does not wait for a window.
func (d *Desktop) Begin(t testing.TB, env []string, binary string, args ...string) *Window {
	t.Helper()
	w := &Window{t: t, d: d, stderr: &lockedBuffer{}, exited: make(chan struct{}), Started: time.Now()}
	w.cmd = exec.Command(binary, args...)
	w.cmd.Env = append(d.Env(), env...)
	w.cmd.Stderr = w.stderr
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := w.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", binary, err)
	}
	go func() { w.fault = w.cmd.Wait(); close(w.exited) }()
	t.Cleanup(func() {
		_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) // nothing to end after Quit
		<-w.exited
	})
	return w
}

// Appear waits for the window of the program.
func (w *Window) Appear() {
	w.t.Helper()
	w.wait("the window", func() error {
		root, err := w.d.application(w.t.Context(), w.cmd.Process.Pid)
		if err != nil {
			return err
		}
		w.root = root
		_, err = w.id()
		return err
	})
}

// PID is the process of the window.
func (w *Window) PID() int { return w.cmd.Process.Pid }

// application finds what a process shows to assistive technology.
func (d *Desktop) application(ctx context.Context, pid int) (Node, error) {
	desktop := Node{conn: d.access, bus: "org.a11y.atspi.Registry", path: "/org/a11y/atspi/accessible/root"}
	apps, err := desktop.Children(ctx)
	if err != nil {
		return Node{}, err
	}
	for _, app := range apps {
		var owner uint32
		err := d.access.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, app.bus).Store(&owner)
		if err == nil && int(owner) == pid {
			return app, nil
		}
	}
	return Node{}, fmt.Errorf("process %d shows nothing yet", pid)
}

// wait ends the test when check does not come true in time.
func (w *Window) wait(what string, check func() error) {
	w.t.Helper()
	err := until(w.t.Context(), what, func() error {
		select {
		case <-w.exited:
			return fmt.Errorf("the program has ended: %w", errors.Join(w.fault, errors.New("no window is left")))
		default:
			return check()
		}
	})
	if err == nil {
		return
	}
	w.t.Helper()
	tree := ""
	if w.root.conn != nil {
		tree = w.root.Tree(w.t.Context())
	}
	w.t.Fatalf("%v\nwindow:\n%sstderr:\n%s", err, tree, w.stderr)
}

// id is the X number of the visible window.
func (w *Window) id() (string, error) {
	out, err := w.xdotool("search", "--onlyvisible", "--pid", strconv.Itoa(w.cmd.Process.Pid))
	if err != nil {
		return "", err
	}
	ids := strings.Fields(out)
	if len(ids) == 0 {
		return "", errors.New("no window is visible")
	}
	return ids[len(ids)-1], nil
}

func (w *Window) xdotool(args ...string) (string, error) {
	out, err := w.d.Command(w.t.Context(), "xdotool", args...).Output()
	if err != nil {
		return "", fmt.Errorf("xdotool %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// act runs an xdotool command that has to work.
func (w *Window) act(args ...string) {
	w.t.Helper()
	if _, err := w.xdotool(args...); err != nil {
		w.t.Fatal(err)
	}
}

// Raise brings the window to the front, so that clicks reach it.
func (w *Window) Raise() {
	w.t.Helper()
	id, err := w.id()
	if err != nil {
		w.t.Fatal(err)
	}
	w.act("windowactivate", "--sync", id)
}

// Find waits for a thing with that role and name.
func (w *Window) Find(role Role, name string) Node {
	w.t.Helper()
	var found Node
	w.wait(fmt.Sprintf("role %d named %q", role, name), func() (err error) {
		found, err = w.root.Find(w.t.Context(), role, name)
		return err
	})
	return found
}

// FindPart waits for a thing with that role whose name contains part.
func (w *Window) FindPart(role Role, part string) Node {
	w.t.Helper()
	var found Node
	w.wait(fmt.Sprintf("role %d with %q in its name", role, part), func() (err error) {
		found, err = w.root.FindPart(w.t.Context(), role, part)
		return err
	})
	return found
}

// Ready waits until a thing can be used.
func (w *Window) Ready(role Role, name string) {
	w.t.Helper()
	w.wait(fmt.Sprintf("%q to take a press", name), func() error {
		n, err := w.root.Find(w.t.Context(), role, name)
		if err != nil {
			return err
		}
		on, err := n.Enabled(w.t.Context())
		if err == nil && !on {
			err = errors.New("it is disabled")
		}
		return err
	})
}

// Focused waits until keys go to a thing.
func (w *Window) Focused(role Role, name string) {
	w.t.Helper()
	w.wait(fmt.Sprintf("%q to take the keys", name), func() error {
		n, err := w.root.Find(w.t.Context(), role, name)
		if err != nil {
			return err
		}
		on, err := n.Focused(w.t.Context())
		if err == nil && !on {
			err = errors.New("it has no focus")
		}
		return err
	})
}

// Wait ends the test when check does not come true in time.
func (w *Window) Wait(what string, check func(context.Context) error) {
	w.t.Helper()
	w.wait(what, func() error { return check(w.t.Context()) })
}

// Minimise puts the window away and waits until it is.
func (w *Window) Minimise() {
	w.t.Helper()
	id, err := w.id()
	if err != nil {
		w.t.Fatal(err)
	}
	w.act("windowminimize", id)
	w.wait("the window to be put away", func() error {
		if _, err := w.id(); err == nil {
			return errors.New("it is visible")
		}
		return nil
	})
}

// InFront waits until the window is seen and has the keys.
func (w *Window) InFront() {
	w.t.Helper()
	w.wait("the window to come to the front", func() error {
		id, err := w.id()
		if err != nil {
			return err
		}
		active, err := w.xdotool("getactivewindow")
		if err == nil && strings.TrimSpace(active) != id {
			err = fmt.Errorf("window %s is in front, ours is %s", strings.TrimSpace(active), id)
		}
		return err
	})
}

// Gone waits until there is no such thing.
func (w *Window) Gone(role Role, name string) {
	w.t.Helper()
	w.wait(fmt.Sprintf("role %d named %q to go", role, name), func() error {
		if _, err := w.root.Find(w.t.Context(), role, name); err == nil {
			return errors.New("it is still there")
		}
		return nil
	})
}

// Click presses the mouse in the middle of a thing and returns when it did.
func (w *Window) Click(role Role, name string) time.Time {
	w.t.Helper()
	return w.clickOn(name, func() (Node, error) { return w.root.Find(w.t.Context(), role, name) })
}

// ClickPart is Click for a thing whose name only contains part, such as a row
// that also says how long ago it was.
func (w *Window) ClickPart(role Role, part string) time.Time {
	w.t.Helper()
	return w.clickOn(part, func() (Node, error) { return w.root.FindPart(w.t.Context(), role, part) })
}

// clickOn waits until a thing lies still and clicks it.
func (w *Window) clickOn(what string, find func() (Node, error)) time.Time {
	w.t.Helper()
	w.Raise()
	x, y := w.middle(what, find)
	at := time.Now()
	w.act("mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", "1")
	return at
}

// ClickNode presses a mouse button in the middle of a thing, with keys such as
// ctrl held down.
func (w *Window) ClickNode(n Node, button int, keys ...string) {
	w.t.Helper()
	w.Raise()
	x, y := w.middle("a thing", func() (Node, error) { return n, nil })
	line := []string{"mousemove", strconv.Itoa(x), strconv.Itoa(y)}
	for _, key := range keys {
		line = append(line, "keydown", key)
	}
	line = append(line, "click", strconv.Itoa(button))
	for _, key := range keys {
		line = append(line, "keyup", key)
	}
	w.act(line...)
}

// Things returns everything of that role within a part of the window.
func (w *Window) Things(role Role, inRole Role, inName string) []Node {
	w.t.Helper()
	return w.Find(inRole, inName).All(w.t.Context(), role)
}

// Address is that of the page in the window.
func (w *Window) Address() string {
	w.t.Helper()
	var address string
	w.wait("the page to say its address", func() (err error) {
		for _, n := range w.root.All(w.t.Context(), Document) {
			if address, err = n.Address(w.t.Context()); err == nil && address != "" {
				return nil
			}
		}
		return errors.Join(err, errors.New("there is no page"))
	})
	return address
}

// middle waits until a thing lies still and returns where its middle is.
func (w *Window) middle(what string, find func() (Node, error)) (x, y int) {
	w.t.Helper()
	var last [4]int
	w.wait(fmt.Sprintf("%q to lie still", what), func() error {
		n, err := find()
		if err != nil {
			return err
		}
		x, y, width, height, err := n.Extents(w.t.Context())
		if err != nil {
			return err
		}
		was := last
		last = [4]int{x, y, width, height}
		if width <= 0 || height <= 0 || was != last {
			return fmt.Errorf("it is at %v, was at %v", last, was)
		}
		return nil
	})
	return last[0] + last[2]/2, last[1] + last[3]/2
}

// Wheel turns the mouse wheel over a thing: up for a positive number of notches.
func (w *Window) Wheel(role Role, name string, notches int) {
	w.t.Helper()
	w.Raise()
	x, y := w.middle(name, func() (Node, error) { return w.root.Find(w.t.Context(), role, name) })
	button := "4"
	if notches < 0 {
		button, notches = "5", -notches
	}
	w.act("mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", "--repeat", strconv.Itoa(notches), "--delay", "20", button)
}

// Type clicks into an entry and types into it, then waits until it holds the text.
func (w *Window) Type(name, text string) {
	w.t.Helper()
	w.Click(Entry, name)
	w.Focused(Entry, name)
	w.act("type", "--delay", "8", "--", text)
	w.WaitText(Entry, name, text)
}

// Press presses keys by their X names, such as Return or ctrl+n.
func (w *Window) Press(keys ...string) {
	w.t.Helper()
	w.Raise()
	w.act(append([]string{"key", "--clearmodifiers"}, keys...)...)
}

// Text returns what can be read in a thing.
func (w *Window) Text(role Role, name string) string {
	w.t.Helper()
	n := w.Find(role, name)
	return n.Text(w.t.Context())
}

// WaitText waits until a thing holds a text.
func (w *Window) WaitText(role Role, name, want string) {
	w.t.Helper()
	w.wait(fmt.Sprintf("%q to say %q", name, want), func() error {
		n, err := w.root.Find(w.t.Context(), role, name)
		if err != nil {
			return err
		}
		if got := n.Text(w.t.Context()); !strings.Contains(got, want) {
			return fmt.Errorf("it says %q", got)
		}
		return nil
	})
}

// Screenshot keeps a picture of the screen among the test's artifacts.
func (w *Window) Screenshot(name string) string {
	w.t.Helper()
	path := filepath.Join(w.t.ArtifactDir(), name+".png")
	if out, err := w.d.Command(w.t.Context(), "import", "-window", "root", path).CombinedOutput(); err != nil {
		w.t.Fatalf("take a picture: %v: %s", err, out)
	}
	return path
}

// Quit asks the program to end, as a desktop does, and waits until it has.
func (w *Window) Quit() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatalf("ask the program to end: %v", err)
	}
	w.Ended()
}

// Shut closes the window as a person does, and waits until the program has ended.
func (w *Window) Shut() {
	w.t.Helper()
	w.Press("alt+F4")
	w.Ended()
}

// Ended waits until the program has ended, and fails unless it ended well.
func (w *Window) Ended() {
	w.t.Helper()
	err := until(w.t.Context(), "the program to end", func() error {
		select {
		case <-w.exited:
			return nil
		default:
			return errors.New("it still runs")
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.fault != nil {
		w.t.Errorf("the program ended with %v\nstderr:\n%s", w.fault, w.stderr)
	}
}

// lockedBuffer is written by the process and read by the test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
