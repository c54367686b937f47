package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/glebarez/sqlite"
)

// connect makes the pool of connections to the database. Whatever a statement
// is given goes through hide, so that nothing reaches the file or its log past it.
func connect(name, dsn string, hide func(string) string) (*sql.DB, error) {
	if name == "" {
		name = sqlite.DriverName
	}
	pool, err := sql.Open(name, dsn)
	if err != nil || hide == nil {
		return pool, err
	}
	d := pool.Driver()
	if err := pool.Close(); err != nil { // it has opened nothing yet
		return nil, err
	}
	return sql.OpenDB(connector{driver: d, dsn: dsn, hide: hide}), nil
}

type connector struct {
	driver driver.Driver
	dsn    string
	hide   func(string) string
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		opened.Close()
		return nil, fmt.Errorf("the connection %T lacks a method", opened)
	}
	return hidingConn{conn, c.hide}, nil
}

// sqliteConn is what the driver's connections can do.
type sqliteConn interface {
	driver.Conn
	driver.Pinger
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// hidingConn sees every argument of every statement.
type hidingConn struct {
	sqliteConn
	hide func(string) string
}

// CheckNamedValue changes an argument and leaves its check to the usual one.
func (c hidingConn) CheckNamedValue(v *driver.NamedValue) error {
	plain, err := driver.DefaultParameterConverter.ConvertValue(v.Value)
	if err != nil {
		return err
	}
	v.Value = plain
	switch x := plain.(type) {
	case string:
		v.Value = c.hide(x)
	case []byte:
		if text := c.hide(string(x)); text != string(x) {
			v.Value = []byte(text)
		}
	}
	return nil
}
