// Package logbook is the log of a home: one file that rotates, and one place in
// front of it where secrets are taken out. Everything the product logs goes
// through it, and what it stores, tells and exports goes through the same
// Redactor.
package logbook

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"
)

// Book is an open log.
type Book struct {
	Redactor
	path string
	out  *lumberjack.Logger
	to   *Writer // in front of out
	log  *slog.Logger
}

// Open opens gofer.log in a folder, which it makes. The file is cut at 5 MB and
// three old ones are kept; all are the person's alone.
func Open(dir string, level slog.Leveler) (*Book, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	path := filepath.Join(dir, "gofer.log")
	// The file is made here, so that it is private from its first byte.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	b := &Book{path: path, out: &lumberjack.Logger{Filename: path, MaxSize: 5, MaxBackups: 3}}
	b.to = b.Writer(b.out)
	b.log = slog.New(slog.NewTextHandler(b.to, &slog.HandlerOptions{Level: level}))
	return b, nil
}

// Discard is a book that keeps nothing, for tests and for a folder that cannot
// be written.
func Discard() *Book {
	return &Book{log: slog.New(slog.DiscardHandler)}
}

// Log is the logger of the book.
func (b *Book) Log() *slog.Logger { return b.log }

// Path is where the log lies, "" for one that keeps nothing.
func (b *Book) Path() string { return b.path }

// Output is where other libraries may write their log lines.
func (b *Book) Output() io.Writer {
	if b.out == nil {
		return io.Discard
	}
	return b.to
}

// Close closes the file.
func (b *Book) Close() error {
	if b.out == nil {
		return nil
	}
	return errors.Join(b.to.Flush(), b.out.Close())
}
