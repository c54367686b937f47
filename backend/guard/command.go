package guard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"gofer/backend/tool"
)

// plain reads a line in full and returns its simple commands, when it holds
// nothing but plain words joined by pipes, or, where lists is set, also by &&,
// || and ;. No assignment, redirection, substitution, expansion, escape or
// background job may be in it, and no character that does not show. Patterns of
// file names may be, where names tells what they stand for.
func plain(line string, lists bool, names func(pattern string) ([]string, bool)) ([][]string, bool) {
	if strings.ContainsFunc(line, func(r rune) bool {
		return unseen(r) || r == '\n' || unicode.IsControl(r) || r == unicode.ReplacementChar
	}) {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) == 0 || len(file.Last) > 0 || len(file.Stmts) > 1 && !lists {
		return nil, false
	}
	var all [][]string
	for _, stmt := range file.Stmts {
		if !simple(stmt, lists, names, &all) {
			return nil, false
		}
	}
	return all, true
}

func simple(s *syntax.Stmt, lists bool, names func(string) ([]string, bool), all *[][]string) bool {
	if s.Background || s.Coprocess || s.Negated || s.Disown || len(s.Redirs) > 0 || len(s.Comments) > 0 || s.Semicolon.IsValid() && !lists {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) == 0 {
			return false
		}
		words := make([]string, 0, len(c.Args))
		for _, w := range c.Args {
			text, ok := word(w)
			list := []string{text}
			if pattern := patternOf(w); !ok && names != nil && len(words) > 0 && pattern != "" {
				list, ok = names(pattern)
			}
			if !ok {
				return false
			}
			words = append(words, list...)
		}
		*all = append(*all, words)
		return true
	case *syntax.BinaryCmd:
		listed := lists && (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt)
		if c.Op != syntax.Pipe && !listed {
			return false
		}
		return simple(c.X, lists, names, all) && simple(c.Y, lists, names, all)
	}
	return false
}

// word is the text of a word that means just what it says.
func word(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, special+"=") && !option(w, p) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "\\!`$") {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// patternOf is a word that is a plain pattern of file names in one folder, such
// as *.md or src/*.go, or "".
func patternOf(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return ""
	}
	dir, name := filepath.Split(lit.Value)
	plainly := strings.NewReplacer("*", "", "?", "").Replace(name)
	if plainly == name || strings.ContainsAny(dir+plainly, special+"=") {
		return ""
	}
	return lit.Value
}

// option reports whether a literal is a long option with a value, in which an
// equals sign means nothing to the shell.
func option(w *syntax.Word, p *syntax.Lit) bool {
	return w.Parts[0] == p && strings.HasPrefix(p.Value, "--") && !strings.ContainsAny(p.Value, special)
}

// special are the characters that may mean more than themselves outside quotes.
const special = "\\*?[]{}~!^#$`;&|<>()"

// reader describes how a command that only reads may be called.
type reader struct {
	bools  string   // letters of options without a value
	values string   // letters of options with one: a number, a list of numbers or a sign
	long   []string // long options
	digits bool     // -5 is a number of lines
	text   bool     // operands are no files
	first  bool     // the first operand is a pattern, the rest are files
	most   int      // how many operands there may be; 0 is no limit, -1 is none at all
}

