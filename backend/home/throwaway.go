package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gofer/backend/fault"
)

// Ephemeral makes a home that ends with this process: it starts with a copy of
// h's settings, uses h's keys, and has a database, profile and lock of its
// own, so it never waits for h. Call remove at the end, after its lock was
// given back. Those whose process was killed are removed here.
func (h *Home) Ephemeral() (t *Home, remove func() error, err error) {
	base := filepath.Join(h.dir, throwaways)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, nil, unwritable(base, err)
	}
	sweepEphemeral(base)
	dir, err := os.MkdirTemp(base, time.Now().Format("20060102-150405-"))
	if err != nil {
		return nil, nil, unwritable(base, err)
	}
	raw, err := os.ReadFile(h.Settings())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, errors.Join(fault.Wrap(fault.Broken, "The settings cannot be read.", "Look at "+h.Settings()+".", err), os.RemoveAll(dir))
	default:
		if err := WriteFile(filepath.Join(dir, settingsName), raw, 0o600); err != nil {
			return nil, nil, errors.Join(unwritable(dir, err), os.RemoveAll(dir))
		}
	}
	return &Home{dir: dir, keysFrom: h.keysFrom}, func() error { return removeAll(dir) }, nil
}

// sweepEphemeral removes throwaway homes that nobody holds. One that is a
// minute young may not have been locked yet.
func sweepEphemeral(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		old := &Home{dir: filepath.Join(base, e.Name())}
		lock, err := old.TryLock()
		if err != nil {
			continue
		}
		_ = lock.Unlock()
		_ = os.RemoveAll(old.dir)
	}
}

// removeAll tries for some seconds: a browser that has just ended may still be
// writing.
func removeAll(dir string) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := os.RemoveAll(dir)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}
