package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/id"
)

// Enqueue accepts a prompt: its message, its queued run and the events that
// say so are one transaction. The session's title is set from the prompt while
// it is still the provisional one.
func (s *Store) Enqueue(ctx context.Context, run Run, prompt chat.Message, title string) (Run, error) {
	run.ID, run.OwnerID, run.State = id.New(), Owner, event.RunIsQueued
	run.Epoch, run.NextStep, run.Usage = 1, 1, "{}"
	prompt.ID, prompt.SessionID, prompt.RunID, prompt.Role = id.New(), run.SessionID, run.ID, chat.User
	run.PromptID = prompt.ID
	err := s.Write(ctx, func(tx *Tx) error {
		session, err := get[Session](tx.db, run.SessionID)
		if err == nil && session.DeletedAt != 0 {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		var ahead int64
		if err := tx.db.Model(&Run{}).Where("session_id = ? AND state IN ('queued', 'running', 'awaiting_user')", run.SessionID).Count(&ahead).Error; err != nil {
			return err
		}
		run.CreatedAt = tx.now
		if err := tx.db.Create(&run).Error; err != nil {
			return fmt.Errorf("store run: %w", err)
		}
		if prompt, err = tx.addMessage(prompt); err != nil {
			return err
		}
		change := map[string]any{"updated_at": tx.now, "seen": true}
		if session.AutoTitle && session.MessageSeq == 0 && title != "" {
			change["title"] = title
		}
		if err := tx.db.Model(&Session{}).Where("id = ?", run.SessionID).Updates(change).Error; err != nil {
			return err
		}
		if err := tx.Emit(run.SessionID, run.ID, event.RunQueued{Message: prompt, Ahead: int(ahead)}); err != nil {
			return err
		}
		return tx.emitSession(run.SessionID)
	})
	return run, err
}

// Run returns a run.
func (s *Store) Run(ctx context.Context, runID string) (Run, error) {
	return get[Run](s.db.WithContext(ctx), runID)
}

// Runs returns the runs of a session in the order of their prompts.
func (s *Store) Runs(ctx context.Context, sessionID string) ([]Run, error) {
	var runs []Run
	err := s.db.WithContext(ctx).Where("session_id = ?", sessionID).Order("created_at, id").Find(&runs).Error
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return runs, nil
}

// Interrupted returns the runs of a session that a dead process left.
func (s *Store) Interrupted(ctx context.Context, sessionID string) ([]Run, error) {
	open, err := unfinished(s.db.WithContext(ctx), sessionID)
	return slices.DeleteFunc(open, func(r Run) bool { return r.State != event.RunIsInterrupted }), err
}

// NextQueued returns the run that a session would start now: one that goes on,
// else the oldest queued one, unless another is at work. ErrNotFound without one.
func (s *Store) NextQueued(ctx context.Context, sessionID string) (Run, error) {
	open, err := unfinished(s.db.WithContext(ctx), sessionID)
	if err != nil {
		return Run{}, err
	}
	next := -1
	for i, r := range open {
		switch {
		case r.State == event.RunIsRunning || r.State == event.RunIsAwaiting:
			return Run{}, ErrNotFound
		case r.State == event.RunIsQueued && (next < 0 || r.Epoch > 1 && open[next].Epoch == 1):
			next = i
		}
	}
	if next < 0 {
		return Run{}, ErrNotFound
	}
	return open[next], nil
}

// QueuedSessions returns the sessions that have a queued run.
func (s *Store) QueuedSessions(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.db.WithContext(ctx).Raw(`SELECT DISTINCT r.session_id FROM runs r JOIN agent_sessions s ON s.id = r.session_id WHERE r.state = 'queued' AND s.deleted_at = 0`).Scan(&ids).Error
	if err != nil {
		return nil, fmt.Errorf("read queue: %w", err)
	}
	return ids, nil
}

// Route is what a run was started with; it is kept on the run's row.
type Route struct {
	Provider, ProviderName, Model, PromptVersion, ToolsHash, AppVersion string
}

// Start moves a run from queued to running and hands out the fence that its
// commits need.
func (s *Store) Start(ctx context.Context, runID string, r Route, status event.Status) (*Fence, error) {
	var f *Fence
	err := s.Write(ctx, func(tx *Tx) error {
		result := tx.db.Exec(`UPDATE runs SET state = 'running', started_at = CASE started_at WHEN 0 THEN ? ELSE started_at END,
			provider = ?, model = ?, prompt_version = ?, tools_hash = ?, app_version = ? WHERE id = ? AND state = 'queued' AND cancel_at = 0`,
			tx.now, r.Provider, r.Model, r.PromptVersion, r.ToolsHash, r.AppVersion, runID)
		if result.Error != nil {
			return fmt.Errorf("start run: %w", result.Error)
		}
		if result.RowsAffected == 0 {
			return ErrStale
		}
		run, err := get[Run](tx.db, runID)
		if err != nil {
			return err
		}
		f = &Fence{store: s, SessionID: run.SessionID, RunID: runID, epoch: run.Epoch, next: run.NextStep}
		if err := tx.Emit(run.SessionID, runID, event.RunStarted{Model: r.Model, Provider: r.ProviderName, Mode: run.Mode, MaxIterations: run.MaxIterations}); err != nil {
			return err
		}
		status.Since = run.StartedAt
		if err := tx.Emit(run.SessionID, runID, status); err != nil {
			return err
		}
		return tx.emitSession(run.SessionID)
	})
	return f, err
}

// AskToStop marks a run as to be stopped; from then on its commits are refused.
// It reports whether the run was still going.
func (s *Store) AskToStop(ctx context.Context, runID string) (bool, error) {
	going := false
	err := s.Write(ctx, func(tx *Tx) error {
		result := tx.db.Exec(`UPDATE runs SET cancel_at = ? WHERE id = ? AND cancel_at = 0 AND state IN ('queued', 'running', 'awaiting_user')`, tx.now, runID)
		going = result.RowsAffected > 0
		return result.Error
	})
	if err != nil {
		return false, fmt.Errorf("stop run: %w", err)
	}
	return going, nil
}

// End is how a run ends.
type End struct {
	State   event.RunState // completed, failed or cancelled
	Reason  string
	Problem *event.Problem
}

// Finish ends a run: the one place that does. In one transaction it bumps the
// epoch, answers every open call, writes the state and tells run.finished.
// It reports false when the run had finished before.
func (s *Store) Finish(ctx context.Context, runID string, end End) (bool, error) {
	ended := false
	err := s.Write(ctx, func(tx *Tx) error {
		run, err := get[Run](tx.db, runID)
		if err != nil {
			return err
		}
		if run.State.Final() {
			return nil
		}
		if err := tx.answerOpenCalls(run, end.State); err != nil {
			return err
		}
		problem := ""
		if err := encode(&problem, end.Problem, end.Problem != nil); err != nil {
			return err
		}
		err = tx.db.Exec(`UPDATE runs SET epoch = epoch + 1, state = ?, reason = ?, problem = ?, finished_at = ? WHERE id = ?`,
			end.State, end.Reason, problem, tx.now, runID).Error
		if err != nil {
			return fmt.Errorf("finish run: %w", err)
		}
		if err := tx.db.Exec(`UPDATE agent_sessions SET updated_at = ?, seen = 0 WHERE id = ?`, tx.now, run.SessionID).Error; err != nil {
			return err
		}
		ended = true
		return tx.tellEnd(run, end)
	})
	return ended, err
}

func (tx *Tx) tellEnd(run Run, end End) error {
	started := run.StartedAt
	if started == 0 {
		started = tx.now
	}
	status := event.Status{State: statusOf(end.State), RunID: run.ID, Iteration: run.Iteration, MaxIterations: run.MaxIterations, Error: end.Problem, Since: run.StartedAt}
	finished := event.RunFinished{
		State: end.State, Reason: end.Reason, Error: end.Problem, Iterations: run.Iteration,
		Calls: run.Calls, Usage: run.TotalUsage(), ElapsedMS: max(0, tx.now-started),
	}
	for _, e := range []event.Data{status, finished} {
		if err := tx.Emit(run.SessionID, run.ID, e); err != nil {
			return err
		}
	}
	return tx.emitSession(run.SessionID)
}

func statusOf(s event.RunState) event.State {
	switch s {
	case event.RunIsCompleted:
		return event.Complete
	case event.RunIsCancelled:
		return event.Cancelled
	}
	return event.Error
}

// Interrupt marks every run that a dead process left at work, and answers
// nothing: Continue may still go on. It returns the runs as they were found. A
// queued run is among them when one of its calls had started: it was on its way
// back from a person who had answered.
func (s *Store) Interrupt(ctx context.Context) ([]Run, error) {
	var left []Run
	err := s.Write(ctx, func(tx *Tx) error {
		left = nil
		if err := tx.db.Where(`state IN ('running', 'awaiting_user') OR state = 'queued' AND EXISTS (
			SELECT 1 FROM steps WHERE run_id = runs.id AND kind = 'call' AND steps.state = 'started')`).Order("id").Find(&left).Error; err != nil {
			return err
		}
		for _, run := range left {
			if err := tx.interrupt(run); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("mark interrupted runs: %w", err)
	}
	return left, nil
}

// Shelve marks a queued run as interrupted: it cannot go on here now.
func (s *Store) Shelve(ctx context.Context, runID string) error {
	return s.Write(ctx, func(tx *Tx) error {
		run, err := get[Run](tx.db, runID)
		if err == nil && (run.State != event.RunIsQueued || run.CancelAt != 0) {
			err = ErrStale
		}
		if err != nil {
			return err
		}
		return tx.interrupt(run)
	})
}

func (tx *Tx) interrupt(run Run) error {
	if err := tx.db.Exec("UPDATE runs SET state = 'interrupted', epoch = epoch + 1 WHERE id = ?", run.ID).Error; err != nil {
		return err
	}
	if err := tx.db.Exec("UPDATE steps SET state = 'unknown' WHERE run_id = ? AND kind = 'call' AND state = 'started'", run.ID).Error; err != nil {
		return err
	}
	status := event.Status{State: event.Idle, RunID: run.ID, Iteration: run.Iteration, MaxIterations: run.MaxIterations, Since: run.StartedAt}
	for _, e := range []event.Data{event.RunInterrupted{Iteration: run.Iteration}, status} {
		if err := tx.Emit(run.SessionID, run.ID, e); err != nil {
			return err
		}
	}
	return tx.emitSession(run.SessionID)
}

// Resume puts an interrupted run back in the queue, in its next epoch. Calls
// whose outcome is unknown are answered as such, so that none is repeated
// silently; calls that never started stay open and will be made. So will calls
// of the tools named by again, which do nothing before a person has answered.
func (s *Store) Resume(ctx context.Context, runID string, again ...string) (Run, error) {
	var run Run
	err := s.Write(ctx, func(tx *Tx) error {
		var err error
		if run, err = get[Run](tx.db, runID); err != nil {
			return err
		}
		if run.State != event.RunIsInterrupted {
			return ErrStale
		}
		if err := tx.answerUnknown(run, again); err != nil {
			return err
		}
		run.Epoch, run.State = run.Epoch+1, event.RunIsQueued
		if err := tx.db.Exec("UPDATE runs SET state = 'queued', epoch = ?, cancel_at = 0 WHERE id = ?", run.Epoch, runID).Error; err != nil {
			return err
		}
		if err := tx.db.Exec("UPDATE agent_sessions SET updated_at = ? WHERE id = ?", tx.now, run.SessionID).Error; err != nil {
			return err
		}
		if err := tx.Emit(run.SessionID, runID, event.RunContinued{Epoch: run.Epoch}); err != nil {
			return err
		}
		return tx.emitSession(run.SessionID)
	})
	return run, err
}

// addMessage gives a message the next seq of its session and stores it.
func (tx *Tx) addMessage(m chat.Message) (chat.Message, error) {
	if m.ID == "" {
		m.ID = id.New()
	}
	err := tx.db.Raw("UPDATE agent_sessions SET message_seq = message_seq + 1 WHERE id = ? RETURNING message_seq", m.SessionID).Scan(&m.Seq).Error
	if err == nil && m.Seq == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return m, fmt.Errorf("number message: %w", err)
	}
	m.CreatedAt = tx.now
	row, err := rowOf(m)
	if err != nil {
		return m, fmt.Errorf("write message: %w", err)
	}
	if err := tx.db.Create(&row).Error; err != nil {
		return m, fmt.Errorf("store message: %w", err)
	}
	if m.Role != chat.ToolRole && row.Content != "" {
		if err := tx.db.Exec("INSERT INTO message_text (rowid, content) VALUES (?, ?)", row.Num, searchable(row.Content)).Error; err != nil {
			return m, fmt.Errorf("index message: %w", err)
		}
	}
	return m, nil
}

// searchLimit bounds how much of a message the full-text index holds, in bytes.
// SQLite keeps several copies of what it indexes while it does.
const searchLimit = 1 << 20

// searchable returns as much of a text as is indexed, cut between characters.
func searchable(text string) string {
	if len(text) <= searchLimit {
		return text
	}
	end := searchLimit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// openCall is a call of a stored reply that has no stored answer.
type openCall struct {
	call chat.ToolCall
	step *Step // nil when it never started
}

func (tx *Tx) openCalls(run Run) ([]openCall, error) {
	var last []messageRow
	err := tx.db.Select("id", "seq", "tool_calls").Where("run_id = ? AND role = 'assistant'", run.ID).Order("seq DESC").Limit(1).Find(&last).Error
	if err != nil || len(last) == 0 || last[0].ToolCalls == "" {
		return nil, err
	}
	var calls []chat.ToolCall
	if err := json.Unmarshal([]byte(last[0].ToolCalls), &calls); err != nil {
		return nil, fmt.Errorf("read calls: %w", err)
	}
	var answered []string
	if err := tx.db.Model(&messageRow{}).Where("run_id = ? AND role = 'tool' AND seq > ?", run.ID, last[0].Seq).Pluck("tool_call_id", &answered).Error; err != nil {
		return nil, err
	}
	var steps []Step
	if err := tx.db.Where("run_id = ? AND message_id = ? AND kind = 'call'", run.ID, last[0].ID).Find(&steps).Error; err != nil {
		return nil, err
	}
	var open []openCall
	for _, c := range calls {
		if slices.Contains(answered, c.ID) {
			continue
		}
		o := openCall{call: c}
		for i := range steps {
			if steps[i].CallID == c.ID {
				o.step = &steps[i]
			}
		}
		open = append(open, o)
	}
	return open, nil
}

// The answers written for calls that nobody can answer any more.
const (
	NotMade = "Not done: the run ended before this call was made."
	Unknown = "Outcome unknown: the run broke off while this was under way. It may or may not have taken effect. Look first, and repeat it only if it did not."
	Stopped = "Stopped while this was under way. It may or may not have taken effect. Look before repeating it."
)

// answerOpenCalls gives every call of the run's last reply its one answer.
func (tx *Tx) answerOpenCalls(run Run, end event.RunState) error {
	open, err := tx.openCalls(run)
	if err != nil {
		return err
	}
	for _, o := range open {
		result := chat.ToolResult{CallID: o.call.ID, Name: o.call.Name, State: chat.CallCancelled, Text: NotMade}
		switch {
		case o.step == nil:
		case o.step.State == chat.CallUnknown || end != event.RunIsCancelled:
			result.State, result.Text = chat.CallUnknown, Unknown
		default:
			result.Text = Stopped
		}
		if o.step != nil {
			result.ElapsedMS = max(0, tx.now-o.step.StartedAt)
		}
		if err := tx.answer(run, o, result); err != nil {
			return err
		}
	}
	return nil
}

// answerUnknown answers the calls that had started when the process died. Those
// of the tools named by again are put back as if they had never begun.
func (tx *Tx) answerUnknown(run Run, again []string) error {
	open, err := tx.openCalls(run)
	if err != nil {
		return err
	}
	for _, o := range open {
		if o.step == nil {
			continue
		}
		if slices.Contains(again, o.call.Name) {
			if err := tx.db.Exec("DELETE FROM steps WHERE id = ?", o.step.ID).Error; err != nil {
				return err
			}
			if err := tx.db.Exec("UPDATE runs SET calls = calls - 1 WHERE id = ?", run.ID).Error; err != nil {
				return err
			}
			continue
		}
		if err := tx.answer(run, o, chat.ToolResult{CallID: o.call.ID, Name: o.call.Name, State: chat.CallUnknown, Text: Unknown}); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) answer(run Run, o openCall, result chat.ToolResult) error {
	m, err := tx.addMessage(chat.Message{SessionID: run.SessionID, RunID: run.ID, Role: chat.ToolRole, Result: &result})
	if err != nil {
		return err
	}
	if o.step != nil {
		if err := tx.db.Exec("UPDATE steps SET state = ?, finished_at = ? WHERE id = ?", result.State, tx.now, o.step.ID).Error; err != nil {
			return err
		}
	}
	return tx.Emit(run.SessionID, run.ID, event.ToolFinished{Message: m})
}
