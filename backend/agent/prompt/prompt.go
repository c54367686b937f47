// Package prompt makes the system prompt of a run.
package prompt

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"time"
)

//go:embed system.md
var standard string

// LastTurn is the late instruction of a run's last iteration (SPEC B7).
const LastTurn = "This is the final turn of this run: no more tools can be called. Sum up for the person what was done, what was found and what is still open."

// Standard returns the built-in prompt, which a person may replace.
func Standard() string { return strings.TrimSpace(standard) }

// System returns the system prompt of a run: the person's own text, or the
// built-in one when that is empty, and the facts of this run. It stays the
// same over a run, so that prompt caches hold.
func System(own, workspace, mode string, now time.Time) string {
	text := strings.TrimSpace(own)
	if text == "" {
		text = Standard()
	}
	text = fmt.Sprintf("%s\n\nFacts\n- Today is %s.\n- The workspace is %s.\n- The computer runs %s.", text, now.Format("Monday, 2 January 2006"), workspace, system())
	if mode == "plan" {
		text += "\n- The mode is Plan: read and look, and change, send and run nothing; such calls are refused. End with the steps you would take, so that the person can let you take them."
	}
	return text
}

// Version names a prompt text, so that a run can tell what it was given.
func Version(own string) string {
	text := strings.TrimSpace(own)
	if text == "" {
		text = Standard()
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

func system() string {
	switch runtime.GOOS {
	case "darwin":
		return "macOS"
	case "windows":
		return "Windows"
	}
	return "Linux"
}
