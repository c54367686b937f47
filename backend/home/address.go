package home

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Hash names the home in a few letters, for sockets and keychain entries.
func (h *Home) Hash() string { return HashDir(h.dir) }

// HashDir is the hash of a data folder.
func HashDir(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:8])
}

// Host says which process serves a home, and where. It is a hint: the lock
// decides who the host is.
type Host struct {
	Address string `json:"address"`
	PID     int    `json:"pid"`
	Kind    string `json:"kind"` // window or terminal
	Version string `json:"version"`
}

// SaveHost writes down who serves the home. Only the holder of the lock may.
// Clients need it because they may have been started with another runtime
// folder, such as by cron or over ssh.
func (h *Home) SaveHost(host Host) error {
	raw, err := json.Marshal(host)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(h.dir, hostName), raw, 0o600)
}

// Host reads who serves the home, or served it last.
func (h *Home) Host() (Host, bool) {
	var host Host
	raw, err := os.ReadFile(filepath.Join(h.dir, hostName))
	if err != nil || json.Unmarshal(raw, &host) != nil || host.Address == "" {
		return Host{}, false
	}
	return host, true
}

// ForgetHost removes what SaveHost wrote.
func (h *Home) ForgetHost() error {
	err := os.Remove(filepath.Join(h.dir, hostName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
