package script

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// env holds the values a turn may refer to. All of them come from the request.
type env struct {
	vars   map[string]string
	labels map[string][]string // results by label and by tool name, in order
	prompt string
	tools  []string
	last   string
	calls  int
	known  patterns
}

var reference = regexp.MustCompile(`\$\{([^}]*)\}`)

// expand replaces every reference in s.
func (e *env) expand(s string) (string, error) {
	var failed error
	out := reference.ReplaceAllStringFunc(s, func(ref string) string {
		v, err := e.eval(ref[2 : len(ref)-1])
		if err != nil && failed == nil {
			failed = err
		}
		return v
	})
	return out, failed
}

// resolve replaces the references in every string of v.
func (e *env) resolve(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return e.expand(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, child := range v {
			r, err := e.resolve(child)
			if err != nil {
				return nil, err
			}
			out[k] = r
		}
		return out, nil
	case map[string]string:
		out := make(map[string]any, len(v))
		for k, child := range v {
			r, err := e.expand(child)
			if err != nil {
				return nil, err
			}
			out[k] = r
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			r, err := e.resolve(child)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	}
	return v, nil
}

// eval works out name|function:argument|…
func (e *env) eval(expr string) (string, error) {
	steps := strings.Split(expr, "|")
	v, err := e.value(strings.TrimSpace(steps[0]))
	if err != nil {
		return "", err
	}
	for _, step := range steps[1:] {
		name, arg, _ := strings.Cut(strings.TrimSpace(step), ":")
		if v, err = e.apply(name, arg, v); err != nil {
			return "", fmt.Errorf("${%s}: %w", expr, err)
		}
	}
	return v, nil
}

func (e *env) value(name string) (string, error) {
	if v, ok := e.vars[name]; ok {
		return v, nil
	}
	kind, arg, _ := strings.Cut(name, ":")
	switch kind {
	case "prompt":
		return e.prompt, nil
	case "calls":
		return strconv.Itoa(e.calls), nil
	case "tools":
		return strings.Join(e.tools, "\n"), nil
	case "count":
		return strconv.Itoa(len(e.labels[arg])), nil
	case "all":
		return strings.Join(e.labels[arg], "\n"), nil
	case "last":
		if arg == "" {
			return e.last, nil
		}
		name = arg
	}
	if all := e.labels[name]; len(all) > 0 {
		return all[len(all)-1], nil
	}
	return "", fmt.Errorf("nothing is known as %q", name)
}

func (e *env) apply(name, arg, v string) (string, error) {
	n, _ := strconv.Atoi(arg)
	switch name {
	case "inside":
		return inside(v), nil
	case "outside":
		return outside(v), nil
	case "trim":
		return strings.TrimSpace(v), nil
	case "lower":
		return strings.ToLower(v), nil
	case "slug":
		return slug(v), nil
	case "base":
		if u, err := url.Parse(v); err == nil {
			v = u.Path
		}
		return path.Base(v), nil
	case "quote":
		return regexp.QuoteMeta(v), nil
	case "abs":
		base, err := e.value(arg)
		if err != nil {
			return "", err
		}
		return absolute(base, v)
	case "links":
		base, err := e.value(arg)
		if err != nil {
			return "", err
		}
		return markdownLinks(base, v), nil
	case "cut":
		if r := []rune(v); len(r) > n {
			v = string(r[:n])
		}
		return v, nil
	case "lines":
		return firstLines(v, n), nil
	case "sentences":
		return firstSentences(v, n), nil
	case "count":
		return strconv.Itoa(len(strings.Fields(v))), nil
	}
	return "", fmt.Errorf("no function %q", name)
}

// blocks cuts a result into the text of its marked blocks and the rest.
func blocks(v string) (in []string, rest string) {
	var own strings.Builder
	for {
		start := strings.Index(v, "<outside from=\"")
		if start < 0 {
			break
		}
		head := strings.IndexByte(v[start:], '>')
		end := strings.Index(v[start:], "</outside>")
		if head < 0 || end < head {
			break
		}
		own.WriteString(v[:start])
		in = append(in, strings.Trim(v[start+head+1:start+end], "\n"))
		v = v[start+end+len("</outside>"):]
	}
	own.WriteString(v)
	return in, own.String()
}

// inside returns the text of the marked blocks of a result, or all of it when
// nothing is marked.
func inside(v string) string {
	in, _ := blocks(v)
	if in == nil {
		return v
	}
	return strings.Join(in, "\n")
}

// outside returns a result without its marked blocks.
func outside(v string) string {
	_, rest := blocks(v)
	return strings.TrimSpace(rest)
}

// patterns keeps compiled patterns; a walk uses the same ones every time.
type patterns map[string]*regexp.Regexp

func (p patterns) compile(s string) (*regexp.Regexp, error) {
	if re := p[s]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile(s)
	if err == nil && p != nil {
		p[s] = re
	}
	return re, err
}

func slug(v string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(v) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			gap = false
			continue
		}
		gap = true
	}
	return b.String()
}

