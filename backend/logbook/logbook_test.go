package logbook

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
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
