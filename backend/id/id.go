// Package id makes the ids of every stored thing: UUIDv7 as text, so that ids
// sort by the time they were made (RFC 9562, section 5.7).
package id

import "github.com/google/uuid"

// New returns a fresh UUIDv7 in its 36-character text form. Ids made by one
// process are strictly increasing.
func New() string { return uuid.Must(uuid.NewV7()).String() }

// Valid reports whether s is the text of a UUID.
func Valid(s string) bool {
	return len(s) == 36 && uuid.Validate(s) == nil
}
