package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gorm.io/gorm/clause"

	"gofer/backend/chat"
)

// PutBlob keeps bytes under their content hash for a session. The file is on
// disk before the row says so.
func (s *Store) PutBlob(ctx context.Context, sessionID string, a chat.Artifact, data []byte) (chat.Artifact, error) {
	sum := sha256.Sum256(data)
	a.Blob, a.Size = hex.EncodeToString(sum[:]), int64(len(data))
	path := s.blobPath(a.Blob)
	if _, err := os.Stat(path); err != nil {
		if err := writeWhole(path, data); err != nil {
			return a, fmt.Errorf("keep %s: %w", a.Name, err)
		}
	}
	err := s.Write(ctx, func(tx *Tx) error {
		row := blobRow{Hash: a.Blob, OwnerID: Owner, Name: a.Name, Media: a.Media, Size: a.Size, CreatedAt: tx.now}
		if err := tx.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error; err != nil {
			return err
		}
		return tx.db.Exec("INSERT OR IGNORE INTO session_blobs (session_id, hash) VALUES (?, ?)", sessionID, a.Blob).Error
	})
	if err != nil {
		return a, fmt.Errorf("keep %s: %w", a.Name, err)
	}
	return a, nil
}

// Blob returns kept bytes and what they are.
func (s *Store) Blob(ctx context.Context, hash string) (chat.Artifact, []byte, error) {
	var row blobRow
	if err := s.db.WithContext(ctx).Where("hash = ?", hash).Take(&row).Error; err != nil {
		return chat.Artifact{}, nil, translate(err)
	}
	data, err := os.ReadFile(s.blobPath(row.Hash))
	if err != nil {
		return chat.Artifact{}, nil, fmt.Errorf("read blob %s: %w", hash, err)
	}
	return chat.Artifact{Blob: row.Hash, Name: row.Name, Media: row.Media, Size: row.Size}, data, nil
}

// dropLooseBlobs removes bytes that no session owns any more.
func (s *Store) dropLooseBlobs(ctx context.Context) error {
	var loose []string
	err := s.Write(ctx, func(tx *Tx) error {
		return tx.db.Raw("DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM session_blobs b WHERE b.hash = blobs.hash) RETURNING hash").Scan(&loose).Error
	})
	if err != nil {
		return fmt.Errorf("drop blobs: %w", err)
	}
	for _, hash := range loose {
		if err := os.Remove(s.blobPath(hash)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("drop blob: %w", err)
		}
	}
	return nil
}

func (s *Store) blobPath(hash string) string {
	return filepath.Join(s.blobs, hash[:2], hash)
}

// writeWhole writes a file so that it is there whole or not at all.
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
