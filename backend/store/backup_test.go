package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
)

func TestABackupIsAWholeDatabaseAndOnlyTheNewestAreKept(t *testing.T) {
	dir := t.TempDir()
	at := time.Now()
	o := Options{Path: filepath.Join(dir, "gofer.db"), Blobs: filepath.Join(dir, "blobs"), Backups: filepath.Join(dir, "backups"), Now: func() time.Time { at = at.Add(time.Second); return at }}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session, err := s.CreateSession(t.Context(), Session{Title: "kept", Mode: "ask", MaxIterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range keptBackups + 2 {
		if err := s.backup(t.Context(), o.Backups, 1); err != nil {
			t.Fatal(err)
		}
		names, _ = filepath.Glob(filepath.Join(o.Backups, "*.db"))
		when := time.Now().Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(names[len(names)-1], when, when); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) != keptBackups {
		t.Fatalf("%d backups, want %d", len(names), keptBackups)
	}
	db, err := gorm.Open(sqlite.Open(names[0]), &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := get[Session](db, session.ID)
	if err != nil || got.Title != "kept" {
		t.Fatalf("the backup holds %+v, %v", got, err)
	}
	if raw, err := db.DB(); err == nil {
		raw.Close()
	}
}
