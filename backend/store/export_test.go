package store

import (
	"context"
)

// Pragmas reads pragmas on one pooled connection.
func (s *Store) Pragmas(ctx context.Context, names ...string) ([]string, error) {
	conn, err := s.sql.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	out := make([]string, len(names))
	for i, name := range names {
		if err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PretendNewer writes the schema version of a later program.
func (s *Store) PretendNewer(ctx context.Context) error {
	_, err := s.sql.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	return err
}
