package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Find returns the browser to start: the given path if one is set, else the
// first of Chrome, Chromium, Edge and Brave that this computer has.
func Find(path string) (string, error) {
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("%w: %s cannot be started", ErrNoBrowser, path)
		}
		return found, nil
	}
	for _, c := range candidates(runtime.GOOS, os.Getenv) {
		if filepath.IsAbs(c) {
			if info, err := os.Stat(c); err == nil && !info.IsDir() {
				return c, nil
			}
			continue
		}
		if found, err := exec.LookPath(c); err == nil {
			return found, nil
		}
	}
	return "", ErrNoBrowser
}

// candidates lists names and paths in the order of preference.
func candidates(system string, env func(string) string) []string {
	switch system {
	case "darwin":
		var out []string
		for _, dir := range []string{"/Applications", filepath.Join(env("HOME"), "Applications")} {
			for _, app := range []string{"Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"} {
				out = append(out, filepath.Join(dir, app+".app", "Contents", "MacOS", app))
			}
		}
		return out
	case "windows":
		var out []string
		for _, rest := range [][]string{
			{"Google", "Chrome", "Application", "chrome.exe"},
			{"Chromium", "Application", "chrome.exe"},
			{"Microsoft", "Edge", "Application", "msedge.exe"},
			{"BraveSoftware", "Brave-Browser", "Application", "brave.exe"},
		} {
			for _, root := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
				if dir := env(root); dir != "" {
					out = append(out, filepath.Join(append([]string{dir}, rest...)...))
				}
			}
		}
		return append(out, "chrome.exe", "msedge.exe", "brave.exe")
	default:
		return []string{
			"google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge-stable", "microsoft-edge",
			"brave-browser", "brave", "/snap/bin/chromium", "/opt/google/chrome/chrome",
			"/var/lib/flatpak/exports/bin/org.chromium.Chromium", "/var/lib/flatpak/exports/bin/com.google.Chrome",
		}
	}
}
