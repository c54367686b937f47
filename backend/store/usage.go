package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"gofer/backend/chat"
)

// UsageRow is what one reply has used.
type UsageRow struct {
	At    int64
	Model string
	Usage chat.Usage
}

// PutUsage keeps what a request beside a run has used for a session.
func (s *Store) PutUsage(ctx context.Context, sessionID, purpose, model string, u chat.Usage) error {
	raw, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(tx *Tx) error {
		err := tx.db.Exec("INSERT INTO side_usage (session_id, owner_id, purpose, model, usage, created_at) VALUES (?, ?, ?, ?, ?, ?)",
			sessionID, Owner, purpose, model, string(raw), tx.now).Error
		if err != nil {
			return fmt.Errorf("store usage: %w", err)
		}
		return nil
	})
}

// Usage returns what each reply since a time has used, oldest first, those to
// requests beside a run among them.
func (s *Store) Usage(ctx context.Context, since int64) ([]UsageRow, error) {
	var rows []struct {
		At           int64
		Model, Usage string
	}
	err := s.db.WithContext(ctx).Raw(`SELECT created_at AS at, model, usage FROM agent_messages WHERE created_at >= @since AND usage <> ''
		UNION ALL SELECT created_at, model, usage FROM side_usage WHERE created_at >= @since ORDER BY 1`, sql.Named("since", since)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	out := make([]UsageRow, len(rows))
	for i, r := range rows {
		out[i] = UsageRow{At: r.At, Model: r.Model}
		if err := decode(r.Usage, &out[i].Usage); err != nil {
			return nil, fmt.Errorf("read usage: %w", err)
		}
	}
	return out, nil
}
