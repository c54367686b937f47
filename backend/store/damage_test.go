package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/fault"
)

func optionsIn(dir string) Options {
	return Options{Path: filepath.Join(dir, "gofer.db"), Blobs: filepath.Join(dir, "blobs"), Backups: filepath.Join(dir, "backups")}
}

// filled makes a database of some hundred pages; with left it keeps what a kill
// leaves, the log.
func filled(t *testing.T, dir string, left bool) (sessionID string) {
	t.Helper()
	s, err := Open(t.Context(), optionsIn(dir))
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.CreateSession(t.Context(), Session{Title: "kept", Mode: "ask", MaxIterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if i == 100 {
			if _, err := s.sql.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				t.Fatal(err)
			}
		}
		text := fmt.Sprint(i, strings.Repeat(" some words of a prompt", 200))
		if _, err := s.Enqueue(t.Context(), Run{SessionID: made.ID, MaxIterations: 1, Mode: "ask"}, chat.Message{Parts: []chat.Part{{Type: chat.Text, Text: text}}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if !left {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	files := map[string][]byte{}
	for _, name := range []string{"gofer.db", "gofer.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(raw) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(raw), err)
		}
		files[name] = raw
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, raw := range files {
		put(t, filepath.Join(dir, name), raw)
	}
	return made.ID
}

func put(t *testing.T, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, name := range []string{"gofer.db", "gofer.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			out[name] = raw
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return out
}

func TestADamagedOrForeignDatabaseIsExplainedAndLeftAsItIs(t *testing.T) {
	page := func(raw []byte, n int) []byte { return raw[n*4096 : (n+1)*4096] }
	rng := rand.New(rand.NewPCG(6, 20))
	made := t.TempDir()
	filled(t, made, false)
	sound := contents(t, made)["gofer.db"]
	for name, damage := range map[string]func(t *testing.T, dir string, raw []byte) []byte{
		"corrupt header": func(_ *testing.T, _ string, raw []byte) []byte { copy(raw, "no header at all"); return raw },
		"header of zeros": func(_ *testing.T, _ string, raw []byte) []byte {
			clear(raw[:100])
			return raw
		},
		"text":              func(*testing.T, string, []byte) []byte { return []byte(strings.Repeat("this is no database\n", 500)) },
		"zero length":       func(*testing.T, string, []byte) []byte { return nil },
		"one byte":          func(*testing.T, string, []byte) []byte { return []byte("S") },
		"truncated":         func(_ *testing.T, _ string, raw []byte) []byte { return raw[:len(raw)/2/4096*4096] },
		"truncated in page": func(_ *testing.T, _ string, raw []byte) []byte { return raw[:len(raw)/2+100] },
		"first page only":   func(_ *testing.T, _ string, raw []byte) []byte { return raw[:4096] },
		"twenty random pages": func(_ *testing.T, _ string, raw []byte) []byte {
			for range 20 {
				p := page(raw, 1+rng.IntN(len(raw)/4096-1))
				for i := range p {
					p[i] = byte(rng.Uint32())
				}
			}
			return raw
		},
		"of another program": func(t *testing.T, dir string, _ []byte) []byte {
			return foreign(t, filepath.Join(dir, "other.db"), "CREATE TABLE photos (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO photos (name) VALUES ('beach')")
		},
		"of another program that uses goose": func(t *testing.T, dir string, _ []byte) []byte {
			return foreign(t, filepath.Join(dir, "other.db"), "CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER, is_applied INTEGER, tstamp TEXT); CREATE TABLE photos (id INTEGER PRIMARY KEY)")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, "gofer.db"), damage(t, dir, bytes.Clone(sound)))
			refused(t, dir)
		})
	}
}

// refused opens a store that cannot be opened, and sees that this is said and
// that nothing has changed.
func refused(t *testing.T, dir string) { t.Helper(); refusedTo(t, dir, Open) }

func refusedTo(t *testing.T, dir string, open func(context.Context, Options) (*Store, error)) *fault.Fault {
	t.Helper()
	before := contents(t, dir)
	s, err := open(t.Context(), optionsIn(dir))
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	var f *fault.Fault
	if !errors.As(err, &f) || f.Hint == "" || !strings.Contains(f.Message, filepath.Join(dir, "gofer.db")) {
		t.Errorf("got %v; want a fault that names the file and a way on", err)
	}
	after := contents(t, dir)
	for name, raw := range before {
		if !bytes.Equal(raw, after[name]) {
			t.Errorf("%s was changed", name)
		}
	}
	return f
}

func foreign(t *testing.T, path, statements string) []byte {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestALogThatIsMissingBrokenOrOfAnotherDatabaseHarmsNothing(t *testing.T) {
	made := t.TempDir()
	sessionID := filled(t, made, true)
	left := contents(t, made)
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir, wal string)
		runs   int // that are left; -1 when the database must be refused
	}{
		"as a kill leaves it": {func(*testing.T, string, string) {}, 200},
		"missing": {func(t *testing.T, _, wal string) {
			if err := os.Remove(wal); err != nil {
				t.Fatal(err)
			}
		}, 100},
		"text": {func(t *testing.T, _, wal string) { put(t, wal, bytes.Repeat([]byte("no log"), 9000)) }, 100},
		"cut off": {func(t *testing.T, _, wal string) {
			raw, err := os.ReadFile(wal)
			if err != nil {
				t.Fatal(err)
			}
			put(t, wal, raw[:32])
		}, 100},
		"of another database": {func(t *testing.T, _, wal string) {
			other := t.TempDir()
			s, err := Open(t.Context(), optionsIn(other))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 3 {
				if _, err := s.CreateSession(t.Context(), Session{Title: "foreign", Mode: "ask", MaxIterations: 1}); err != nil {
					t.Fatal(err)
				}
			}
			put(t, wal, contents(t, other)["gofer.db-wal"])
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, raw := range left {
				put(t, filepath.Join(dir, name), raw)
			}
			c.damage(t, dir, filepath.Join(dir, "gofer.db-wal"))
			if c.runs < 0 {
				refused(t, dir)
				return
			}
			s, err := Open(t.Context(), optionsIn(dir))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if runs, err := s.Runs(t.Context(), sessionID); err != nil || len(runs) < c.runs {
				t.Errorf("%d runs are left, %v; want %d", len(runs), err, c.runs)
			}
		})
	}
}

func TestAStartThatWasKilledInTheMiddleOfTheFirstIsDoneAgain(t *testing.T) {
	dir := t.TempDir()
	for _, end := range []string{"", "-wal"} {
		put(t, filepath.Join(dir, "gofer.db.new"+end), []byte("half of it"))
	}
	s, err := Open(t.Context(), optionsIn(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestEveryOlderDatabaseIsBroughtUpToDateWithItsData makes a database with each
// earlier schema, fills it and opens it.
func TestEveryOlderDatabaseIsBroughtUpToDateWithItsData(t *testing.T) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d migrations, %v", len(names), err)
	}
	for version := range int64(len(names)) {
		version++
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := t.TempDir()
			old(t, files, filepath.Join(dir, "gofer.db"), version)
			s, err := Open(t.Context(), optionsIn(dir))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			messages, _, err := s.Messages(t.Context(), "s1", 0, -1)
			if err != nil || len(messages) != 2 || messages[0].Text() != "what I asked" || messages[1].Text() != "what it said" {
				t.Fatalf("messages %+v, %v", messages, err)
			}
			found, err := s.Sessions(t.Context(), "asked", 10, 0)
			if err != nil || len(found) != 1 {
				t.Errorf("the search finds %d sessions, %v", len(found), err)
			}
			if _, err := s.Enqueue(t.Context(), Run{SessionID: "s1", MaxIterations: 1, Mode: "ask"}, chat.Message{Parts: []chat.Part{{Type: chat.Text, Text: "next"}}}, ""); err != nil {
				t.Errorf("the session cannot go on: %v", err)
			}
			left, err := s.Interrupt(t.Context())
			if err != nil || len(left) != 1 || left[0].State != event.RunIsRunning {
				t.Errorf("Interrupt = %+v, %v", left, err)
			}
			copies, _ := filepath.Glob(filepath.Join(dir, "backups", fmt.Sprintf("gofer-v%d-*.db", version)))
			if last := version == int64(len(names)); last != (len(copies) == 0) {
				t.Fatalf("copies of schema %d: %v", version, copies)
			} else if !last {
				db, err := sql.Open("sqlite", "file:"+copies[0])
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				var n int
				if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM agent_messages").Scan(&n); err != nil || n != 2 {
					t.Errorf("the copy holds %d messages, %v", n, err)
				}
			}
		})
	}
}

