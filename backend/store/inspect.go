package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"gofer/backend/fault"
)

// inspection is the most time that a start spends on looking for damage. The
// rest of a very large database shows it at the first use.
const inspection = 500 * time.Millisecond

// smallest is the size of the smallest page, and so of any database.
const smallest = 512

// inspect looks at a database before anything may write to it: the last one who
// closes a database moves what is in its log into the file, and a log that
// belongs to another file would be the end of it. fs.ErrNotExist says that there
// is none.
func inspect(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return brokenFile(path, err)
	case info.Size() == 0:
		return brokenFile(path, errors.New("the file is empty"))
	case info.Size() < smallest: // SQLite would take it for a new one
		return brokenFile(path, errors.New("the file is no database"))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		return fault.Wrap(fault.Unavailable, fmt.Sprintf("The database %s may not be written.", path), "Make the file writable for you. It was left as it is.", err)
	}
	if err != nil {
		return brokenFile(path, err)
	}
	_ = f.Close()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}).String())
	if err != nil {
		return brokenFile(path, err)
	}
	defer db.Close()
	if err := checkOwner(ctx, db); err != nil {
		return brokenFile(path, err)
	}
	within, cancel := context.WithTimeout(ctx, inspection)
	defer cancel()
	var found string
	err = db.QueryRowContext(within, "PRAGMA quick_check(1)").Scan(&found)
	switch {
	case within.Err() != nil && ctx.Err() == nil:
		return nil // no time for more
	case err != nil:
		return brokenFile(path, err)
	case found != "ok":
		return brokenFile(path, errors.New("it is damaged: "+found))
	}
	return nil
}

// checkOwner refuses the database of another program. One without any table is
// nobody's yet.
func checkOwner(ctx context.Context, db *sql.DB) error {
	var tables, ours int
	err := db.QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN name IN ('goose_db_version', 'agent_sessions') THEN 1 END)
		FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).Scan(&tables, &ours)
	if err != nil {
		return err
	}
	if tables > 1 && ours < 2 || tables == 1 && ours == 0 {
		return errors.New("it belongs to another program")
	}
	return nil
}
