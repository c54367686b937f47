package home

import "path/filepath"

const (
	lockName     = "lock"
	hostName     = "host.json"
	databaseName = "gofer.db"
	settingsName = "settings.json"
	throwaways   = "ephemeral"
)

// Dir is the data folder itself, absolute and without links.
func (h *Home) Dir() string { return h.dir }

// Database is the file of the store.
func (h *Home) Database() string { return filepath.Join(h.dir, databaseName) }

// Settings is the file of the settings.
func (h *Home) Settings() string { return filepath.Join(h.dir, settingsName) }

// Learned is the file of what refusals have taught about model servers.
func (h *Home) Learned() string { return filepath.Join(h.dir, "learned.json") }

// Keys is the folder whose keys this home uses: its own, or that of the home a
// throwaway one was made from.
func (h *Home) Keys() string { return h.keysFrom }

// Clients is the folder of the tokens of programs that use the tools. A
// throwaway home uses those of the home it was made from.
func (h *Home) Clients() string { return filepath.Join(h.keysFrom, "mcp") }

// Blobs is the folder of bytes that sessions refer to.
func (h *Home) Blobs() string { return filepath.Join(h.dir, "blobs") }

// Profile is the browser's folder; a browser without a window has its own, so
// that both can run side by side.
func (h *Home) Profile(headless bool) string {
	if headless {
		return filepath.Join(h.dir, "profile-headless")
	}
	return filepath.Join(h.dir, "profile")
}

// Logs is the folder of the log files.
func (h *Home) Logs() string { return filepath.Join(h.dir, "logs") }

// Backups is the folder of database copies made before migrations.
func (h *Home) Backups() string { return filepath.Join(h.dir, "backups") }

// Trash is the folder where deleted files wait.
func (h *Home) Trash() string { return filepath.Join(h.dir, "trash") }

// Throwaway reports whether this home goes away with its process.
func (h *Home) Throwaway() bool { return h.keysFrom != h.dir }
