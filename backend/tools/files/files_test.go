package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gofer/backend/tool"
)

// place is a workspace with a folder beside it that must stay untouched.
type place struct {
	t   *testing.T
	ws  string
	out string
	f   Folder
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, ws: filepath.Join(top, "ws"), out: filepath.Join(top, "out")}
	for _, dir := range []string{p.ws, p.out, filepath.Join(top, "app")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.f = Folder{Workspace: p.ws, Trash: filepath.Join(top, "app", "trash"), Protected: []string{filepath.Join(top, "app")}}
	return p
}

func (p *place) file(name, text string) string {
	p.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(p.ws, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *place) content(path string) string {
	p.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.ws, path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(raw)
}

func (p *place) call(name string, args map[string]any) tool.Result {
	p.t.Helper()
	return p.callIn(context.Background(), name, args)
}

func (p *place) callIn(ctx context.Context, name string, args map[string]any) tool.Result {
	p.t.Helper()
	t, ok := tool.NewBox(All(p.f)...).Get(name)
	if !ok {
		p.t.Fatalf("no tool %s", name)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := t.Run(ctx, raw)
	if err != nil {
		p.t.Fatalf("%s ended the run: %v", name, err)
	}
	if !utf8.ValidString(r.Text) {
		p.t.Errorf("%s gave text that is not UTF-8", name)
	}
	return r
}

func (p *place) claims(name string, args map[string]any) []tool.Claim {
	p.t.Helper()
	t, _ := tool.NewBox(All(p.f)...).Get(name)
	raw, _ := json.Marshal(args)
	claims, err := t.Claims(context.Background(), raw)
	if err != nil {
		p.t.Fatal(err)
	}
	return claims
}

func is(t *testing.T, r tool.Result, failed bool, parts ...string) {
	t.Helper()
	if r.Failed != failed {
		t.Errorf("failed is %v: %s", r.Failed, r.Text)
	}
	for _, part := range parts {
		if !strings.Contains(r.Text, part) {
			t.Errorf("%q is not in %q", part, r.Text)
		}
	}
}

func TestReadSaysWhichLinesItGives(t *testing.T) {
	p := newPlace(t)
	p.file("a.txt", "one\ntwo\nthree\nfour")
	is(t, p.call("fs_read", map[string]any{"path": "a.txt"}), false, "a.txt: lines 1–4 of 4.\n<outside", "one\ntwo\nthree\nfour\n</outside>")
	is(t, p.call("fs_read", map[string]any{"path": "a.txt", "offset": 2, "limit": 2}), false,
		"lines 2–3 of 4. Truncated here: more follows; go on with offset 4", ">\ntwo\nthree\n<")
	is(t, p.call("fs_read", map[string]any{"path": "a.txt", "offset": 9}), false, "no line 9, the file has 4")
	is(t, p.call("fs_read", map[string]any{"path": "a.txt", "offset": 4, "limit": 3, "unit": "bytes"}), false, "bytes 4–7 of 18", ">\ntwo\n<")
	p.file("empty", "")
	is(t, p.call("fs_read", map[string]any{"path": "empty"}), false, "the file is empty")
	if r := p.call("fs_read", map[string]any{"path": "a.txt"}); r.Origin != filepath.Join(p.ws, "a.txt") {
		t.Errorf("origin is %q", r.Origin)
	}
}

func TestALongFileIsReadPieceByPieceWithoutLoss(t *testing.T) {
	p := newPlace(t)
	var text strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&text, "line %d with some text to make it longer é\n", i)
	}
	text.WriteString(strings.Repeat("x€", 300_000))
	text.WriteString("\nend")
	p.file("long", text.String())
	for _, unit := range []string{"lines", "bytes"} {
		var got strings.Builder
		args := map[string]any{"path": "long", "limit": 5000, "unit": unit}
		if unit == "bytes" {
			args["limit"] = 1 << 20
		}
		for range 100 {
			r := p.call("fs_read", args)
			head, body, _ := strings.Cut(r.Text, "\n")
			if len(body) > readCap+300 {
				t.Fatalf("one call gave %d bytes", len(body))
			}
			_, body, _ = strings.Cut(body, "\n")
			body = strings.TrimSuffix(body, "\n</outside>")
			got.WriteString(body)
			_, next, more := strings.Cut(head, "offset ")
			if !more {
				break
			}
			if unit == "lines" && !strings.Contains(head, "unit bytes") {
				got.WriteString("\n")
			}
			var at int
			if _, err := fmt.Sscanf(next, "%d", &at); err != nil {
				t.Fatalf("%q: %v", head, err)
			}
			args["offset"] = at
			if strings.Contains(head, "unit bytes") {
				args["unit"], args["limit"] = "bytes", 1<<20
			}
		}
		if strings.ReplaceAll(got.String(), "\n", "") != strings.ReplaceAll(text.String(), "\n", "") {
			t.Errorf("by %s: got %d bytes of %d", unit, got.Len(), text.Len())
		}
	}
}