var readers = map[string]reader{
	"ls":        {bools: "aAbBcCdfFgGhiklmnNopqQrRsStuUvxX1Z", long: []string{"all", "almost-all", "human-readable", "reverse", "recursive", "size", "sort", "time", "color", "directory"}},
	"cat":       {bools: "AbeEnstTuv", long: []string{"number", "show-all"}},
	"pwd":       {bools: "LP", most: -1},
	"wc":        {bools: "clLmw", long: []string{"lines", "words", "bytes", "chars"}},
	"head":      {bools: "qv", values: "nc", digits: true, long: []string{"lines", "bytes", "quiet", "verbose"}},
	"tail":      {bools: "qv", values: "nc", digits: true, long: []string{"lines", "bytes", "quiet", "verbose"}},
	"grep":      {bools: "EFGivwxcLlqnHhosabz", values: "mABC", digits: true, first: true, long: []string{"ignore-case", "count", "line-number", "word-regexp", "invert-match", "only-matching", "files-with-matches", "fixed-strings", "extended-regexp", "color", "max-count", "context"}},
	"sort":      {bools: "bdfgiMhnRrVcCsuz", values: "kt", long: []string{"reverse", "numeric-sort", "unique", "ignore-case", "human-numeric-sort"}},
	"uniq":      {bools: "cdDiuz", values: "fsw", most: 1, long: []string{"count", "repeated", "unique", "ignore-case"}},
	"cut":       {bools: "nsz", values: "bcfd", long: []string{"fields", "delimiter", "characters", "bytes"}},
	"tr":        {bools: "cCdst", text: true},
	"nl":        {},
	"tac":       {},
	"rev":       {},
	"echo":      {bools: "neE", text: true},
	"true":      {most: -1},
	"date":      {bools: "uRI", most: -1},
	"whoami":    {most: -1},
	"id":        {bools: "ugGnr", most: -1},
	"uname":     {bools: "asnrvmpio", most: -1},
	"which":     {bools: "a", text: true},
	"file":      {bools: "bik"},
	"stat":      {bools: "t"},
	"du":        {bools: "abchkms", values: "d", long: []string{"human-readable", "summarize", "max-depth", "all", "total"}},
	"df":        {bools: "hTki"},
	"diff":      {bools: "uqNwbBiy", values: "UC", long: []string{"unified", "brief", "color"}},
	"cmp":       {bools: "bls", most: 2},
	"basename":  {text: true, most: 2},
	"dirname":   {text: true},
	"md5sum":    {bools: "bt"},
	"sha1sum":   {bools: "bt"},
	"sha256sum": {bools: "bt"},
	"tree":      {bools: "adfhs", values: "L"},
}

// readOnly reports whether a command only reads, and only what reading tools
// may read freely.
func (g *Guard) readOnly(r Request, c tool.Claim) bool {
	if !within(r.Workspace, c.Detail) {
		return false
	}
	commands, ok := plain(c.Object, true, func(pattern string) ([]string, bool) { return matches(c.Detail, pattern) })
	if !ok {
		return false
	}
	for _, words := range commands {
		files, ok := reads(words)
		if !ok {
			return false
		}
		for _, f := range files {
			// diff on folders reads all that is in them.
			if !g.free(r, c.Detail, f, words[0] == "diff") {
				return false
			}
		}
	}
	return true
}

// matches are the names a pattern stands for in a folder, hidden ones too. It is
// not ok when one of them could be taken for an option.
func matches(dir, pattern string) ([]string, bool) {
	entries, err := os.ReadDir(filepath.Join(dir, filepath.Dir(pattern)))
	if err != nil || len(entries) > 10_000 {
		return nil, false
	}
	var out []string
	for _, e := range entries {
		if hit, err := filepath.Match(filepath.Base(pattern), e.Name()); err != nil {
			return nil, false
		} else if !hit {
			continue
		}
		name := e.Name()
		if at := strings.LastIndexByte(pattern, '/'); at >= 0 {
			name = pattern[:at+1] + name
		}
		if strings.HasPrefix(name, "-") {
			return nil, false
		}
		out = append(out, name)
	}
	if out == nil {
		out = []string{pattern} // a shell leaves it as it is
	}
	return out, true
}

// free reports whether a file may be read without asking: in the workspace,
// no secret, and nothing special.
func (g *Guard) free(r Request, dir, path string, noFolder bool) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = real(path)
	if !within(r.Workspace, path) || Secret(path) || g.closed(path) {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || info.IsDir() && !noFolder || info.Mode().IsRegular()
}

// reads returns the files a simple command reads, when it is known to do
// nothing else.
func reads(words []string) (files []string, ok bool) {
	if words[0] == "find" {
		return finds(words[1:])
	}
	r, ok := readers[words[0]]
	if !ok {
		return nil, false
	}
	var operands []string
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			operands = append(operands, words[i+1:]...)
			i = len(words)
		case w == "-" || !strings.HasPrefix(w, "-"):
			operands = append(operands, w)
		case strings.HasPrefix(w, "--"):
			name, _, _ := strings.Cut(w[2:], "=")
			if !slices.Contains(r.long, name) {
				return nil, false
			}
		default:
			skip, ok := r.letters(w[1:], words[i+1:])
			if !ok {
				return nil, false
			}
			i += skip
		}
	}
	if r.most < 0 && len(operands) > 0 || r.most > 0 && len(operands) > r.most {
		return nil, false
	}
	if r.text {
		return nil, true
	}
	if r.first && len(operands) > 0 {
		operands = operands[1:]
	}
	return slices.DeleteFunc(operands, func(o string) bool { return o == "-" }), true
}

