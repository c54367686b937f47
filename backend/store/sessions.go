package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"gorm.io/gorm"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/id"
)

// Listed is a session with what lists show beside it.
type Listed struct {
	Session
	Run   *Run   // speaks for the session; nil without a run
	Match string // text around a search hit
}

// CreateSession stores a new session; id, owner and times are filled in.
func (s *Store) CreateSession(ctx context.Context, row Session) (Session, error) {
	row.ID, row.OwnerID, row.Seen = id.New(), Owner, true
	err := s.Write(ctx, func(tx *Tx) error {
		row.CreatedAt, row.UpdatedAt = tx.now, tx.now
		if err := tx.db.Create(&row).Error; err != nil {
			return fmt.Errorf("store session: %w", err)
		}
		return tx.emitSession(row.ID)
	})
	return row, err
}

// Session returns a session that is not deleted, with the run that speaks for it.
func (s *Store) Session(ctx context.Context, sessionID string) (Listed, error) {
	row, err := get[Session](s.db.WithContext(ctx), sessionID)
	if err == nil && row.DeletedAt != 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Listed{}, err
	}
	run, err := foremost(s.db.WithContext(ctx), sessionID)
	return Listed{Session: row, Run: run}, err
}

// ChangeSession writes the given columns of a session and tells the lists.
func (s *Store) ChangeSession(ctx context.Context, sessionID string, columns map[string]any) error {
	return s.Write(ctx, func(tx *Tx) error {
		result := tx.db.Model(&Session{}).Where("id = ? AND deleted_at = 0", sessionID).Updates(columns)
		if result.Error != nil {
			return fmt.Errorf("change session: %w", result.Error)
		}
		if result.RowsAffected == 0 {
			return ErrNotFound
		}
		return tx.emitSession(sessionID)
	})
}

// NameSession gives a session a title that was made for it, unless somebody has
// given it one.
func (s *Store) NameSession(ctx context.Context, sessionID, title string) error {
	return s.Write(ctx, func(tx *Tx) error {
		result := tx.db.Model(&Session{}).Where("id = ? AND deleted_at = 0 AND auto_title = 1", sessionID).Update("title", title)
		if result.Error != nil {
			return fmt.Errorf("name session: %w", result.Error)
		}
		if result.RowsAffected == 0 {
			return nil
		}
		return tx.emitSession(sessionID)
	})
}

// DeleteSession takes a session out of every list. It can be restored until
// Purge removes it for good.
func (s *Store) DeleteSession(ctx context.Context, sessionID string) error {
	return s.Write(ctx, func(tx *Tx) error {
		result := tx.db.Model(&Session{}).Where("id = ? AND deleted_at = 0", sessionID).Update("deleted_at", tx.now)
		if result.Error != nil {
			return fmt.Errorf("delete session: %w", result.Error)
		}
		if result.RowsAffected == 0 {
			return ErrNotFound
		}
		return tx.Emit(sessionID, "", event.SessionDeleted{ID: sessionID})
	})
}

// RestoreSession brings a deleted session back.
func (s *Store) RestoreSession(ctx context.Context, sessionID string) error {
	return s.Write(ctx, func(tx *Tx) error {
		result := tx.db.Model(&Session{}).Where("id = ? AND deleted_at <> 0", sessionID).Update("deleted_at", 0)
		if result.Error != nil {
			return fmt.Errorf("restore session: %w", result.Error)
		}
		if result.RowsAffected == 0 {
			return ErrNotFound
		}
		return tx.emitSession(sessionID)
	})
}

// Purge removes the sessions that were deleted before a time, with all they own.
func (s *Store) Purge(ctx context.Context, deletedBefore int64) error {
	err := s.Write(ctx, func(tx *Tx) error {
		var gone []string
		if err := tx.db.Model(&Session{}).Where("deleted_at <> 0 AND deleted_at < ?", deletedBefore).Pluck("id", &gone).Error; err != nil {
			return err
		}
		if len(gone) == 0 {
			return nil
		}
		if err := tx.db.Where("session_id IN ?", gone).Delete(&eventRow{}).Error; err != nil {
			return err
		}
		return tx.db.Where("id IN ?", gone).Delete(&Session{}).Error
	})
	if err != nil {
		return fmt.Errorf("purge sessions: %w", err)
	}
	return s.dropLooseBlobs(ctx)
}

