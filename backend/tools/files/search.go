package files

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"gofer/backend/tool"
)

//go:embed search.md
var searchAbout string

const (
	searchHits  = 100     // matches shown when no limit is given
	searchMax   = 1000    // matches a limit may ask for
	searchFile  = 4 << 20 // larger files are passed over
	searchTotal = 1 << 30 // bytes looked through
	searchNodes = 200_000 // files and folders looked at
	searchTime  = 20 * time.Second
	searchLine  = 300 // characters of a line shown
)

type searchArgs struct {
	Path    string `json:"path,omitempty" about:"Folder or file to search; default the workspace"`
	Pattern string `json:"pattern,omitempty" about:"Regular expression (RE2) to find in lines; (?i) ignores case; without it file names are listed"`
	Glob    string `json:"glob,omitempty" about:"Only these files, such as *.go or src/**/*.ts"`
	Limit   int    `json:"limit,omitempty" about:"How many matches (default 100, at most 1000)"`
}

// Search finds lines by a regular expression, or files by name.
func Search(f Folder) tool.Tool {
	return tool.New("fs_search", searchAbout, tool.Reads, func(ctx context.Context, a searchArgs) (tool.Result, error) {
		w := walk{folder: f, limit: a.Limit, until: time.Now().Add(searchTime)}
		if w.limit <= 0 {
			w.limit = searchHits
		}
		w.limit = min(w.limit, searchMax)
		var err error
		if a.Pattern == "" && a.Glob == "" {
			return tool.Failed("fs_search needs a pattern, a glob or both."), nil
		}
		if a.Pattern != "" {
			if w.pattern, err = regexp.Compile(a.Pattern); err != nil {
				return tool.Failed("The pattern is not a regular expression that is understood here (RE2): %v. Look-around and back references do not exist.", err), nil
			}
		}
		if a.Glob != "" {
			if w.glob, err = globbed(a.Glob); err != nil {
				return tool.Failed("The glob %q is not understood. Use *, **, ?, [a-z] and {a,b}.", a.Glob), nil
			}
		}
		s, err := f.at(a.Path)
		if err != nil {
			return failed("search", a.Path, err), nil
		}
		root, rel, err := f.root(s)
		if err != nil {
			return failed("search", a.Path, err), nil
		}
		defer func() { _ = root.Close() }()
		if w.start, err = root.Stat(rel); err != nil {
			return failed("search", a.Path, err), nil
		}
		w.root, w.from, w.real = root, filepath.ToSlash(rel), s.real
		if err := w.run(ctx); err != nil {
			return failed("search", a.Path, err), nil
		}
		return w.result(), nil
	},
		tool.Titled(func(a searchArgs) string {
			if a.Pattern != "" {
				return a.Pattern
			}
			return a.Glob
		}),
		tool.Claiming(func(_ context.Context, a searchArgs) ([]tool.Claim, error) {
			claims, _, err := f.claim(tool.ReadFile, a.Path)
			for i := range claims {
				claims[i].Detail = strings.TrimPrefix(claims[i].Detail+", and all beneath it", ", ")
			}
			return claims, err
		}))
}

// walk is one search.
type walk struct {
	folder  Folder
	root    *os.Root
	start   fs.FileInfo
	from    string // where it starts, from the root, with slashes
	real    string
	pattern *regexp.Regexp
	glob    func(rel string) bool
	limit   int
	until   time.Time

	out                    strings.Builder
	hits, files, nodes     int
	large, secret, skipped int
	bytes                  int64
	stop                   string // why it ended early
}

var errEnough = errors.New("enough")

// passedOver are folders nobody wants hits from; searching in one by its own
// path works.
var passedOver = map[string]bool{".git": true, ".hg": true, ".svn": true, "node_modules": true, "__pycache__": true, ".venv": true}

