package browser

import (
	"embed"
	"strings"
)

//go:embed js/*.js
var scripts embed.FS

// walker is the script of the isolated world: it reads and aims, and never
// touches the page's own world.
var walker = func() string {
	var b strings.Builder
	b.WriteString("(() => { 'use strict'; if (globalThis.__gofer) return;\n")
	for _, name := range []string{"names", "edit", "refs", "walk", "table", "fit", "watch", "aim", "fill", "choose", "grasp", "look", "extract", "main"} {
		src, err := scripts.ReadFile("js/" + name + ".js")
		if err != nil {
			panic(err) // embedded at build time
		}
		b.Write(src)
		b.WriteByte('\n')
	}
	b.WriteString("})()")
	return b.String()
}()

const worldName = "gofer"
