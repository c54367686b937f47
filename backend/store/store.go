// Package store keeps sessions, runs, steps, the transcript and the event log
// in SQLite, and bytes as blobs beside it. It is the only user of GORM.
//
// Store first, then tell: an event is a row of the transaction that made it
// true, and it is published after the commit, in commit order. One writer at a
// time; readers never wait for it (WAL). Times are Unix milliseconds and never
// go back, whatever the clock does: what is stored later is not dated earlier.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"gofer/backend/event"
	"gofer/backend/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Owner is the one local owner; every row carries it.
const Owner = "local"

// keptBackups is how many copies from before a migration stay.
const keptBackups = 3

// ErrStale says a commit came from somebody who no longer owns the run: it was
// stopped, finished, or taken over by a later epoch.
var ErrStale = errors.New("the run is no longer this runner's")

// ErrNotFound says there is no such row.
var ErrNotFound = errors.New("not found")

// Options say where a store lives.
type Options struct {
	Path    string                  // database file
	Blobs   string                  // folder of blobs
	Backups string                  // folder of copies made before migrations
	Driver  string                  // of database/sql; empty takes that of SQLite, tests put one around it
	Now     func() time.Time        // nil takes the clock
	Publish func(...event.Envelope) // told after each commit, in commit order; must not block; may be nil
	Hide    func(string) string     // every text on its way into the database goes through it; may be nil
}

// Store is an open database.
type Store struct {
	db      *gorm.DB
	sql     *sql.DB
	blobs   string
	now     func() time.Time
	publish func(...event.Envelope)
	write   sync.Mutex // one writer, and events leave in commit order
	last    int64      // time of the last transaction; guarded by write
}

// Open opens or makes the database and brings its schema up to date, after a
// backup when there was one. A file that is damaged, of another program or of a
// newer one is left as it is, with its log, and reported as a fault.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Publish == nil {
		o.Publish = func(...event.Envelope) {}
	}
	for _, dir := range []string{filepath.Dir(o.Path), o.Blobs, o.Backups} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fault.Wrap(fault.Unavailable, fmt.Sprintf("The data folder %s cannot be written.", filepath.Dir(o.Path)), "Make it writable, or name another one with GOFER_HOME.", err)
		}
	}
	if err := inspect(ctx, o.Path); errors.Is(err, fs.ErrNotExist) {
		err = begin(ctx, o)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return open(ctx, o)
}

// begin makes a database under another name, which is its own only when it is
// whole: a start that is killed leaves no file that the next one cannot read.
func begin(ctx context.Context, o Options) error {
	path := o.Path
	o.Path += ".new"
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(o.Path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return brokenFile(o.Path, err)
		}
	}
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return brokenFile(path, err)
	}
	if err := os.Rename(o.Path, path); err != nil {
		return brokenFile(path, err)
	}
	return nil
}

func open(ctx context.Context, o Options) (*Store, error) {
	conn, err := connect(o.Driver, dsn(o.Path), o.Hide)
	if err != nil {
		return nil, brokenFile(o.Path, err)
	}
	db, err := gorm.Open(sqlite.Dialector{Conn: conn}, &gorm.Config{
		Logger: logger.Discard, SkipDefaultTransaction: true, PrepareStmt: true, TranslateError: true,
	})
	if err != nil {
		conn.Close()
		return nil, brokenFile(o.Path, err)
	}
	raw, err := db.DB()
	if err != nil {
		return nil, brokenFile(o.Path, err)
	}
	s := &Store{db: db, sql: raw, blobs: o.Blobs, now: o.Now, publish: o.Publish}
	if err := s.migrate(ctx, o); err != nil {
		raw.Close()
		return nil, err
	}
	if err := s.catchUp(ctx); err != nil {
		raw.Close()
		return nil, brokenFile(o.Path, err)
	}
	_ = os.Chmod(o.Path, 0o600)
	return s, nil
}

// behind is how far a clock may be set back between two starts for times to go
// on from the last one. One that was further ahead had been wrong.
const behind = 24 * time.Hour

// catchUp takes up the time of the last transaction of an earlier process.
func (s *Store) catchUp(ctx context.Context) error {
	var last int64
	if err := s.sql.QueryRowContext(ctx, "SELECT COALESCE(MAX(updated_at), 0) FROM agent_sessions").Scan(&last); err != nil {
		return fmt.Errorf("read the last time: %w", err)
	}
	if last <= s.now().Add(behind).UnixMilli() {
		s.last = last
	}
	return nil
}