func TestBinaryFilesAreRefusedWithTheirSize(t *testing.T) {
	p := newPlace(t)
	p.file("b.txt", "\xff\x00\xfe\xff")
	is(t, p.call("fs_read", map[string]any{"path": "b.txt"}), true, "binary file of 4 bytes", "ff 00 fe ff")
	sparse := p.file("big", "")
	if err := os.Truncate(sparse, 2<<30); err != nil {
		t.Fatal(err)
	}
	is(t, p.call("fs_read", map[string]any{"path": "big"}), true, "2147483648 bytes", "truncated")
	p.file("latin", "caf\xe9 au lait\n")
	is(t, p.call("fs_read", map[string]any{"path": "latin"}), false, "caf\uFFFD au lait", "not UTF-8")
}

func TestWriteSaysWhatChanged(t *testing.T) {
	p := newPlace(t)
	r := p.call("fs_write", map[string]any{"path": "sub/dir/new.txt", "content": "a\nb\nc\n"})
	is(t, r, false, "Made", filepath.Join(p.ws, "sub", "dir", "new.txt"))
	if r.Outcome != "+3 −0" || p.content("sub/dir/new.txt") != "a\nb\nc\n" {
		t.Errorf("outcome %q, content %q", r.Outcome, p.content("sub/dir/new.txt"))
	}
	args := map[string]any{"path": "sub/dir/new.txt", "content": "a\nB\nc\nd\n"}
	claims := p.claims("fs_write", args)
	want := "@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n"
	if len(claims) != 1 || claims[0].Class != tool.WriteFile || claims[0].Text != want {
		t.Errorf("claims %+v", claims)
	}
	if r := p.call("fs_write", args); r.Outcome != "+2 −1" || r.Failed {
		t.Errorf("got %+v", r)
	}
	is(t, p.call("fs_write", map[string]any{"path": "sub", "content": "x"}), true, "it is a folder")
	left, _ := filepath.Glob(filepath.Join(p.ws, "sub", "dir", ".gofer-*"))
	if len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
}

func TestEditReplacesExactlyOne(t *testing.T) {
	p := newPlace(t)
	p.file("a.go", "x := 1\ny := 1\nz := 2\n")
	is(t, p.call("fs_edit", map[string]any{"path": "a.go", "old_text": ":= 1", "new_text": ":= 3"}), true, "occurs 2 times", "replace_all")
	is(t, p.call("fs_edit", map[string]any{"path": "a.go", "old_text": "q", "new_text": "r"}), true, "does not occur", "read it again")
	is(t, p.call("fs_edit", map[string]any{"path": "none", "old_text": "q", "new_text": "r"}), true, "no such file")
	if p.content("a.go") != "x := 1\ny := 1\nz := 2\n" {
		t.Fatal("a failed edit changed the file")
	}
	r := p.call("fs_edit", map[string]any{"path": "a.go", "old_text": "z := 2", "new_text": "z := 9"})
	if is(t, r, false); r.Outcome != "+1 −1" {
		t.Errorf("outcome %q", r.Outcome)
	}
	is(t, p.call("fs_edit", map[string]any{"path": "a.go", "old_text": ":= 1", "new_text": ":= 3", "replace_all": true}), false, "2 occurrences replaced")
	if got := p.content("a.go"); got != "x := 3\ny := 3\nz := 9\n" {
		t.Errorf("got %q", got)
	}
}

