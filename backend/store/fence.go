package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/id"
)

// Fence is the right to write for a run. Each commit checks the run's epoch,
// the next step number and that nobody asked to stop; a stale owner gets
// ErrStale and has written nothing. It belongs to one goroutine.
type Fence struct {
	store     *Store
	SessionID string
	RunID     string
	epoch     int
	next      int
}

// Commit is one fenced transaction of a run: what happened, and its events.
type Commit struct {
	tx    *Tx
	f     *Fence
	next  int
	sets  string // further columns of the run, changed with the fence's own
	with  []any
	calls int // started in this commit
}

// set changes columns of the run when the commit ends.
func (c *Commit) set(columns string, values ...any) {
	c.sets += ", " + columns
	c.with = append(c.with, values...)
}

// Commit runs do in one fenced transaction.
func (f *Fence) Commit(ctx context.Context, do func(*Commit) error) error {
	c := &Commit{f: f}
	err := f.store.Write(ctx, func(tx *Tx) error {
		*c = Commit{f: f, tx: tx, next: f.next}
		if err := do(c); err != nil {
			return err
		}
		if c.calls > 0 {
			c.set("calls = calls + ?", c.calls)
		}
		result := tx.db.Exec(`UPDATE runs SET next_step = ?`+c.sets+` WHERE id = ? AND epoch = ? AND next_step = ? AND cancel_at = 0 AND state IN ('running', 'awaiting_user', 'queued')`,
			slices.Concat([]any{c.next}, c.with, []any{f.RunID, f.epoch, f.next})...)
		if result.Error != nil {
			return fmt.Errorf("commit step: %w", result.Error)
		}
		if result.RowsAffected == 0 {
			return ErrStale
		}
		return nil
	})
	if err == nil {
		f.next = c.next
	}
	return err
}

// Emit adds an event of the run.
func (c *Commit) Emit(data event.Data) error {
	return c.tx.Emit(c.f.SessionID, c.f.RunID, data)
}

// Now is the time of the commit in Unix milliseconds.
func (c *Commit) Now() int64 { return c.tx.now }

// Iteration writes the number of the model call that begins.
func (c *Commit) Iteration(n int) { c.set("iteration = ?", n) }

// Model writes which model answers the run from here on.
func (c *Commit) Model(provider, model string) { c.set("provider = ?, model = ?", provider, model) }

// Reply stores a model reply whole, with its calls, as the run's next step,
// and adds its usage to the run.
func (c *Commit) Reply(m chat.Message, total chat.Usage, startedAt int64) (chat.Message, error) {
	m.SessionID, m.RunID, m.Role = c.f.SessionID, c.f.RunID, chat.Assistant
	m, err := c.tx.addMessage(m)
	if err != nil {
		return m, err
	}
	step := Step{Kind: ReplyStep, State: chat.CallSucceeded, MessageID: m.ID, StartedAt: startedAt, FinishedAt: c.tx.now}
	if err := c.addStep(step); err != nil {
		return m, err
	}
	raw, err := json.Marshal(total)
	if err != nil {
		return m, err
	}
	c.set("usage = ?", string(raw))
	return m, c.Emit(event.MessageFinished{Message: m})
}

// StartCall stores that a call of the reply messageID begins now.
func (c *Commit) StartCall(messageID string, call chat.ToolCall, title, effect string) error {
	step := Step{Kind: CallStep, State: chat.CallStarted, MessageID: messageID, CallID: call.ID, Name: call.Name, Title: title, Effect: effect, StartedAt: c.tx.now}
	if err := c.addStep(step); err != nil {
		return err
	}
	c.calls++
	return c.Emit(event.ToolStarted{Call: call, Title: title, Effect: effect})
}

// FinishCall stores the one answer of a call. A call that was never started
// (refused, unreadable) is answered the same way.
func (c *Commit) FinishCall(result chat.ToolResult) (chat.Message, error) {
	m, err := c.tx.addMessage(chat.Message{SessionID: c.f.SessionID, RunID: c.f.RunID, Role: chat.ToolRole, Result: &result})
	if err != nil {
		return m, err
	}
	err = c.tx.db.Exec("UPDATE steps SET state = ?, finished_at = ? WHERE call_id = ? AND state = 'started'", result.State, c.tx.now, result.CallID).Error
	if err != nil {
		return m, fmt.Errorf("finish call: %w", err)
	}
	return m, c.Emit(event.ToolFinished{Message: m})
}

// RecordCall keeps what a replay of a call would need.
func (c *Commit) RecordCall(callID string, record []byte) error {
	if err := c.tx.db.Exec("UPDATE steps SET record = ? WHERE call_id = ?", string(record), callID).Error; err != nil {
		return fmt.Errorf("record call: %w", err)
	}
	return nil
}

// Move changes the run between running and awaiting_user and tells the lists.
func (c *Commit) Move(to event.RunState) error {
	if err := c.tx.db.Exec("UPDATE runs SET state = ? WHERE id = ?", to, c.f.RunID).Error; err != nil {
		return err
	}
	return c.tx.emitSession(c.f.SessionID)
}

func (c *Commit) addStep(step Step) error {
	step.ID, step.OwnerID, step.SessionID, step.RunID = id.New(), Owner, c.f.SessionID, c.f.RunID
	step.Number, step.Epoch = c.next, c.f.epoch
	c.next++
	if err := c.tx.db.Create(&step).Error; err != nil {
		return fmt.Errorf("store step: %w", err)
	}
	return nil
}

// Steps returns the steps of a run in their order.
func (s *Store) Steps(ctx context.Context, runID string) ([]Step, error) {
	var steps []Step
	if err := s.db.WithContext(ctx).Where("run_id = ?", runID).Order("number").Find(&steps).Error; err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	return steps, nil
}

// OpenSteps returns the calls of a session that have started and not ended,
// those a dead process left behind among them.
func (s *Store) OpenSteps(ctx context.Context, sessionID string) ([]Step, error) {
	var steps []Step
	err := s.db.WithContext(ctx).Where("session_id = ? AND kind = 'call' AND state IN ('started', 'unknown') AND finished_at = 0", sessionID).Order("number").Find(&steps).Error
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	return steps, nil
}
