package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"gofer/backend/tool"
)

//go:embed mkdir.md
var mkdirAbout string

//go:embed delete.md
var deleteAbout string

type mkdirArgs struct {
	Path string `json:"path" about:"Folder to make, with its parents"`
}

// Mkdir makes a folder and its parents.
func Mkdir(f Folder) tool.Tool {
	return tool.New("fs_mkdir", mkdirAbout, tool.Acts, func(ctx context.Context, a mkdirArgs) (tool.Result, error) {
		s, err := f.at(a.Path)
		if err != nil {
			return failed("make", a.Path, err), nil
		}
		root, rel, err := f.root(s)
		if err != nil {
			return failed("make", a.Path, err), nil
		}
		defer func() { _ = root.Close() }()
		switch info, err := root.Stat(rel); {
		case err == nil && info.IsDir():
			return tool.Text("The folder %s is there already.", s.real), nil
		case err == nil:
			return tool.Failed("Cannot make %s: there is a file of that name. Choose another name.", a.Path), nil
		}
		if err := f.keep(ctx, root, rel, s.real, "fs_mkdir", ""); err != nil {
			return failed("make", a.Path, err), nil
		}
		if err := root.MkdirAll(rel, 0o755); err != nil {
			return failed("make", a.Path, err), nil
		}
		return tool.Text("Made the folder %s.", s.real), nil
	},
		tool.Titled(func(a mkdirArgs) string { return base(a.Path) }),
		tool.Claiming(func(_ context.Context, a mkdirArgs) ([]tool.Claim, error) {
			claims, _, err := f.claim(tool.WriteFile, a.Path)
			for i := range claims {
				claims[i].Detail = "new folder"
			}
			return claims, err
		}))
}

type deleteArgs struct {
	Path string `json:"path" about:"File, link or empty folder"`
}

// Delete moves a file or an empty folder to the trash. A link goes itself, not
// what it leads to.
func Delete(f Folder) tool.Tool {
	return tool.New("fs_delete", deleteAbout, tool.Acts, func(ctx context.Context, a deleteArgs) (tool.Result, error) {
		s, err := f.entry(a.Path)
		if err != nil {
			return failed("delete", a.Path, err), nil
		}
		if s.real == f.workspace() {
			return tool.Failed("Cannot delete %s: it is the workspace itself.", a.Path), nil
		}
		root, rel, err := f.root(s)
		if err != nil {
			return failed("delete", a.Path, err), nil
		}
		defer func() { _ = root.Close() }()
		if rel == "." { // a folder outside: it can only be taken out of its parent
			_ = root.Close()
			if root, rel, err = f.parent(s); err != nil {
				return failed("delete", a.Path, err), nil
			}
		}
		info, err := root.Lstat(rel)
		if err != nil {
			return failed("delete", a.Path, err), nil
		}
		if info.IsDir() {
			dir, err := root.Open(rel)
			if err != nil {
				return failed("delete", a.Path, err), nil
			}
			_, err = dir.ReadDir(1)
			_ = dir.Close()
			if !errors.Is(err, io.EOF) {
				return tool.Failed("Cannot delete %s: the folder is not empty. Delete what is in it first, file by file.", a.Path), nil
			}
		} else if info.Mode()&fs.ModeSymlink == 0 {
			if err := regular(info); err != nil {
				return failed("delete", a.Path, err), nil
			}
		}
		if err := f.keep(ctx, root, rel, s.real, "fs_delete", ""); err != nil {
			return failed("delete", a.Path, err), nil
		}
		// A large file is gone already: keep has moved it.
		if err := root.Remove(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed("delete", a.Path, err), nil
		}
		if f.Trash == "" {
			return tool.Text("Deleted %s for good.", s.real), nil
		}
		return tool.Text("Deleted %s; it is in the trash and can be brought back.", s.real), nil
	},
		tool.Titled(func(a deleteArgs) string { return base(a.Path) }),
		tool.Claiming(func(_ context.Context, a deleteArgs) ([]tool.Claim, error) {
			s, err := f.entry(a.Path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.Path, err)
			}
			c := tool.Claim{Class: tool.DeleteFile, Object: s.real}
			if f.Trash != "" {
				c.Detail = "to the trash"
			}
			return []tool.Claim{c}, nil
		}))
}
