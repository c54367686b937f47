// Gen writes the TypeScript words of the front end: every event payload and
// what it is made of, and the union of all events. It is run by
// go generate ./backend/event with the file to write.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "gen: name the file to write")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(typescript()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