// old makes a database with an earlier schema and a session in it.
func old(t *testing.T, files fs.FS, path string, version int64) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	statements := []string{
		"INSERT INTO agent_sessions (id, owner_id, title, auto_title, workspace, mode, provider, model, system_prompt, max_iterations, headless, tour, seen, message_seq, event_seq, created_at, updated_at) VALUES ('s1', 'local', 'old', 0, '/w', 'ask', '', '', '', 10, 0, 0, 1, 2, 1, 1, 1)",
		"INSERT INTO runs (id, owner_id, session_id, prompt_id, state, max_iterations, mode, created_at, started_at) VALUES ('r1', 'local', 's1', 'm1', 'running', 10, 'ask', 1, 1)",
		"INSERT INTO agent_messages (id, owner_id, session_id, run_id, seq, role, content, created_at) VALUES ('m1', 'local', 's1', 'r1', 1, 'user', 'what I asked', 1), ('m2', 'local', 's1', 'r1', 2, 'assistant', 'what it said', 2)",
		"INSERT INTO steps (id, owner_id, session_id, run_id, number, epoch, kind, state, message_id, started_at) VALUES ('t1', 'local', 's1', 'r1', 1, 1, 'reply', 'succeeded', 'm2', 1)",
		`INSERT INTO events (session_id, seq, owner_id, run_id, type, at, data) VALUES ('s1', 1, 'local', 'r1', 'notice', 1, '{"text":"x"}')`,
	}
	if version >= 3 { // from here on the store fills the index
		statements = append(statements, "INSERT INTO message_text (rowid, content) SELECT num, content FROM agent_messages")
	}
	for _, s := range statements {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLookingForDamageTakesNoLongerThanItMay(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir, false)
	began := time.Now()
	if err := inspect(t.Context(), filepath.Join(dir, "gofer.db")); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*inspection {
		t.Errorf("it took %v", took)
	}
}
