package browse_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
	"gofer/backend/tool"
	"gofer/backend/tools/browse"
)

// folder saves below itself.
type folder string

func (f folder) Target(path string) (string, error) {
	if strings.Contains(path, "..") {
		return "", errors.New("it is outside the workspace")
	}
	return filepath.Join(string(f), path), nil
}

func (f folder) Save(_ context.Context, path string, r io.Reader, limit int64) (int64, error) {
	to, err := f.Target(path)
	if err != nil {
		return 0, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return 0, err
	}
	return int64(len(raw)), os.WriteFile(to, raw, 0o600)
}

func TestPDFSavesThePage(t *testing.T) {
	dir := folder(t.TempDir())
	s := browsertest.Page(t, `<title>Paper</title><h1>Hello</h1>`+strings.Repeat("<p>text</p>", 200))
	b := tool.NewBox(browse.AllWith(func(context.Context) (*browser.Session, error) { return s, nil }, browse.Options{Files: dir})...)
	page, _, _ := s.Page()
	want := []tool.Claim{{Class: tool.Visit, Object: page}, {Class: tool.WriteFile, Object: filepath.Join(string(dir), "a.pdf"), Detail: "the page as PDF"}}
	got := claims(t, b, "browser_pdf", `{"save_as":"a.pdf"}`)
	if len(got) != 2 || got[0].Object != want[0].Object || got[1].Class != want[1].Class || got[1].Object != want[1].Object {
		t.Errorf("claims %+v", got)
	}
	if r := run(t, b, "browser_pdf", `{"save_as":"a.pdf"}`); r.Failed || !strings.Contains(r.Text, "a.pdf (") {
		t.Errorf("save: %+v", r)
	}
	raw, err := os.ReadFile(filepath.Join(string(dir), "a.pdf"))
	if err != nil || !bytes.HasPrefix(raw, []byte("%PDF-")) || !bytes.Contains(raw[len(raw)-32:], []byte("%%EOF")) {
		t.Errorf("the file has %d bytes, %v", len(raw), err)
	}
	if r := run(t, b, "browser_pdf", `{"save_as":"../a.pdf"}`); !r.Failed || !strings.Contains(r.Text, "outside") {
		t.Errorf("outside: %+v", r)
	}
	if _, ok := box(s).Get("browser_pdf"); ok {
		t.Error("without a saver there is browser_pdf")
	}
}
