package store_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/store"
)

func TestNothingReachesTheDatabaseThatIsToBeHidden(t *testing.T) {
	const secret = "sk-hidden-4711"
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{
		Path: filepath.Join(dir, "gofer.db"), Blobs: filepath.Join(dir, "blobs"), Backups: filepath.Join(dir, "backups"),
		Hide: func(text string) string { return strings.ReplaceAll(text, secret, "***") },
	})
	if err != nil {
		t.Fatal(err)
	}
	row, err := s.CreateSession(t.Context(), store.Session{Title: "About " + secret, SystemPrompt: secret, Mode: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ChangeSession(t.Context(), row.ID, map[string]any{"title": "Still " + secret, "seen": false}); err != nil {
		t.Fatal(err)
	}
	prompt := chat.Message{Parts: []chat.Part{{Type: chat.Text, Text: "use " + secret}}}
	if _, err := s.Enqueue(t.Context(), store.Run{SessionID: row.ID, Mode: "ask"}, prompt, ""); err != nil {
		t.Fatal(err)
	}
	look := func() (files int) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			if bytes.Contains(raw, []byte(secret)) {
				t.Errorf("%s holds it", path)
			}
			files++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if n := look(); n < 2 {
		t.Errorf("only %d files were there, want the log of writes among them", n)
	}
	if got, err := s.Session(t.Context(), row.ID); err != nil || got.Title != "Still ***" || !got.Seen {
		t.Errorf("got %+v, %v", got, err)
	}
	list, _, err := s.Messages(t.Context(), row.ID, 0, -1)
	if err != nil || len(list) != 1 || list[0].Text() != "use ***" {
		t.Errorf("got %+v, %v", list, err)
	}
	found, err := s.Sessions(t.Context(), "use", 10, 0)
	if err != nil || len(found) != 1 {
		t.Errorf("the search finds %+v, %v", found, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look()
}
