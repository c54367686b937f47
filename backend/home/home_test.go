package home

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gofer/backend/fault"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("GOFER_TEST_HOLD"); dir != "" {
		hold(dir)
	}
	os.Exit(m.Run())
}

// hold is the other process of TestLockEndsWithAKilledProcess.
func hold(dir string) {
	h, err := Open(dir)
	if err == nil {
		_, err = h.TryLock()
	}
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("held\n")
	select {}
}

func TestOpenMakesAPrivateFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	h, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(h.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode().Perm(), os.FileMode(0o700); runtime.GOOS != "windows" && got != want {
		t.Errorf("permissions: got %o, want %o", got, want)
	}
}

func TestOpenClosesAnOldHomeToOthers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "settings.json"), "{}")
	chmod(t, dir, 0o755)
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(dir)
	if got, want := info.Mode().Perm(), os.FileMode(0o700); runtime.GOOS != "windows" && got != want {
		t.Errorf("permissions: got %o, want %o", got, want)
	}
}

func TestOpenLeavesASharedFolderOfOtherThingsAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "letter.txt"), "hi")
	chmod(t, dir, 0o755)
	_, err := Open(dir)
	if got, want := fault.From(err).Code, fault.Invalid; err == nil || got != want {
		t.Fatalf("got %v, want code %s", err, want)
	}
	info, _ := os.Stat(dir)
	if got, want := info.Mode().Perm(), os.FileMode(0o755); got != want {
		t.Errorf("permissions: got %o, want %o", got, want)
	}
}

func TestOpenSaysWhyAFolderCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	_, err := Open(filepath.Join(file, "home"))
	f := fault.From(err)
	if f == nil || f.Code != fault.Unavailable || f.Hint == "" || !strings.Contains(f.Message, file) {
		t.Fatalf("got %#v, want an unavailable fault that names the folder and a way on", f)
	}
}

func TestDirFollowsTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	if got, err := Dir(); err != nil || got != dir {
		t.Errorf("got %q, %v, want %q", got, err, dir)
	}
}

func TestOnlyOneHoldsTheLock(t *testing.T) {
	h := open(t, t.TempDir())
	lock, err := h.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	again := open(t, h.Dir())
	if _, err := again.TryLock(); !errors.Is(err, ErrHeld) || fault.From(err).Code != fault.Busy {
		t.Fatalf("got %v, want a busy fault around ErrHeld", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	lock, err = again.TryLock()
	if err != nil {
		t.Fatalf("after the lock was given back: %v", err)
	}
	_ = lock.Unlock()
}

func TestLockEndsWithAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "GOFER_TEST_HOLD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "held\n" {
		t.Fatalf("the other process said %q", line)
	}
	h := open(t, dir)
	if _, err := h.TryLock(); !errors.Is(err, ErrHeld) {
		t.Fatalf("while it lives: got %v, want ErrHeld", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	lock, err := h.TryLock()
	if err != nil {
		t.Fatalf("after it was killed: %v", err)
	}
	_ = lock.Unlock()
}

func TestWriteFileKeepsTheOriginalWhenItFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	if err := WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A folder of that name cannot be replaced by a file.
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(taken, []byte("new"), 0o600); err == nil {
		t.Fatal("writing over a folder: got no error")
	}
	if err := WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("got %q, want new", got)
	}
	entries, _ := os.ReadDir(dir)
	if got, want := len(entries), 2; got != want {
		t.Errorf("files left in the folder: got %d, want %d: %v", got, want, entries)
	}
}

func TestWriteFileFollowsALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "kept.json"), filepath.Join(dir, "settings.json")
	write(t, target, "old")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(t, target); got != "new" {
		t.Errorf("target: got %q, want new", got)
	}
}

func TestLockSweepsHalfWrittenFiles(t *testing.T) {
	h := open(t, t.TempDir())
	left := filepath.Join(h.Dir(), ".settings.json"+tempMark+"123")
	write(t, left, "half")
	lock, err := h.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("got %v, want it gone", err)
	}
}

func TestEphemeralHasTheSettingsAndLeavesNothing(t *testing.T) {
	h := open(t, t.TempDir())
	lock, err := h.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	write(t, h.Settings(), `{"theme":"dark"}`)
	e, remove, err := h.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	own, err := e.TryLock()
	if err != nil {
		t.Fatalf("its own lock: %v", err)
	}
	if got, want := read(t, e.Settings()), `{"theme":"dark"}`; got != want {
		t.Errorf("settings: got %s, want %s", got, want)
	}
	if got, want := e.Keys(), h.Dir(); got != want || !e.Throwaway() || h.Throwaway() {
		t.Errorf("keys: got %s, want %s", got, want)
	}
	if err := errors.Join(own.Unlock(), remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(e.Dir()); !os.IsNotExist(err) {
		t.Errorf("got %v, want it gone", err)
	}
}

func TestHostIsRemembered(t *testing.T) {
	h := open(t, t.TempDir())
	if _, ok := h.Host(); ok {
		t.Fatal("a new home has a host")
	}
	want := Host{Address: "/x/y.sock", PID: 7, Kind: "window", Version: "1"}
	if err := h.SaveHost(want); err != nil {
		t.Fatal(err)
	}
	if got, ok := h.Host(); !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := errors.Join(h.ForgetHost(), h.ForgetHost()); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *Home {
	t.Helper()
	h, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
