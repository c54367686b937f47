package store

import (
	"context"
	"fmt"
)

// Grant is a row of grants: what the person has allowed, or forbidden, for a
// session.
type Grant struct {
	SessionID    string `gorm:"primaryKey"`
	OwnerID      string
	Class        string `gorm:"primaryKey"`
	Object       string `gorm:"primaryKey"`
	Folder       string `gorm:"primaryKey"`
	Prefix       bool   `gorm:"primaryKey"`
	Deny         bool   `gorm:"primaryKey"`
	Used         int
	CreatedAt    int64  `gorm:"autoCreateTime:false"`
	SessionTitle string `gorm:"->;-:migration"` // read only, from the session
}

// PutGrants stores the grants of a session in place of those that were stored.
// One that was there keeps its time.
func (s *Store) PutGrants(ctx context.Context, sessionID string, grants []Grant) error {
	return s.Write(ctx, func(tx *Tx) error {
		var before []Grant
		if err := tx.db.Where("session_id = ?", sessionID).Find(&before).Error; err != nil {
			return fmt.Errorf("read grants: %w", err)
		}
		if err := tx.db.Exec("DELETE FROM grants WHERE session_id = ?", sessionID).Error; err != nil {
			return fmt.Errorf("store grants: %w", err)
		}
		for _, g := range grants {
			at := tx.now
			for _, b := range before {
				if b.Class == g.Class && b.Object == g.Object && b.Folder == g.Folder && b.Prefix == g.Prefix && b.Deny == g.Deny {
					at = b.CreatedAt
				}
			}
			err := tx.db.Exec("INSERT INTO grants (session_id, owner_id, class, object, folder, prefix, deny, used, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				sessionID, Owner, g.Class, g.Object, g.Folder, g.Prefix, g.Deny, g.Used, at).Error
			if err != nil {
				return fmt.Errorf("store grants: %w", err)
			}
		}
		return nil
	})
}

// Grants returns the grants of all sessions that are not deleted, newest first.
func (s *Store) Grants(ctx context.Context) ([]Grant, error) {
	var rows []Grant
	err := s.db.WithContext(ctx).Raw(`SELECT g.*, s.title AS session_title FROM grants g JOIN agent_sessions s ON s.id = g.session_id
		WHERE s.deleted_at = 0 ORDER BY g.created_at DESC, g.class, g.object`).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	return rows, nil
}
