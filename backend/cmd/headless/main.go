// Command gofer-cli is Gofer without a window: the same commands for machines
// without a desktop. It links no window library and needs no C compiler.
package main

import (
	"os"

	"gofer/backend/cli"
)

// version is set by the linker.
var version = "dev"

// build makes the engine; tests put another in its place.
var build = cli.Builder(version)

func main() { os.Exit(cli.Main(os.Args[1:], version, build)) }
