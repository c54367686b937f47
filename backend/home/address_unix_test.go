//go:build !windows

package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddressLiesInThePrivateRuntimeFolder(t *testing.T) {
	runtimeDir, err := os.MkdirTemp("/tmp", "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtimeDir) })
	t.Setenv("XDG_RUNTIME_DIR", runtimeDir)
	a, b := open(t, t.TempDir()), open(t, t.TempDir())
	first, err := a.Address()
	if err != nil {
		t.Fatal(err)
	}
	second, _ := b.Address()
	if filepath.Dir(first) != filepath.Join(runtimeDir, "gofer") || first == second {
		t.Errorf("got %s and %s, want two names in %s/gofer", first, second, runtimeDir)
	}
	info, _ := os.Stat(filepath.Dir(first))
	if got, want := info.Mode().Perm(), os.FileMode(0o700); got != want {
		t.Errorf("permissions: got %o, want %o", got, want)
	}
}

func TestAddressIsShortEnoughInALongFolder(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	got, err := open(t, t.TempDir()).Address()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > maxSocketPath {
		t.Errorf("got %d bytes, want at most %d: %s", len(got), maxSocketPath, got)
	}
}

func TestASocketFolderThatIsALinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "gofer")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if err := private(link); err == nil {
		t.Error("got no error for a link")
	}
}
