package logbook

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const secret = `9f&Kq+/"ü_z7Wx40Tn`

// encodings are the forms a leak could take.
func encodings(s string) map[string]string {
	r := []rune(s)
	slices.Reverse(r)
	return map[string]string{
		"plain":        s,
		"base64":       base64.StdEncoding.EncodeToString([]byte(s)),
		"base64 url":   base64.RawURLEncoding.EncodeToString([]byte(s)),
		"base64 +1":    base64.StdEncoding.EncodeToString([]byte("u" + s + "x")),
		"base64 +2":    base64.StdEncoding.EncodeToString([]byte("me" + s)),
		"basic":        base64.StdEncoding.EncodeToString([]byte("user:" + s)),
		"hex":          hex.EncodeToString([]byte(s)),
		"HEX":          strings.ToUpper(hex.EncodeToString([]byte(s))),
		"query":        url.QueryEscape(s),
		"path":         url.PathEscape(s),
		"backwards":    string(r),
		"in a message": "request to /v1?x=" + url.QueryEscape(s) + " with " + s + " failed",
	}
}

func TestSecretsAreRedactedInEveryForm(t *testing.T) {
	var r Redactor
	r.Hide(secret)
	for name, text := range encodings(secret) {
		got := r.Redact("before " + text + " after")
		if !strings.Contains(got, Mark) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: got %q", name, got)
		}
		for form, leak := range encodings(secret) {
			if form != "base64 +1" && form != "base64 +2" && form != "basic" && strings.Contains(got, leak) {
				t.Errorf("%s: %s is left in %q", name, form, got)
			}
		}
	}
}

func TestNoSecretReachesTheLogFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	b, err := Open(dir, slog.LevelInfo)
	if err != nil {
		t.Fatal(err)
	}
	b.Hide(secret)
	for name, text := range encodings(secret) {
		b.Log().Info("model call "+text, "form", name, "text", text, "err", errors.New("got "+text), "raw", []byte(text), "group", slog.GroupValue(slog.String("key", text)))
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	// Neither the secret nor a half of it, in no form a reader could turn back.
	for _, form := range forms(secret) {
		if strings.Contains(string(raw), form) {
			t.Errorf("the log holds %q", form)
		}
	}
	if !strings.Contains(string(raw), Mark) {
		t.Error("the log holds no mark")
	}
	info, _ := os.Stat(b.Path())
	if got, want := info.Mode().Perm(), os.FileMode(0o600); got != want {
		t.Errorf("permissions: got %o, want %o", got, want)
	}
}

func TestCredentialsNobodyNamedAreRedacted(t *testing.T) {
	var r Redactor
	for _, text := range []string{
		"Authorization: Bearer abc.def-12345678",
		`{"Authorization":"Bearer abc.def-12345678"}`,
		`headers="map[Authorization:[Bearer abc.def-12345678]]"`,
		"authorization=Basic YWJjOmRlZi0xMjM0NTY3OA==",
		"x-api-key: abc.def-12345678",
		`\"api_key\":\"abc.def-12345678\"`,
		"GET https://example.org/v1?key=abc.def-12345678&alt=sse",
		"token was sk-proj-abcdefghij0123456789",
		"Set-Cookie: sid=abcdef12345678; Path=/",
	} {
		got := r.Redact(text)
		for _, leak := range []string{"12345678", "YWJjOmRlZ", "0123456789"} {
			if strings.Contains(got, leak) {
				t.Errorf("%q: got %q", text, got)
			}
		}
	}
}

