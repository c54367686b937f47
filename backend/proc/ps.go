//go:build unix

package proc

import (
	"strconv"
	"strings"
)

// parsePS reads lines of pid, parent, group, state, start and command. All
// from the start on serves to tell a process from a later one of its number.
// The session cannot be had from ps everywhere; the group stands in for it.
func parsePS(text string) map[int]process {
	all := map[int]process{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 || strings.HasPrefix(fields[3], "Z") {
			continue
		}
		pid, err1 := strconv.Atoi(fields[0])
		parent, err2 := strconv.Atoi(fields[1])
		group, err3 := strconv.Atoi(fields[2])
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		all[pid] = process{pid: pid, parent: parent, group: group, session: group, start: strings.Join(fields[4:], " ")}
	}
	return all
}