// letters checks a cluster of short options and says how many of the next
// words belong to it.
func (r reader) letters(cluster string, next []string) (skip int, ok bool) {
	for i, c := range cluster {
		switch {
		case strings.ContainsRune(r.bools, c), r.digits && c >= '0' && c <= '9':
		case strings.ContainsRune(r.values, c):
			value := cluster[i+1:]
			if value == "" {
				if len(next) == 0 {
					return 0, false
				}
				value, skip = next[0], 1
			}
			return skip, harmless(value)
		default:
			return 0, false
		}
	}
	return 0, true
}

// harmless reports whether the value of an option cannot be a file, should
// some version of the program take it for one.
func harmless(value string) bool {
	if len([]rune(value)) == 1 {
		return value != "/" && value != "."
	}
	return strings.Trim(value, "0123456789,-+.nr") == "" && !strings.Contains(value, "..")
}

// finds reads the arguments of find: places, then tests that only look at
// names.
func finds(args []string) (places []string, ok bool) {
	i := 0
	for ; i < len(args) && !strings.HasPrefix(args[i], "-") && args[i] != "(" && args[i] != "!"; i++ {
		places = append(places, args[i])
	}
	for ; i < len(args); i++ {
		switch args[i] {
		case "-print", "-print0", "-empty", "-not", "!", "-o", "-a", "-or", "-and", "(", ")":
		case "-name", "-iname", "-path", "-ipath", "-type", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin":
			if i++; i == len(args) {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return places, true
}

// Programs that run what they are given. A prefix never stands for them, since
// it says nothing about what runs.
var runners = []string{
	"sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "env", "xargs", "sudo", "doas", "su", "nohup", "time", "timeout", "nice",
	"ionice", "setsid", "stdbuf", "watch", "exec", "eval", "source", ".", "command", "builtin", "trap", "python", "perl", "ruby", "node",
	"deno", "bun", "php", "lua", "awk", "gawk", "mawk", "sed", "find", "ssh", "parallel", "busybox", "script", "expect", "gdb", "strace",
	"flock", "chroot", "unshare", "nsenter", "systemd-run", "at", "batch", "crontab", "docker", "podman", "osascript", "vim", "vi", "ed", "emacs",
	"xdotool", "ydotool", "wtype", "alias", "export", "set", "unset", "enable", "hash", "cd", "pushd",
}

// begins reports whether a prefix stands for a whole line: it is plain, and
// each simple command in it begins with the words of the prefix.
// To deny, one command that begins so is enough, however the line is built.
func begins(line, prefix string, deny bool) bool {
	want, ok := plain(prefix, false, nil)
	if !ok || len(want) != 1 {
		return false
	}
	if deny {
		return anywhere(line, want[0])
	}
	name := strings.TrimRight(filepath.Base(want[0][0]), "0123456789.")
	if slices.Contains(runners, name) || strings.Contains(want[0][0], "/") {
		return false
	}
	commands, ok := plain(line, true, nil)
	if !ok {
		return false
	}
	for _, words := range commands {
		if len(words) < len(want[0]) || !slices.Equal(words[:len(want[0])], want[0]) {
			return false
		}
	}
	return true
}

// anywhere reports whether a command that begins with the words is somewhere
// in a line; a line that cannot be read counts.
func anywhere(line string, want []string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return true
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) >= len(want) {
			same := true
			for i, w := range want {
				text, plain := word(call.Args[i])
				same = same && plain && text == w
			}
			found = found || same
		}
		return true
	})
	return found
}

// names reports whether a line names a place of the app's own data. It is a
// courtesy to the person who would have to see through it, not a wall: a
// command may reach a file without naming it.
func (g *Guard) names(line, dir string) bool {
	if len(g.options.Protected) == 0 {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok || found {
			return !found
		}
		text := literal(w)
		_, after, _ := strings.Cut(text, "=")
		for _, path := range []string{text, after} {
			if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
				if home, err := os.UserHomeDir(); err == nil {
					path = filepath.Join(home, rest)
				}
			}
			if !strings.ContainsRune(path, '/') && path != ".." {
				continue
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			found = found || g.closed(path)
		}
		return !found
	})
	return found
}

// literal is what can be read of a word, with HOME filled in.
func literal(w *syntax.Word) string {
	var b strings.Builder
	syntax.Walk(w, func(n syntax.Node) bool {
		switch p := n.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.ParamExp:
			if p.Param != nil && p.Param.Value == "HOME" {
				b.WriteString("~")
			}
			return false
		case *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			return false
		}
		return true
	})
	return b.String()
}
