package browser

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed js/*.js
var scripts embed.FS

// walker is the script of the isolated world: it reads and aims, and never
// touches the page's own world.
var walker = func() string {
	var b strings.Builder
	fmt.Fprintf(&b, "(() => { 'use strict'; if (globalThis.__gofer) return;\nconst pictureSide = %d, pictureArea = %d;\n", pictureSide, pictureArea)
	for _, name := range []string{"names", "refs", "visual", "walk", "table", "fit", "watch", "aim", "fill", "pick", "look", "extract", "trail", "main"} {
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
