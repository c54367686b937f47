package store

import (
	"context"
	"fmt"

	"gofer/backend/chat"
)

// UsageRow is what one reply has used.
type UsageRow struct {
	At    int64
	Model string
	Usage chat.Usage
}

// Usage returns what each reply since a time has used, oldest first.
func (s *Store) Usage(ctx context.Context, since int64) ([]UsageRow, error) {
	var rows []messageRow
	err := s.db.WithContext(ctx).Select("created_at", "model", "usage").
		Where("created_at >= ? AND usage <> ''", since).Order("created_at, num").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	out := make([]UsageRow, len(rows))
	for i, r := range rows {
		out[i] = UsageRow{At: r.CreatedAt, Model: r.Model}
		if err := decode(r.Usage, &out[i].Usage); err != nil {
			return nil, fmt.Errorf("read usage: %w", err)
		}
	}
	return out, nil
}