func TestEditKeepsTheLineEnds(t *testing.T) {
	p := newPlace(t)
	p.file("dos.txt", "one\r\ntwo\r\nthree\r\n")
	is(t, p.call("fs_read", map[string]any{"path": "dos.txt"}), false, "CRLF", "one\ntwo\nthree\n")
	is(t, p.call("fs_edit", map[string]any{"path": "dos.txt", "old_text": "one\ntwo", "new_text": "1\n2\n2b"}), false)
	if got := p.content("dos.txt"); got != "1\r\n2\r\n2b\r\nthree\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestListAndMkdir(t *testing.T) {
	p := newPlace(t)
	is(t, p.call("fs_list", map[string]any{}), false, "is empty")
	is(t, p.call("fs_mkdir", map[string]any{"path": "b/c"}), false, "Made the folder")
	is(t, p.call("fs_mkdir", map[string]any{"path": "b/c"}), false, "there already")
	p.file("a.txt", "hello")
	p.file("odd\nname\u202e", "")
	r := p.call("fs_list", map[string]any{"path": "."})
	is(t, r, false, "3 entries:", "b/\na.txt  5 B\n", `"odd\nname\u202e"`)
	is(t, p.call("fs_list", map[string]any{"path": "a.txt"}), true, "not a folder")
	is(t, p.call("fs_mkdir", map[string]any{"path": "a.txt"}), true, "a file of that name")
}

