// Package files holds the tools that read and change files.
//
// Its promises: a path inside the workspace never leads out of it, also when
// somebody swaps a link in between; only regular files and folders are
// touched, so nothing blocks and no device is read; every read is bounded; a
// write that fails leaves the old file as it was; what a call deletes, and what
// it overwrites up to 64 MB, is kept in the trash; the protected folders are
// refused always.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Folder says where the tools of one session work.
type Folder struct {
	Workspace string   // relative paths start here; made on first need
	Trash     string   // keeps what was overwritten or deleted; empty keeps nothing
	Protected []string // the app's own data: refused always
	Shared    []string // folders within Protected that are open all the same, such as downloads

	// Secret reports whether a search passes over a file because it may hold
	// keys or passwords; nil passes over none.
	Secret func(path string) bool
}

// spot is a path after all links are followed.
type spot struct {
	path   string // absolute, as asked
	real   string // absolute, without links
	inside bool   // real is in the workspace
}

// ErrProtected says that a path is part of the app's own data.
var ErrProtected = errors.New("this folder belongs to the app itself and is closed to tools")

// Target returns where a path really leads, for a claim. Relative paths and
// those with ~ start at the workspace and the home folder.
func (f Folder) Target(path string) (string, error) {
	s, err := f.at(path)
	return s.real, err
}

// at finds the spot of a path. A path that looks as if it were inside the
// workspace and leads out by a link still has a spot, for the claim; root
// refuses it.
func (f Folder) at(path string) (spot, error) {
	abs, err := f.absolute(path)
	if err != nil {
		return spot{}, err
	}
	real, err := follow(abs)
	if err != nil {
		return spot{}, err
	}
	return spot{path: abs, real: real, inside: within(f.workspace(), real)}, nil
}

// entry is at for the thing itself: a link at the end is not followed.
func (f Folder) entry(path string) (spot, error) {
	abs, err := f.absolute(path)
	if err != nil {
		return spot{}, err
	}
	dir, err := follow(filepath.Dir(abs))
	if err != nil {
		return spot{}, err
	}
	real := filepath.Join(dir, filepath.Base(abs))
	return spot{path: abs, real: real, inside: within(f.workspace(), real)}, nil
}

func (f Folder) absolute(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a path cannot hold a NUL character")
	}
	if err := strange(path); err != nil {
		return "", err
	}
	if path == "~" || strings.HasPrefix(path, "~/") || runtime.GOOS == "windows" && strings.HasPrefix(path, `~\`) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home folder: %w", err)
		}
		return filepath.Join(home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(f.Workspace, path), nil
}

// workspace is the workspace without links.
func (f Folder) workspace() string {
	if real, err := follow(filepath.Clean(f.Workspace)); err == nil {
		return real
	}
	return filepath.Clean(f.Workspace)
}

// root opens the folder a spot may be reached from and the way from there. The
// caller closes it. Nothing opened through it leaves that folder, whatever
// becomes of the links on the way.
func (f Folder) root(s spot) (*os.Root, string, error) {
	if err := f.closed(s.real); err != nil {
		return nil, "", err
	}
	ws := f.workspace()
	if s.inside {
		if err := os.MkdirAll(ws, 0o755); err != nil {
			return nil, "", err
		}
		rel, err := filepath.Rel(ws, s.real)
		if err != nil {
			return nil, "", err
		}
		root, err := os.OpenRoot(ws)
		return root, rel, err
	}
	if within(f.Workspace, s.path) || within(ws, s.path) {
		return nil, "", fmt.Errorf("it is a link that leads out of the workspace; if you need it, ask for %s itself", s.real)
	}
	base := s.real
	info, err := os.Lstat(base)
	for err != nil || !info.IsDir() {
		up := filepath.Dir(base)
		if up == base {
			return nil, "", fs.ErrNotExist
		}
		base = up
		info, err = os.Lstat(base)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, "", err
	}
	// The folder must be the one that was judged, not one swapped in.
	now, err := root.Stat(".")
	again, err2 := follow(base)
	if err != nil || err2 != nil || again != base || !os.SameFile(now, info) {
		_ = root.Close()
		return nil, "", errors.New("the path changed while it was opened; try again")
	}
	rel, err := filepath.Rel(base, s.real)
	if err != nil {
		_ = root.Close()
		return nil, "", err
	}
	return root, rel, nil
}

// closed says ErrProtected for the app's own data. Folders are compared by
// identity, so that no other spelling of a name gets round it.
func (f Folder) closed(real string) error {
	for dir := real; ; dir = filepath.Dir(dir) {
		if same(dir, f.Shared) {
			return nil
		}
		if same(dir, f.Protected) || runtime.GOOS == "linux" && dir == "/proc/"+strconv.Itoa(os.Getpid()) {
			return ErrProtected
		}
		if filepath.Dir(dir) == dir {
			return nil
		}
	}
}

func same(dir string, list []string) bool {
	info, err := os.Stat(dir)
	return slices.ContainsFunc(list, func(other string) bool {
		if filepath.Clean(other) == dir {
			return true
		}
		o, err2 := os.Stat(other)
		return err == nil && err2 == nil && os.SameFile(info, o)
	})
}

// within reports whether path is dir or beneath it; both are clean.
func within(dir, path string) bool {
	rel, err := filepath.Rel(filepath.Clean(dir), path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// follow resolves every link of an absolute path; what does not exist stays as
// it is. A link to nothing is followed as well, since writing would follow it.
func follow(path string) (string, error) {
	path = filepath.Clean(path)
	top := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := top, split(path[len(filepath.VolumeName(path)):])
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > 40 {
			return "", fmt.Errorf("%s is a loop of links", path)
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("read link %s: %w", next, err)
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
			to = to[len(filepath.VolumeName(to)):]
		}
		rest = append(split(to), rest...)
	}
	return at, nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator || r == '/' })
}

// parent is root for the folder that holds a spot outside the workspace.
func (f Folder) parent(s spot) (*os.Root, string, error) {
	up := spot{path: filepath.Dir(s.path), real: filepath.Dir(s.real)}
	root, rel, err := f.root(up)
	if err != nil {
		return nil, "", err
	}
	return root, filepath.Join(rel, filepath.Base(s.real)), nil
}