var anyURL = regexp.MustCompile(`https?://[^\s<>"'()]+`)

func absolute(base, ref string) (string, error) {
	if found := anyURL.FindString(base); found != "" {
		base = found
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	u, err := b.Parse(strings.TrimSpace(ref))
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

var (
	markdownLink  = regexp.MustCompile(`!?\[((?:!\[[^\]]*\]\([^)]*\)|[^\[\]])*)\]\(<?([^)\s>]+)>?[^)]*\)`)
	markdownImage = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
)

// markdownLinks returns the links of a Markdown text, one a line: the whole
// address, a space, the text. Pictures and links without text are left out.
func markdownLinks(base, v string) string {
	var out []string
	seen := map[string]bool{}
	for _, m := range markdownLink.FindAllStringSubmatch(v, -1) {
		title := strings.Join(strings.Fields(markdownImage.ReplaceAllString(m[1], "")), " ")
		url, err := absolute(base, m[2])
		if line := url + " " + title; err == nil && title != "" && m[0][0] != '!' && !seen[line] {
			seen[line] = true
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func firstLines(v string, n int) string {
	var out []string
	for line := range strings.SplitSeq(v, "\n") {
		if line = strings.TrimSpace(line); line != "" && len(out) < n {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

var sentence = regexp.MustCompile(`.+?[.!?]+(?:\s+|$)`)

// firstSentences returns the first n sentences of running text: lines that are
// no heading, list, table, quote or lone link.
func firstSentences(v string, n int) string {
	var prose []string
	for line := range strings.SplitSeq(v, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsAny(line[:1], "#-*|>![<") || !strings.ContainsAny(line, ".!?") {
			continue
		}
		prose = append(prose, line)
	}
	all := sentence.FindAllString(strings.Join(prose, " "), n)
	return strings.TrimSpace(strings.Join(all, ""))
}

// let works out one named value.
func (e *env) let(l Let) error {
	from, err := e.eval(l.From)
	if err != nil {
		if !l.May && l.Else == "" {
			return fmt.Errorf("let %s: %w", l.Name, err)
		}
		from = ""
	}
	if l.Find == "" {
		e.vars[l.Name] = from
		return nil
	}
	pattern, err := e.expand(l.Find)
	if err != nil {
		return fmt.Errorf("let %s: %w", l.Name, err)
	}
	re, err := e.known.compile(pattern)
	if err != nil {
		return fmt.Errorf("let %s: %w", l.Name, err)
	}
	found := distinct(re, from, l.Format)
	switch {
	case l.All && len(found) > 0:
		e.vars[l.Name] = strings.Join(found, "\n")
	case !l.All && l.Nth < len(found):
		e.vars[l.Name] = found[l.Nth]
	case l.Else != "":
		e.vars[l.Name], err = e.expand(l.Else)
	case l.May:
		e.vars[l.Name] = ""
	default:
		return fmt.Errorf("let %s: nothing matches %s in %.200q", l.Name, pattern, from)
	}
	return err
}

// distinct formats every match of re in text, each text once.
func distinct(re *regexp.Regexp, text, format string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		v := text[m[0]:m[1]]
		switch {
		case format != "":
			v = string(re.ExpandString(nil, format, text, m))
		case len(m) > 3 && m[2] >= 0:
			v = text[m[2]:m[3]]
		}
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// holds reports whether a condition holds.
func (e *env) holds(c Cond) (bool, error) {
	from, err := e.eval(c.From)
	if err != nil {
		from = "" // what is not there matches nothing
	}
	pattern, err := e.expand(c.Find)
	if err != nil {
		return false, err
	}
	re, err := e.known.compile(pattern)
	if err != nil {
		return false, err
	}
	return re.MatchString(from) != c.Not, nil
}
