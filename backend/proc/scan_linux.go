package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
)

// processes reads the living processes from /proc; those that have ended and
// were not waited for are left out.
func processes() map[int]process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	all := make(map[int]process, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := lookup(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// lookup reads one process.
func lookup(pid int) (process, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name in brackets may hold anything, so fields count from its end.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	p := process{pid: pid, start: fields[19]}
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.session, _ = strconv.Atoi(fields[3])
	return p, true
}

// marked reports whether a process was started with the marker. That of other
// users cannot be read.
func marked(p process, mark string) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, 4<<20))
	return err == nil && bytes.Contains(raw, []byte(mark))
}
