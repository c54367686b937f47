package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strings"

	"gofer/backend/tool"
)

//go:embed list.md
var listAbout string

const listCap = 1000 // entries shown

type listArgs struct {
	Path string `json:"path,omitempty" about:"Folder; default the workspace"`
}

// List names what is in a folder.
func List(f Folder) tool.Tool {
	return tool.New("fs_list", listAbout, tool.Reads, func(_ context.Context, a listArgs) (tool.Result, error) {
		s, err := f.at(a.Path)
		if err != nil {
			return failed("list", a.Path, err), nil
		}
		root, rel, err := f.root(s)
		if err != nil {
			return failed("list", a.Path, err), nil
		}
		defer func() { _ = root.Close() }()
		info, err := root.Stat(rel)
		if err != nil {
			return failed("list", a.Path, err), nil
		}
		if !info.IsDir() {
			return tool.Failed("%s is a file of %s, not a folder. Use fs_read for files.", a.Path, Size(info.Size())), nil
		}
		dir, err := root.Open(rel)
		if err != nil {
			return failed("list", a.Path, err), nil
		}
		defer func() { _ = dir.Close() }()
		entries, err := dir.ReadDir(50 * listCap)
		if err != nil && !errors.Is(err, io.EOF) {
			return failed("list", a.Path, err), nil
		}
		return listing(s.real, entries), nil
	},
		tool.Titled(func(a listArgs) string { return base(a.Path) }),
		tool.Claiming(func(_ context.Context, a listArgs) ([]tool.Claim, error) {
			claims, _, err := f.claim(tool.ReadFile, a.Path)
			for i := range claims {
				claims[i].Detail = strings.TrimPrefix(claims[i].Detail+", names in the folder", ", ")
			}
			return claims, err
		}))
}

// listing prints folders first, then files with their sizes.
func listing(path string, entries []fs.DirEntry) tool.Result {
	count := fmt.Sprintf("%d entries", len(entries))
	if len(entries) == 1 {
		count = "1 entry"
	}
	if len(entries) == 0 {
		r := tool.Text("%s is empty.", path)
		r.Outcome = "empty"
		return r
	}
	sort.SliceStable(entries, func(i, j int) bool {
		if entries[i].IsDir() != entries[j].IsDir() {
			return entries[i].IsDir()
		}
		return entries[i].Name() < entries[j].Name()
	})
	var b strings.Builder
	for _, e := range entries[:min(listCap, len(entries))] {
		name := shown(e.Name())
		info, err := e.Info()
		switch {
		case e.IsDir():
			fmt.Fprintf(&b, "%s/\n", name)
		case err != nil:
			fmt.Fprintf(&b, "%s\n", name)
		case info.Mode().IsRegular():
			fmt.Fprintf(&b, "%s  %s\n", name, Size(info.Size()))
		default:
			fmt.Fprintf(&b, "%s  (%s)\n", name, kind(info.Mode()))
		}
	}
	r := tool.Outside(path, b.String())
	head := count
	if len(entries) > listCap {
		head = fmt.Sprintf("%s, the first %d are shown; use fs_search with a glob for the rest", count, listCap)
	}
	r.Text = head + ":\n" + r.Text
	r.Outcome = count
	return r
}
