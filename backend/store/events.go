package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"gofer/backend/chat"
	"gofer/backend/event"
)

// Emit adds an event to the transaction. It gets the next seq of its session
// when the transaction ends, is stored with it, and is published after the
// commit. Events of no session have a sequence of their own.
func (tx *Tx) Emit(sessionID, runID string, data event.Data) error {
	e := event.Of(sessionID, runID, data)
	e.At = tx.now
	tx.events = append(tx.events, e)
	return nil
}

// number gives the events of the transaction their places and stores them:
// two statements for each session, however many there are.
func (tx *Tx) number() error {
	bySession := map[string][]int{}
	var order []string
	for i, e := range tx.events {
		if bySession[e.SessionID] == nil {
			order = append(order, e.SessionID)
		}
		bySession[e.SessionID] = append(bySession[e.SessionID], i)
	}
	for _, sessionID := range order {
		places := bySession[sessionID]
		last, err := tx.reserve(sessionID, int64(len(places)))
		if err != nil {
			return fmt.Errorf("number events: %w", err)
		}
		columns := make([]any, 0, 7*len(places))
		for n, i := range places {
			e := &tx.events[i]
			e.Seq = last - int64(len(places)-1-n)
			raw, err := json.Marshal(reference(e.Data))
			if err != nil {
				return fmt.Errorf("write event %s: %w", e.Type, err)
			}
			columns = append(columns, sessionID, e.Seq, Owner, e.RunID, e.Type, e.At, string(raw))
		}
		values := strings.Repeat(", (?, ?, ?, ?, ?, ?, ?)", len(places))[2:]
		if err := tx.db.Exec("INSERT INTO events (session_id, seq, owner_id, run_id, type, at, data) VALUES "+values, columns...).Error; err != nil {
			return fmt.Errorf("store events: %w", err)
		}
	}
	return nil
}

// reserve takes n places in a session's sequence and returns the last of them.
func (tx *Tx) reserve(sessionID string, n int64) (int64, error) {
	if sessionID == "" {
		var last int64
		err := tx.db.Model(&eventRow{}).Where("session_id = ''").Select("COALESCE(MAX(seq), 0)").Scan(&last).Error
		return last + n, err
	}
	var seq int64
	err := tx.db.Raw("UPDATE agent_sessions SET event_seq = event_seq + ? WHERE id = ? RETURNING event_seq", n, sessionID).Scan(&seq).Error
	if err == nil && seq == 0 {
		err = ErrNotFound
	}
	return seq, err
}

// Events returns the stored events of a session after a seq, in order; with
// types, only those.
func (s *Store) Events(ctx context.Context, sessionID string, after int64, types ...string) ([]event.Envelope, error) {
	var rows []eventRow
	q := s.db.WithContext(ctx).Where("session_id = ? AND seq > ?", sessionID, after)
	if len(types) > 0 {
		q = q.Where("type IN ?", types)
	}
	if err := q.Order("seq").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	out := make([]event.Envelope, 0, len(rows))
	lacking := map[string][]int{} // events by the id of the message they carry
	for _, r := range rows {
		data, err := event.Decode(r.Type, json.RawMessage(r.Data))
		if err != nil {
			return nil, fmt.Errorf("read event %d: %w", r.Seq, err)
		}
		if c, ok := data.(event.Carrier); ok {
			if m := c.Carried(); m.Role == "" {
				lacking[m.ID] = append(lacking[m.ID], len(out))
			}
		}
		out = append(out, event.Envelope{Seq: r.Seq, Type: r.Type, SessionID: r.SessionID, RunID: r.RunID, Lane: r.Lane, At: r.At, Data: data})
	}
	if len(lacking) == 0 {
		return out, nil
	}
	carried, err := messages(s.db.WithContext(ctx).Where("session_id = ?", sessionID))
	if err != nil {
		return nil, err
	}
	for _, m := range carried {
		for _, i := range lacking[m.ID] {
			out[i].Data = out[i].Data.(event.Carrier).Carry(m)
		}
	}
	return out, nil
}

// Asked returns the question or the approval that a run asked last, as the
// person was shown it. ErrNotFound says that it never asked, or was answered.
// What was put aside without an answer still counts.
func (s *Store) Asked(ctx context.Context, run Run) (event.Data, error) {
	var rows []eventRow
	err := s.db.WithContext(ctx).Where("session_id = ? AND run_id = ? AND type IN ?", run.SessionID, run.ID,
		[]string{event.ApprovalAsked{}.EventType(), event.ApprovalAnswered{}.EventType(), event.ClarificationAsked{}.EventType(), event.ClarificationAnswered{}.EventType()}).Order("seq DESC").Limit(1).Find(&rows).Error
	switch {
	case err != nil:
		return nil, fmt.Errorf("read what was asked: %w", err)
	case len(rows) == 0:
		return nil, ErrNotFound
	}
	data, err := event.Decode(rows[0].Type, json.RawMessage(rows[0].Data))
	if err != nil {
		return nil, fmt.Errorf("read what was asked: %w", err)
	}
	switch data.(type) {
	case event.ApprovalAsked, event.ClarificationAsked:
		return data, nil
	}
	return nil, ErrNotFound
}

// reference returns what is stored of a payload: a message that it carries has
// a row of its own, and only its id is written again.
func reference(data event.Data) event.Data {
	c, ok := data.(event.Carrier)
	if !ok {
		return data
	}
	m := c.Carried()
	return c.Carry(chat.Message{ID: m.ID, SessionID: m.SessionID, RunID: m.RunID, Seq: m.Seq, CreatedAt: m.CreatedAt})
}

// emitSession tells what lists show of a session.
func (tx *Tx) emitSession(sessionID string) error {
	s, err := get[Session](tx.db, sessionID)
	if err != nil {
		return err
	}
	head := event.SessionChanged{ID: s.ID, Title: s.Title, Seen: s.Seen, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
	run, err := foremost(tx.db, sessionID)
	if err != nil {
		return err
	}
	if run != nil {
		head.State, head.Reason = string(run.State), run.Reason
		if run.State == event.RunIsRunning || run.State == event.RunIsAwaiting {
			head.StartedAt = run.StartedAt
		}
	}
	return tx.Emit(sessionID, "", head)
}

// foremost returns the run that speaks for a session: the one at work, else
// the next in the queue, else the latest; nil without any.
func foremost(db *gorm.DB, sessionID string) (*Run, error) {
	open, err := unfinished(db, sessionID)
	if err != nil {
		return nil, err
	}
	for _, states := range [][]event.RunState{{event.RunIsRunning, event.RunIsAwaiting}, {event.RunIsQueued}} {
		for i := range open {
			if slices.Contains(states, open[i].State) && open[i].ParentID == "" {
				return &open[i], nil
			}
		}
	}
	var latest []Run
	err = db.Where("session_id = ? AND parent_id = ''", sessionID).Order("created_at DESC, id DESC").Limit(1).Find(&latest).Error
	if err != nil || len(latest) == 0 {
		return nil, err
	}
	return &latest[0], nil
}

// unfinished returns the runs of a session that may still go on, oldest first.
// The list of states is that of the index, word for word, so that it is used.
func unfinished(db *gorm.DB, sessionID string) ([]Run, error) {
	var runs []Run
	err := db.Where("session_id = ? AND state IN ('queued', 'running', 'awaiting_user', 'interrupted')", sessionID).Order("created_at, id").Find(&runs).Error
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return runs, nil
}

func get[T any](db *gorm.DB, id string) (T, error) {
	var row T
	err := db.Where("id = ?", id).Take(&row).Error
	return row, translate(err)
}
