package storetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// ErrFull and ErrIO are what SQLite says of a full disk and of one that fails.
var (
	ErrFull error = diskError{13, "database or disk is full"}
	ErrIO   error = diskError{10, "disk I/O error"}
)

type diskError struct {
	code int
	text string
}

func (e diskError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }

// Code is the number of the error, as the driver's errors have it.
func (e diskError) Code() int { return e.code }

// Faults is a driver around that of SQLite whose writes can be made to fail. A
// write is a statement that changes rows, or a commit; a commit that fails has
// rolled back, as that of SQLite has.
type Faults struct {
	Driver string // for store.Options

	mu    sync.Mutex
	count int
	hit   int
	at    int
	stays bool
	err   error
}

var drivers atomic.Int32

// NewFaults registers a driver that lets every write pass.
func NewFaults(t testing.TB) *Faults {
	t.Helper()
	plain, err := sql.Open("sqlite", "")
	if err != nil {
		t.Fatal(err)
	}
	f := &Faults{Driver: fmt.Sprintf("sqlite-faults-%d", drivers.Add(1))}
	sql.Register(f.Driver, faultDriver{plain.Driver(), f})
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// At makes the n-th write from now fail, counted from 1, and with stays every
// one after it too.
func (f *Faults) At(n int, stays bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count, f.hit, f.at, f.stays, f.err = 0, 0, n, stays, err
}

// Off lets every write pass again, and goes on counting.
func (f *Faults) Off() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = 0
}

// Seen returns how many writes there were since At, and how many of them failed.
func (f *Faults) Seen() (writes, failed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count, f.hit
}

func (f *Faults) write() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if f.at == 0 || f.count < f.at || f.count > f.at && !f.stays {
		return nil
	}
	f.hit++
	return f.err
}

func (f *Faults) statement(query string) error {
	word, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	switch strings.ToUpper(word) {
	case "INSERT", "UPDATE", "DELETE":
		return f.write()
	}
	return nil
}

type faultDriver struct {
	driver.Driver
	faults *Faults
}

func (d faultDriver) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &faultConn{c, d.faults}, nil
}

// faultConn passes on what the driver of SQLite can do.
type faultConn struct {
	driver.Conn
	faults *Faults
}

func (c *faultConn) Ping(ctx context.Context) error { return c.Conn.(driver.Pinger).Ping(ctx) }

func (c *faultConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &faultStmt{s, query, c.faults}, nil
}

func (c *faultConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.faults.statement(query); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *faultConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.faults.statement(query); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *faultConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	return faultTx{tx, c.faults}, nil
}

type faultTx struct {
	driver.Tx
	faults *Faults
}

func (t faultTx) Commit() error {
	if err := t.faults.write(); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Tx.Commit()
}

type faultStmt struct {
	driver.Stmt
	query  string
	faults *Faults
}

func (s *faultStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.faults.statement(s.query); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *faultStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.faults.statement(s.query); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}