func TestDeleteGoesToTheTrashAndCanBeUndone(t *testing.T) {
	p := newPlace(t)
	p.file("a.txt", "keep me")
	p.file("d/x", "")
	is(t, p.call("fs_delete", map[string]any{"path": "d"}), true, "not empty")
	is(t, p.call("fs_delete", map[string]any{"path": "a.txt"}), false, "in the trash")
	is(t, p.call("fs_delete", map[string]any{"path": "a.txt"}), true, "no such file")
	is(t, p.call("fs_delete", map[string]any{"path": "d/x"}), false)
	is(t, p.call("fs_delete", map[string]any{"path": "d"}), false)
	is(t, p.call("fs_delete", map[string]any{"path": "."}), true, "the workspace itself")
	is(t, p.call("fs_write", map[string]any{"path": "b.txt", "content": "first"}), false)
	is(t, p.call("fs_write", map[string]any{"path": "b.txt", "content": "second"}), false)

	undo := func() {
		t.Helper()
		list, err := Changes(p.f.Trash)
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		got, err := Undo(p.f.Trash, func(c Change) bool { return c.ID == list[0].ID })
		if err != nil || len(got) != 1 || got[0].Problem != "" {
			t.Fatal(got, err)
		}
	}
	if undo(); p.content("b.txt") != "first" {
		t.Errorf("b.txt is %q", p.content("b.txt"))
	}
	if undo(); exists(filepath.Join(p.ws, "b.txt")) {
		t.Error("b.txt is still there")
	}
	undo()
	undo()
	undo()
	if p.content("a.txt") != "keep me" || !exists(filepath.Join(p.ws, "d", "x")) {
		t.Error("the deleted files did not come back")
	}
	if _, err := Undo(p.f.Trash, func(Change) bool { return true }); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("got %v", err)
	}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func TestSearchFindsLinesAndFiles(t *testing.T) {
	p := newPlace(t)
	p.file("a.go", "package a\nfunc Hello() {}\n")
	p.file("sub/b.go", "package b\n\tfunc hello() {}\r\n")
	p.file("sub/c.txt", "func hello\n")
	p.file(".git/config", "func hello\n")
	p.file("sub/.env", "func hello\n")
	p.file("bin", "func hello\x00\n")
	p.file("sub/naïve.go", "")
	p.f.Secret = func(path string) bool { return filepath.Base(path) == ".env" }
	r := p.call("fs_search", map[string]any{"pattern": `(?i)func hello`, "glob": "*.go"})
	is(t, r, false, "2 matches in 2 files", "a.go:2: func Hello() {}\n", "sub/b.go:2: \tfunc hello() {}\n")
	r = p.call("fs_search", map[string]any{"pattern": `func hello`})
	is(t, r, false, "2 matches in 2 files", "1 files that may hold secrets", ".git and node_modules passed over")
	is(t, p.call("fs_search", map[string]any{"pattern": "func", "path": "sub/c.txt"}), false, "c.txt:1: func hello")
	is(t, p.call("fs_search", map[string]any{"glob": "**/naïve.*"}), false, "1 files", "sub/naïve.go")
	is(t, p.call("fs_search", map[string]any{"pattern": "func", "limit": 1}), false, "stopped after 1 matches")
	is(t, p.call("fs_search", map[string]any{"pattern": "nowhere"}), false, "No matches")
	is(t, p.call("fs_search", map[string]any{"pattern": "(?=x)"}), true, "RE2")
	is(t, p.call("fs_search", map[string]any{"path": "none", "pattern": "x"}), true, "no such file")
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"*.go", "a/b/c.go", true},
		{"a/*.go", "a/b/c.go", false},
		{"a/**/*.go", "a/c.go", true},
		{"a/**/*.go", "a/b/c/d.go", true},
		{"*.{ts,js}", "x.js", true},
		{"*.{ts,js}", "x.jsx", false},
		{"[!a]?.txt", "bc.txt", true},
		{"[!a]?.txt", "ac.txt", false},
		{"a.b", "aXb", false},
		{"**", "any/thing", true},
		{"x\n", "x", false},
	} {
		match, err := globbed(c.glob)
		if err != nil || match(c.path) != c.want {
			t.Errorf("%q on %q: %v, want %v", c.glob, c.path, err, c.want)
		}
	}
}

func TestDiffIsRightForManyTexts(t *testing.T) {
	abc := func(n, base int) string {
		var b strings.Builder
		for i := range 12 {
			if n>>i&1 == 1 {
				fmt.Fprintf(&b, "%d\n", (i*base)%7)
			}
		}
		return b.String()
	}
	for n := 0; n < 4096; n += 37 {
		for m := 0; m < 4096; m += 101 {
			old, now := abc(n, 3), abc(m, 5)
			diff, added, removed := Diff(old, now)
			if got := apply(t, old, diff); got != now {
				t.Fatalf("%q to %q gave %q by\n%s", old, now, got, diff)
			}
			if strings.Count("\n"+diff, "\n+") != added || strings.Count("\n"+diff, "\n-") != removed {
				t.Fatalf("counted +%d −%d in\n%s", added, removed, diff)
			}
		}
	}
}

// apply plays a diff on the old text.
func apply(t *testing.T, old, diff string) string {
	in, at := lines(old), 0
	var out bytes.Buffer
	for _, l := range lines(diff) {
		switch l[0] {
		case '@':
			var start, n int
			if _, err := fmt.Sscanf(l, "@@ -%d,%d", &start, &n); err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(in[at])
			}
		case ' ', '-':
			if in[at] != l[1:] {
				t.Fatalf("line %d is %q, the diff says %q", at, in[at], l[1:])
			}
			if at++; l[0] == ' ' {
				out.WriteString(l[1:])
			}
		case '+':
			out.WriteString(l[1:])
		}
	}
	for ; at < len(in); at++ {
		out.WriteString(in[at])
	}
	return out.String()
}
