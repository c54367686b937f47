package guard

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// real follows the links of a path as far as it exists.
func real(path string) string {
	if path == "" {
		return ""
	}
	path = filepath.Clean(path)
	for dir, rest := path, ""; ; {
		if to, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(to, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return path
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}

// within reports whether path is dir or beneath it.
func within(dir, path string) bool {
	if dir == "" || path == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// folderOf is what a read grant may cover: the folder a file is in, or the
// file alone when its folder holds the home folder. It is not ok for a folder
// that does: that much is not granted with a click.
func folderOf(path string) (string, bool) {
	info, err := os.Stat(path)
	folder := err == nil && info.IsDir()
	dir := path
	if !folder {
		dir = filepath.Dir(path)
	}
	home, err := os.UserHomeDir()
	if err != nil || within(dir, real(home)) || filepath.Dir(dir) == dir {
		return path, !folder
	}
	return dir, true
}

// closed reports whether a path is part of the app's own data. Folders are
// compared by identity, so no other spelling gets round it.
func (g *Guard) closed(path string) bool {
	if path == "" {
		return false
	}
	path = real(path)
	for dir := path; ; dir = filepath.Dir(dir) {
		if same(dir, g.options.Shared) {
			return false
		}
		if same(dir, g.options.Protected) || runtime.GOOS == "linux" && dir == "/proc/"+strconv.Itoa(os.Getpid()) {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
	}
}

// shared reports whether a path is in one of the open folders of the app.
func (g *Guard) shared(path string) bool {
	for dir := path; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if same(dir, g.options.Shared) {
			return true
		}
	}
	return false
}

func same(dir string, list []string) bool {
	if len(list) == 0 {
		return false
	}
	info, err := os.Stat(dir)
	return slices.ContainsFunc(list, func(other string) bool {
		if filepath.Clean(other) == dir {
			return true
		}
		o, err2 := os.Stat(other)
		return err == nil && err2 == nil && os.SameFile(info, o)
	})
}

// Folders that hold keys, passwords or log-ins.
var secretFolders = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".mozilla", ".thunderbird", ".gem", ".cargo/credentials.toml",
	".config/gcloud", ".config/gh", ".config/op", ".config/chromium", ".config/google-chrome", ".config/bravesoftware", ".config/microsoft-edge",
	".local/share/keyrings", "library/keychains", "library/cookies", "application support/google/chrome", "application support/firefox",
	"application support/chromium", "application support/bravesoftware", "application support/microsoft edge",
	"appdata/local/google/chrome", "appdata/local/microsoft/edge", "appdata/local/bravesoftware", "appdata/roaming/mozilla",
	"microsoft/credentials", "microsoft/protect", "etc/shadow", "etc/gshadow", "etc/sudoers", "etc/sudoers.d",
}

// Secret reports whether a file may hold keys, passwords or log-ins, by its
// name and place.
func Secret(path string) bool {
	low := "/" + strings.Trim(strings.ToLower(filepath.ToSlash(path)), "/") + "/"
	for _, f := range secretFolders {
		if strings.Contains(low, "/"+f+"/") {
			return true
		}
	}
	if strings.HasPrefix(low, "/proc/") && (strings.HasSuffix(low, "/environ/") || strings.HasSuffix(low, "/mem/")) {
		return true
	}
	name := strings.ToLower(filepath.Base(path))
	if strings.HasPrefix(name, ".env") {
		switch name {
		case ".env.example", ".env.sample", ".env.template":
			return false
		case ".env":
			return true
		}
		return strings.HasPrefix(name, ".env.")
	}
	switch name {
	case ".netrc", "_netrc", ".pgpass", ".my.cnf", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd", ".vault-token",
		"credentials", "credentials.json", "credentials.db", "secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml",
		"cookies", "cookies.sqlite", "login data", "logins.json", "key4.db", "wallet.dat":
		return true
	}
	for _, end := range []string{".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore", ".jks", ".ppk", ".gpg", ".asc", ".ovpn"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, "id_") && !strings.Contains(name, ".") &&
		slices.Contains([]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"}, name)
}

// Places whose files are run by something else, sooner or later.
var laterFolders = []string{
	".git", ".husky", ".githooks", ".hg", ".vscode", ".idea", ".github/workflows", ".github/actions", ".circleci", ".gitlab", ".ci",
	".config/autostart", ".config/systemd", ".config/fish", ".config/git", ".config/environment.d", ".config/nvim", ".local/share/systemd",
	".local/share/applications", ".oh-my-zsh", "library/launchagents", "library/launchdaemons", "start menu/programs/startup",
	"etc", "usr", "bin", "sbin", "boot", "var/spool/cron", "windows", "program files",
}

// RunsLater reports whether a file is run later by itself: hooks, start files,
// autostart, schedules, editor tasks, build servers, folders of PATH. Such a
// write asks each time, in the workspace as well.
func RunsLater(path string) bool {
	low := "/" + strings.Trim(strings.ToLower(filepath.ToSlash(path)), "/") + "/"
	for _, f := range laterFolders {
		if f[0] == '.' && strings.Contains(low, "/"+f+"/") || strings.HasPrefix(low, "/"+f+"/") ||
			strings.Contains(f, "library/") && strings.Contains(low, "/"+f+"/") ||
			len(low) > 3 && low[2] == ':' && strings.HasPrefix(low[3:], "/"+f+"/") ||
			f == "start menu/programs/startup" && strings.Contains(low, "/"+f+"/") {
			return true
		}
	}
	switch strings.ToLower(filepath.Base(path)) {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin",
		".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".inputrc", ".vimrc", ".exrc",
		".emacs", ".gitconfig", ".gitmodules", ".gitattributes", ".envrc", ".gdbinit", ".tmux.conf", ".screenrc", ".pam_environment",
		".gitlab-ci.yml", ".travis.yml", ".pre-commit-config.yaml", "jenkinsfile", "azure-pipelines.yml", "crontab", "sitecustomize.py",
		"usercustomize.py", "autorun.inf", "profile.ps1", "microsoft.powershell_profile.ps1", "authorized_keys":
		return true
	}
	dir := filepath.Dir(path)
	for _, p := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(p) && (filepath.Clean(p) == dir || real(p) == dir) {
			return true
		}
	}
	return false
}