func TestOrdinaryTextStaysAsItIs(t *testing.T) {
	var r Redactor
	r.Hide("ab") // too short to be a secret
	for _, text := range []string{
		"opened https://example.org/about?page=2",
		"the author of the book is abroad, the task-list-of-many-words is long",
		"session=0193 run=0194 iteration=3 tool=browser_click",
	} {
		if got := r.Redact(text); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestADiscardedBookKeepsNothing(t *testing.T) {
	b := Discard()
	b.Log().Info("hello")
	if b.Path() != "" || b.Close() != nil {
		t.Error("it has a file")
	}
}

func TestASecretIsHiddenHoweverTheWritesCutIt(t *testing.T) {
	var r Redactor
	r.Hide(secret)
	for name, text := range encodings(secret) {
		line := "before " + text + " after\n"
		for cut := range line {
			var out strings.Builder
			w := r.Writer(&out)
			for _, piece := range []string{line[:cut], line[cut:], "next"} {
				if n, err := w.Write([]byte(piece)); err != nil || n != len(piece) {
					t.Fatalf("got %d, %v for %q", n, err, piece)
				}
			}
			if want := r.Redact(line); out.String() != want {
				t.Fatalf("%s cut at %d: got %q, want %q", name, cut, out.String(), want)
			}
			if err := w.Flush(); err != nil || !strings.HasSuffix(out.String(), "\nnext") {
				t.Fatalf("after the flush: %q, %v", out.String(), err)
			}
		}
	}
}

func TestALineWithoutAnEndIsNotHeldForEver(t *testing.T) {
	var r Redactor
	r.Hide(secret)
	var out strings.Builder
	w := r.Writer(&out)
	long := strings.Repeat("x", longestLine) + secret[:9]
	if _, err := w.Write([]byte(long)); err != nil || out.Len() != longestLine {
		t.Fatalf("%d bytes were written, %v; want all but the beginning of the secret", out.Len(), err)
	}
	if _, err := w.Write([]byte(secret[9:] + "\n")); err != nil || !strings.HasSuffix(out.String(), "x"+Mark+"\n") {
		t.Errorf("got an end of %q, %v", out.String()[longestLine-1:], err)
	}
}

func TestAStreamNeverTellsASecretInPieces(t *testing.T) {
	var r Redactor
	r.Hide(secret)
	for name, text := range encodings(secret) {
		for size := 1; size < 8; size++ {
			whole := "ünder " + text + " 9f&K over 9f"
			s := r.Stream()
			var got strings.Builder
			for rest := whole; rest != ""; {
				n := min(size, len(rest))
				got.WriteString(s.Next(rest[:n]))
				rest = rest[n:]
			}
			got.WriteString(s.Rest())
			for _, form := range forms(secret) {
				if strings.Contains(got.String(), form) {
					t.Errorf("%s in pieces of %d: %q holds %q", name, size, got.String(), form)
				}
			}
			if !strings.HasPrefix(got.String(), "ünder ") || !strings.HasSuffix(got.String(), " 9f&K over 9f") || !strings.Contains(got.String(), Mark) {
				t.Errorf("%s in pieces of %d: got %q", name, size, got.String())
			}
		}
	}
}

func TestSecretsAreHiddenInEveryPartOfAValue(t *testing.T) {
	type named string
	type inner struct{ Text string }
	type payload struct {
		Name  named
		Raw   json.RawMessage
		One   *inner
		Any   any
		Many  []inner
		Table map[string]any
		Count int
		own   string
	}
	var r Redactor
	in := payload{Name: secret, Raw: json.RawMessage(`"` + secret[:3] + `"`), One: &inner{secret}, Any: inner{"x" + secret}, Many: []inner{{"a"}, {secret}}, Table: map[string]any{"k": []string{secret}, "n": 1}, Count: 3, own: "o"}
	if got := r.Value(in).(payload); got.One != in.One {
		t.Error("a value without secrets was copied")
	}
	r.Hide(secret)
	got := r.Value(in).(payload)
	if text := fmt.Sprintf("%+v %+v", got, *got.One); strings.Contains(text, secret) || strings.Count(text, Mark) != 5 {
		t.Errorf("got %s", text)
	}
	if in.One.Text != secret || in.Many[1].Text != secret || in.Table["k"].([]string)[0] != secret {
		t.Error("the original was changed")
	}
	if got.own != "o" || got.Count != 3 || got.Many[0].Text != "a" || r.Value(nil) != nil {
		t.Errorf("got %+v, want the rest as it was", got)
	}
}
