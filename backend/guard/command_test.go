package guard

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gofer/backend/tool"
)

func (p *place) run(line string) Decision {
	return p.check(ModeAsk, tool.Claim{Class: tool.RunCommand, Object: line, Detail: p.ws}).Decision
}

// commands is a place with some files and links for commands to name.
func commands(t *testing.T, always ...Grant) *place {
	t.Helper()
	if runtime.GOOS == "windows" {
		p := newPlace(t, always...)
		p.g.windows = false
		return p
	}
	p := newPlace(t, always...)
	for name, to := range map[string]string{"out": p.out, "passwd": "/etc/passwd", "inner": "a.txt"} {
		if err := os.Symlink(to, filepath.Join(p.ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.txt", ".env", "sub/b.txt"} {
		path := filepath.Join(p.ws, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestSimpleCommandsThatOnlyReadAreFree(t *testing.T) {
	p := commands(t)
	for _, line := range []string{
		"ls", "ls -la sub", "pwd", "cat a.txt", "cat 'a.txt' \"sub/b.txt\"", "wc -l a.txt", "head -n 5 a.txt", "head -20 a.txt", "tail -n5 a.txt",
		"grep -n 'x|y' a.txt", "grep -i \"foo bar\" a.txt sub/b.txt", "cat a.txt | sort | uniq -c | sort -rn | head -5", "cut -d , -f 1,2 a.txt",
		"cat inner", "find . -name '*.go' -type f", "echo hello", "du -sh sub", "diff a.txt sub/b.txt", "cat " + p.ws + "/a.txt", "sort -t : -k 2 a.txt",
		"ls --color=never", "grep -A3 x a.txt", "cat not-there.txt", "date", "tr a-z A-Z", "cat -- a.txt",
		"ls -la && wc -l *.txt", "cat a.tx?", "head -n 3 sub/*.txt; pwd", "ls || true", "cat *.none", "ls;",
	} {
		if got := p.run(line); got != Allow {
			t.Errorf("%q is %s", line, got)
		}
	}
}

func TestAPatternAsksWhereANameCouldBeAnOption(t *testing.T) {
	p := commands(t)
	if got := p.run("sort *.txt"); got != Allow {
		t.Fatalf("sort *.txt is %s", got)
	}
	if err := os.WriteFile(filepath.Join(p.ws, "-oout.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.run("sort *.txt"); got == Allow {
		t.Error("sort *.txt is free where a file is called -oout.txt")
	}
	if got := p.run("sort ./*.txt"); got != Allow {
		t.Errorf("sort ./*.txt is %s", got)
	}
}

func TestEveryOtherCommandAsks(t *testing.T) {
	p := commands(t)
	for _, line := range []string{
		"", "rm a.txt", "ls; rm a.txt", "ls && touch x", "ls || touch x", "ls & touch x", "ls &", "ls | tee x", "ls `touch x`", "ls $(touch x)", "ls <(touch x)",
		"ls > x", "ls >> x", "ls 2> x", "cat < a.txt", "cat <<< x", "cat <<E\nx\nE", "ls\nrm a.txt", "ls\n", "X=1 ls", "$SHELL", "ls $HOME", "ls ${X}", "ls ~", "ls *",
		"cat [a].txt", "ls -la && cat *", "wc -l ../*", "wc -l */*", "*", "cat *=x", "sort -?", "cat sub/*; rm *", "cat {a,b}.txt", "cat \\a.txt", "./ls", "/bin/ls", "! ls", "(ls)", "{ ls; }", "if true; then ls; fi", "time ls", "ls |& cat",
		"cat /etc/passwd", "cat ../out/x", "cat passwd", "ls out", "cat sub/../../out/x", "cat .env", "head .env", "grep -r x .", "grep -f .env a.txt", "grep -e x a.txt",
		"sort -o x a.txt", "sort --output=x a.txt", "uniq a.txt x", "find . -delete", "find . -exec rm {} +", "find . -fprint x", "find -L .", "tail -f a.txt",
		"sort --compress-program=sh a.txt", "tree -o x", "date -s 2020-01-01", "date 010100002020", "file -m x a.txt", "diff -r sub .", "diff sub .",
		"env", "bash -c ls", "sh a.txt", "xargs rm", "sudo ls", "awk 1 a.txt", "sed -n p a.txt", "git status", "python3 -c 1", "command ls", "eval ls", "exec ls",
		"ls \u202e", "ls\u00a0-la", "l\u200bs", "ls\r", "ls\t-la\x1b[2K", "ls # and nothing else", "cat $'a'", "cat $\"a\"", "wc --files0-from=.env", "du -L out",
		"head -n /etc/passwd", "cut -d /etc/passwd -f 1", "hostname x", "coproc ls", "function ls { rm a.txt; }; ls", "ls() { rm a.txt; }", "cat /dev/stdin", "cat /dev/zero",
		"cat /proc/self/environ", "ls 'unclosed", "alias ls=rm", "cd /; ls", "ls -L out", "[ -f a.txt ]", "[[ -f a.txt ]]", "((1))", "let 1", "export A=1", "read x", "echo $(<a.txt)",
	} {
		if got := p.run(line); got == Allow {
			t.Errorf("%q is free", line)
		}
	}
	if v := p.check(ModeAsk, tool.Claim{Class: tool.RunCommand, Object: "ls", Detail: p.out}); v.Decision != Ask {
		t.Error("ls in a folder outside is free")
	}
	p.g.windows = true
	if got := p.run("ls"); got != Ask {
		t.Error("a command for cmd is free")
	}
}

func TestAPrefixCoversPlainLinesOnly(t *testing.T) {
	grant := func(text string) Grant {
		g, err := ParseGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []struct {
		grant, line string
		want        Decision
	}{
		{"shell: go test", "go test ./...", Allow},
		{"shell: go test", "go test -run 'A|B' && go test -race", Allow},
		{"shell: go test", "go vet", Ask},
		{"shell: go test", "go testx", Ask},
		{"shell: go test", "go test; touch x", Ask},
		{"shell: go test", "go test $(touch x)", Ask},
		{"shell: go test", "go test > x", Ask},
		{"shell: go test", "X=1 go test", Ask},
		{"shell: go test", "go test &", Ask},
		{"shell: go test", "'go' \"test\" x", Allow},
		{"shell: make", "make | sh", Ask},
		{"shell: make", "env make", Ask},
		{"shell: make", "make `x`", Ask},
		{"shell: make", "make\nrm x", Ask},
		{"shell: rm", "rm -rf x", Allow},
		{"shell: rm", "rm -rf x | xargs rm", Ask},
		{"shell: bash", "bash -c x", Ask},
		{"shell: python3", "python3 x.py", Ask},
		{"shell: sudo", "sudo x", Ask},
		{"shell: env", "env x", Ask},
		{"shell: ./x", "./x y", Ask},
		{"shell: find", "find . -delete", Ask},
		{"shell: xargs rm", "xargs rm", Allow},
		{"shell: bash build.sh", "bash build.sh", Allow},
		{"shell: bash build.sh", "bash build.sh x", Ask},
		{"shell: touch", "touch ${OUT}/x", Ask},
		{"shell: touch", "touch *", Ask},
	} {
		p := commands(t, grant(c.grant))
		if got := p.run(c.line); got != c.want {
			t.Errorf("with %q, %q is %s, want %s", c.grant, c.line, got, c.want)
		}
	}
	// A grant for ls is no grant for what stands behind it.
	p := commands(t, grant("shell: ls"))
	for _, line := range []string{"ls && touch " + p.out + "/x", "ls `touch " + p.out + "/x`", "ls; touch x", "ls | tee x"} {
		if got := p.run(line); got != Ask {
			t.Errorf("%q is %s", line, got)
		}
	}
}

func TestTheAppsOwnFolderIsSeenInCommands(t *testing.T) {
	p := commands(t)
	if err := os.Symlink(p.app, filepath.Join(p.ws, "app")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Dir(p.app))
	for _, line := range []string{
		"cat " + p.app + "/keys", "cp x " + p.app, "echo x > " + p.app + "/gofer.db", "cat 'app/keys'", "tar cf - ../app", "dd if=" + p.app + "/keys", "ls && cat ~/app/keys",
		"cat \"$HOME/app/keys\"", "sh -c x; cat " + strings.ReplaceAll(p.app, "/app", "/a\\pp") + "/keys",
	} {
		if got := p.run(line); got != Deny {
			t.Errorf("%q is %s", line, got)
		}
	}
	if v := p.check(ModeFull, tool.Claim{Class: tool.RunCommand, Object: "ls", Detail: p.app}); v.Decision != Deny {
		t.Errorf("a command in the app's folder is %s", v.Decision)
	}
}

// TestNoCommandSlipsThrough makes many lines out of pieces that shells give a
// meaning to, and checks those found free by a reading of its own.
func TestNoCommandSlipsThrough(t *testing.T) {
	pieces := []string{
		"ls", "cat", "grep", "head", "rm", "touch", "sh", "tee", "sort", "find", "echo", "a.txt", "sub", ".env", "/etc/passwd", "-n", "-o", "-la", "-exec", "--", "x",
		" ", " ", " ", " ", ";", "|", "||", "&", "&&", "$", "$(", "(", ")", "`", ">", ">>", "<", "<<", "\n", "'", "\"", "\\", "*", "?", "~", "#", "!", "{", "}", "=", "$'", "|&", "2>", "\r", "\t",
	}
	r := rand.New(rand.NewPCG(1, 2))
	free := 0
	for range 300_000 {
		var b strings.Builder
		b.WriteString([]string{"ls", "cat", "echo", "head", ""}[r.IntN(5)])
		for range r.IntN(9) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		line := b.String()
		commands, ok := plain(line, false, nil)
		if !ok {
			continue
		}
		known := true
		for _, c := range commands {
			_, ok := reads(c)
			known = known && ok
		}
		if !known {
			continue
		}
		free++
		bare := unquoted(line)
		if strings.ContainsAny(strings.ReplaceAll(bare, "|", ""), ";&$`<>()\n\r*?~#!{}=\\") || strings.Contains(bare, "||") || strings.ContainsAny(line, "\n\r`") {
			t.Fatalf("%q passes as a command that only reads", line)
		}
		for part := range strings.SplitSeq(bare, "|") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			if name == "rm" || name == "touch" || name == "sh" || name == "tee" {
				t.Fatalf("%q runs %s", line, name)
			}
		}
	}
	if free < 1000 {
		t.Errorf("only %d lines passed, the test shows little", free)
	}
}

// unquoted is a line with all that is in quotes replaced by the letter q.
func unquoted(line string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
			b.WriteByte('q')
		case quote == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
