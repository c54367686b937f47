package proc

import (
	"os"
	"runtime"
	"strings"
)

// kept lists the variables a child inherits. It is a list of what is known to
// be harmless and needed, so that a key in an unknown variable stays here.
var kept = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "LANG": true, "LANGUAGE": true, "TZ": true,
	"TMPDIR": true, "TEMP": true, "TMP": true, "DISPLAY": true, "WAYLAND_DISPLAY": true, "XAUTHORITY": true,
	"DBUS_SESSION_BUS_ADDRESS": true, "SSH_AUTH_SOCK": true,
	"HTTP_PROXY": true, "HTTPS_PROXY": true, "NO_PROXY": true, "ALL_PROXY": true, "SSL_CERT_FILE": true, "SSL_CERT_DIR": true,
	"GOPATH": true, "GOROOT": true, "GOCACHE": true, "GOMODCACHE": true, "GOPROXY": true, "GOFLAGS": true, "JAVA_HOME": true,
	"NVM_DIR": true, "VIRTUAL_ENV": true, "CONDA_PREFIX": true, "PYENV_ROOT": true, "CARGO_HOME": true, "RUSTUP_HOME": true,
	"ANDROID_HOME": true, "HOMEBREW_PREFIX": true,
	// Windows does not run without these.
	"SYSTEMROOT": true, "SYSTEMDRIVE": true, "WINDIR": true, "COMSPEC": true, "PATHEXT": true, "APPDATA": true,
	"LOCALAPPDATA": true, "USERPROFILE": true, "USERNAME": true, "HOMEDRIVE": true, "HOMEPATH": true, "PROGRAMDATA": true,
	"PROGRAMFILES": true, "PROGRAMFILES(X86)": true, "PROGRAMW6432": true, "COMMONPROGRAMFILES": true, "OS": true,
	"NUMBER_OF_PROCESSORS": true, "PROCESSOR_ARCHITECTURE": true, "PSMODULEPATH": true,
}

// Environ is the environment of a child: the harmless part of ours, without
// any key, and set so that programs do not page, colour or prompt.
func Environ() []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		upper := name
		if runtime.GOOS == "windows" || strings.HasSuffix(name, "_proxy") {
			upper = strings.ToUpper(name)
		}
		if kept[upper] || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
			env = append(env, pair)
		}
	}
	return append(env, "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1")
}