// dsn puts every pragma into the connection string, so that it holds for each
// pooled connection; immediate transactions avoid failed lock upgrades.
func dsn(path string) string {
	q := url.Values{}
	for _, p := range []string{"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)", "synchronous(FULL)"} {
		q.Add("_pragma", p)
	}
	q.Set("_txlock", "immediate")
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}).String()
}

func brokenFile(path string, err error) error {
	return fault.Wrap(fault.Broken, fmt.Sprintf("The database %s cannot be opened: %v.", path, err), "It was left as it is. Move it away to start anew, or put a copy from the folder backups in its place.", err)
}

func (s *Store) migrate(ctx context.Context, o Options) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.sql, files, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return brokenFile(o.Path, err)
	}
	if have > want {
		return fault.New(fault.Broken, fmt.Sprintf("The database %s was made by a newer Gofer (schema %d, this one knows %d).", o.Path, have, want), "Update Gofer, or name another data folder with GOFER_HOME.")
	}
	if have == want {
		return nil
	}
	if have > 0 {
		if err := s.backup(ctx, o.Backups, have); err != nil {
			return fault.Wrap(fault.Unavailable, "The database could not be copied before its update, so it was left alone.", "Free some disk space and start again.", err)
		}
	}
	if _, err := provider.Up(ctx); err != nil {
		return brokenFile(o.Path, err)
	}
	return nil
}

// backup copies the database to the backups folder and drops the oldest copies.
func (s *Store) backup(ctx context.Context, dir string, version int64) error {
	name := fmt.Sprintf("gofer-v%d-%s.db", version, s.now().UTC().Format("20060102-150405.000"))
	if _, err := s.sql.ExecContext(ctx, "VACUUM INTO ?", filepath.Join(dir, name)); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "gofer-v*.db"))
	if err != nil {
		return err
	}
	return dropOldest(old, keptBackups)
}

// dropOldest removes the files with the oldest modification times beyond keep.
func dropOldest(paths []string, keep int) error {
	for len(paths) > keep {
		oldest := 0
		for i := range paths {
			if modified(paths[i]).Before(modified(paths[oldest])) {
				oldest = i
			}
		}
		if err := os.Remove(paths[oldest]); err != nil {
			return err
		}
		paths = append(paths[:oldest], paths[oldest+1:]...)
	}
	return nil
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Close ends the store after the writer is done.
func (s *Store) Close() error {
	s.write.Lock()
	defer s.write.Unlock()
	return s.sql.Close()
}

// Tx is one write transaction and the events that announce it.
type Tx struct {
	db     *gorm.DB
	now    int64
	events []event.Envelope
}

// Write runs one transaction. When do returns nil it is committed and its
// events are published, in order; else nothing happened.
func (s *Store) Write(ctx context.Context, do func(*Tx) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	s.last = max(s.last, s.now().UnixMilli())
	tx := &Tx{now: s.last}
	err := s.db.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		tx.db, tx.events = db, nil
		if err := do(tx); err != nil {
			return err
		}
		return tx.number()
	})
	if err != nil {
		return translate(err)
	}
	if len(tx.events) > 0 {
		s.publish(tx.events...)
	}
	return nil
}

// Now is the time of the transaction in Unix milliseconds.
func (tx *Tx) Now() int64 { return tx.now }

// translate gives a person words for what a disk does to a database.
func translate(err error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return ErrNotFound
	}
	var sqlite interface {
		error
		Code() int
	}
	if !errors.As(err, &sqlite) {
		return err
	}
	switch sqlite.Code() & 0xff { // the rest says where
	case 8:
		return fault.Wrap(fault.Unavailable, "The database may not be written.", "Make the data folder and the files in it writable.", err)
	case 10:
		return fault.Wrap(fault.Unavailable, "The disk with the database failed.", "See whether it is full or broken, then try again.", err)
	case 11, 26:
		return fault.Wrap(fault.Broken, "The database is damaged.", "Quit, keep a copy of the data folder, and put a file from the folder backups in the place of gofer.db.", err)
	case 13:
		return fault.Wrap(fault.Unavailable, "The disk is full.", "Free some space, then try again. What is stored is safe.", err)
	}
	return err
}

// Version returns the version of the SQLite library.
func (s *Store) Version(ctx context.Context) (string, error) {
	var version string
	err := s.sql.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version)
	return version, err
}

// Still runs read while nothing is written, so that several reads agree with
// each other and with the last event that was told.
func (s *Store) Still(read func() error) error {
	s.write.Lock()
	defer s.write.Unlock()
	return read()
}