// Sessions lists sessions, newest first. A search looks in titles and in what
// people and models said.
func (s *Store) Sessions(ctx context.Context, search string, limit, offset int) ([]Listed, error) {
	db := s.db.WithContext(ctx)
	var rows []struct {
		Session
		Hit string
	}
	query, args := `SELECT s.*, '' AS hit FROM agent_sessions s WHERE owner_id = ? AND deleted_at = 0`, []any{Owner}
	if search = strings.TrimSpace(search); search != "" {
		like := "%" + likeEscape(search) + "%"
		hits := `SELECT session_id, MAX(num) AS num FROM agent_messages WHERE role IN ('user', 'assistant') AND content LIKE ? ESCAPE '\' GROUP BY session_id`
		hitArg := like
		if len([]rune(search)) >= 3 {
			hits = `SELECT m.session_id, MAX(m.num) AS num FROM message_text t JOIN agent_messages m ON m.num = t.rowid WHERE message_text MATCH ? GROUP BY m.session_id`
			hitArg = `"` + strings.ReplaceAll(search, `"`, `""`) + `"`
		}
		query = `SELECT s.*, COALESCE((SELECT content FROM agent_messages m WHERE m.num = h.num), '') AS hit
			FROM agent_sessions s LEFT JOIN (` + hits + `) h ON h.session_id = s.id
			WHERE owner_id = ? AND deleted_at = 0 AND (h.num IS NOT NULL OR title LIKE ? ESCAPE '\')`
		args = []any{hitArg, Owner, like}
	}
	query += ` ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?`
	if err := db.Raw(query, append(args, limit, offset)...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	out := make([]Listed, len(rows))
	for i, r := range rows {
		run, err := foremost(db, r.ID)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		out[i] = Listed{Session: r.Session, Run: run, Match: around(r.Hit, search, 60)}
	}
	return out, nil
}

func likeEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// around cuts text to a few runes before the first hit, which so shows in a
// narrow list, and more after it.
func around(text, search string, reach int) string {
	if text == "" || search == "" {
		return ""
	}
	runes, want := []rune(strings.ToLower(text)), []rune(strings.ToLower(search))
	at := -1
	for i := 0; i+len(want) <= len(runes); i++ {
		if string(runes[i:i+len(want)]) == string(want) {
			at = i
			break
		}
	}
	whole := []rune(text)
	if at < 0 || len(whole) != len(runes) {
		at = 0
	}
	from, to := max(0, at-12), min(len(whole), at+len(want)+reach)
	cut := strings.Join(strings.Fields(string(whole[from:to])), " ")
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(whole) {
		cut += "…"
	}
	return cut
}

// Messages returns the messages of a session before a seq (0: the newest), in
// order, about limit of them (negative: all), cut where a run begins, and
// whether there are older ones.
func (s *Store) Messages(ctx context.Context, sessionID string, before int64, limit int) ([]chat.Message, bool, error) {
	q := s.db.WithContext(ctx).Where("session_id = ?", sessionID)
	if before > 0 {
		q = q.Where("seq < ?", before)
	}
	if limit >= 0 {
		first, err := s.cut(ctx, sessionID, before, limit)
		if err != nil {
			return nil, false, fmt.Errorf("read messages: %w", err)
		}
		q = q.Where("seq >= ?", first)
	}
	out, err := messages(q.Order("seq"))
	return out, len(out) > 0 && out[0].Seq > 1, err
}

// Context returns what a run works on: the messages of the runs before it, run
// by run in the order of their prompts, then its own. A prompt is stored when
// it is accepted, so one that waited stands among the messages of the run
// before it. Prompts still waiting, and runs that ended with the reason
// without, are left out.
func (s *Store) Context(ctx context.Context, run Run, without string) ([]chat.Message, error) {
	return messages(s.db.WithContext(ctx).Joins("JOIN runs r ON r.id = agent_messages.run_id").
		Where("agent_messages.session_id = ? AND r.parent_id = ''", run.SessionID).
		Where("r.id = @id OR ((r.created_at, r.id) < (@at, @id) AND r.state <> 'queued' AND r.reason <> @without)",
			sql.Named("id", run.ID), sql.Named("at", run.CreatedAt), sql.Named("without", without)).
		Order("r.created_at, r.id, agent_messages.seq"))
}

// messages reads the rows of a query over agent_messages. They are scanned by
// hand, because a long transcript is read at the start of every run.
func messages(q *gorm.DB) ([]chat.Message, error) {
	rows, err := q.Model(&messageRow{}).Select("agent_messages.*").Rows()
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	defer rows.Close()
	var out []chat.Message
	for rows.Next() {
		var r messageRow
		if err := rows.Scan(&r.Num, &r.ID, &r.OwnerID, &r.SessionID, &r.RunID, &r.Seq, &r.Role, &r.Content, &r.Reasoning, &r.Parts,
			&r.ToolCalls, &r.ToolCallID, &r.Result, &r.Model, &r.Finish, &r.Usage, &r.Replay, &r.CreatedAt); err != nil {
			return nil, fmt.Errorf("read messages: %w", err)
		}
		m, err := r.message()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	return out, nil
}

// cut returns the seq of the prompt at or before the limit-th newest message,
// so that a page never begins inside a run.
func (s *Store) cut(ctx context.Context, sessionID string, before int64, limit int) (int64, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	var first int64
	err := s.db.WithContext(ctx).Raw(`SELECT COALESCE((SELECT MAX(seq) FROM agent_messages WHERE session_id = @session AND role = 'user' AND seq <=
		(SELECT seq FROM agent_messages WHERE session_id = @session AND seq < @before ORDER BY seq DESC LIMIT 1 OFFSET @offset)), 0)`,
		sql.Named("session", sessionID), sql.Named("before", before), sql.Named("offset", max(limit, 1)-1)).Scan(&first).Error
	return first, err
}