func (w *walk) run(ctx context.Context) error {
	err := fs.WalkDir(w.root.FS(), w.from, func(name string, d fs.DirEntry, err error) error {
		if name != w.from || err == nil {
			if e := w.check(ctx); e != nil {
				return e
			}
		}
		if err != nil {
			if name == w.from {
				return err
			}
			return nil // what cannot be read is passed over
		}
		if d.IsDir() {
			if name == w.from {
				return nil
			}
			if passedOver[d.Name()] {
				w.skipped++
				return fs.SkipDir
			}
			if info, err := d.Info(); err != nil || w.forbidden(info) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		return w.file(name)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (w *walk) check(ctx context.Context) error {
	w.nodes++
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.nodes > searchNodes:
		w.stop = fmt.Sprintf("stopped after %d files and folders", searchNodes)
	case w.bytes > searchTotal:
		w.stop = "stopped after " + Size(searchTotal)
	case time.Now().After(w.until):
		w.stop = fmt.Sprintf("stopped after %v", searchTime)
	default:
		return nil
	}
	return errEnough
}

func (w *walk) forbidden(dir fs.FileInfo) bool {
	for _, p := range w.folder.Protected {
		if info, err := os.Stat(p); err == nil && os.SameFile(info, dir) {
			return true
		}
	}
	return false
}

func (w *walk) file(name string) error {
	rel := name
	if w.from != "." {
		rel = strings.TrimPrefix(strings.TrimPrefix(name, w.from), "/")
	}
	if rel == "" {
		rel = path.Base(name)
	}
	if w.glob != nil && !w.glob(rel) {
		return nil
	}
	if w.pattern == nil {
		w.files++
		return w.hit(shown(rel))
	}
	if full := filepath.Join(w.root.Name(), filepath.FromSlash(name)); w.folder.Secret != nil && w.folder.Secret(full) {
		w.secret++
		return nil
	}
	file, info, err := openRegular(w.root, filepath.FromSlash(name))
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	if info.Size() > searchFile {
		w.large++
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(file, searchFile))
	if err != nil || binary(raw[:min(8<<10, len(raw))]) {
		return nil
	}
	w.bytes += int64(len(raw))
	found := false
	for n := 1; len(raw) > 0; n++ {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		at := w.pattern.FindIndex(line)
		if at == nil {
			continue
		}
		if !found {
			w.files, found = w.files+1, true
		}
		if err := w.hit(fmt.Sprintf("%s:%d: %s", shown(rel), n, around(line, at[0]))); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) hit(text string) error {
	if w.hits == w.limit {
		w.stop = fmt.Sprintf("stopped after %d matches; narrow the pattern, the glob or the path", w.limit)
		return errEnough
	}
	w.hits++
	w.out.WriteString(text)
	w.out.WriteByte('\n')
	return nil
}

// around cuts a long line to the part with the match.
func around(line []byte, at int) string {
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if len(line) <= searchLine {
		return text
	}
	from := max(0, at-searchLine/3)
	part := line[from:min(len(line), from+searchLine)]
	for len(part) > 0 && !utf8.RuneStart(part[0]) {
		part = part[1:]
	}
	return "… " + strings.ToValidUTF8(string(part), "") + " …"
}

func (w *walk) result() tool.Result {
	noun, count := "matches", fmt.Sprintf("%d matches in %d files", w.hits, w.files)
	if w.pattern == nil {
		noun, count = "files", fmt.Sprintf("%d files", w.hits)
	}
	notes := []string{count}
	if w.hits == 0 {
		notes[0] = "No " + noun
	}
	if w.stop != "" {
		notes = append(notes, w.stop)
	}
	if w.large > 0 {
		notes = append(notes, fmt.Sprintf("%d files above %s passed over", w.large, Size(searchFile)))
	}
	if w.secret > 0 {
		notes = append(notes, fmt.Sprintf("%d files that may hold secrets passed over", w.secret))
	}
	if w.skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d folders such as .git and node_modules passed over", w.skipped))
	}
	head := strings.Join(notes, "; ")
	if w.hits == 0 {
		r := tool.Text("%s.", head)
		r.Outcome = "none"
		return r
	}
	r := tool.Outside(w.real, w.out.String())
	r.Text = head + ":\n" + r.Text
	r.Outcome = count
	return r
}

// globbed makes a test from a glob. Without a slash it looks at the name only.
func globbed(glob string) (func(rel string) bool, error) {
	glob = strings.TrimPrefix(glob, "./")
	var b strings.Builder
	b.WriteString(`\A`)
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:[^/]+/)*`)
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '{':
			b.WriteString(`(?:`)
			depth++
		case c == '}' && depth > 0:
			b.WriteString(`)`)
			depth--
		case c == ',' && depth > 0:
			b.WriteString(`|`)
		case c == '[' && strings.IndexByte(glob[i:], ']') > 1:
			end := i + strings.IndexByte(glob[i:], ']')
			set := strings.ReplaceAll(glob[i+1:end], `\`, `\\`)
			if strings.HasPrefix(set, "!") {
				set = "^" + set[1:]
			}
			b.WriteString("[" + set + "]")
			i = end
		default:
			_, n := utf8.DecodeRuneInString(glob[i:])
			b.WriteString(regexp.QuoteMeta(glob[i : i+n]))
			i += n - 1
		}
	}
	b.WriteString(`\z`)
	if depth > 0 {
		return nil, errors.New("unclosed brace")
	}
	re, err := regexp.Compile("(?s)" + b.String())
	if err != nil {
		return nil, err
	}
	nameOnly := !strings.Contains(glob, "/")
	return func(rel string) bool {
		if nameOnly {
			rel = path.Base(rel)
		}
		return re.MatchString(rel)
	}, nil
}
