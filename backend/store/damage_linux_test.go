package store

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"gofer/backend/fault"
)

// asNobody opens a store without the right of root to write everything. The
// thread that gave it up ends with the goroutine.
func asNobody(ctx context.Context, o Options) (s *Store, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			if err = syscall.Setfsuid(65534); err != nil {
				return
			}
		}
		s, err = Open(ctx, o)
	}()
	<-done
	return s, err
}

func TestAReadOnlyDatabaseIsSaid(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir, false)
	if err := os.Chmod(filepath.Join(dir, "gofer.db"), 0o400); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(dir), dir, filepath.Join(dir, "gofer.db"), filepath.Join(dir, "blobs"), filepath.Join(dir, "backups")} {
		if os.Getuid() != 0 {
			break
		}
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if f := refusedTo(t, dir, asNobody); f == nil || f.Code != fault.Unavailable {
		t.Errorf("got %v; want to be told that it may not be written", f)
	}
}
