//go:build unix && !linux

package proc

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// processes asks ps, with the environment of each process behind its command
// where the system shows it.
func processes() map[int]process {
	return parsePS(ps("-axEww"))
}

// lookup asks for one process.
func lookup(pid int) (process, bool) {
	p, ok := parsePS(ps("-Eww", "-p", strconv.Itoa(pid)))[pid]
	return p, ok
}

// marked reports whether a process was started with the marker.
func marked(p process, mark string) bool { return strings.Contains(p.start, mark) }

func ps(args ...string) string {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	out, _ := exec.CommandContext(ctx, "/bin/ps", append(args, "-o", "pid=,ppid=,pgid=,state=,lstart=,command=")...).Output()
	return string(out)
}
