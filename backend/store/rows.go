package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"gofer/backend/chat"
	"gofer/backend/event"
)

// Session is a row of agent_sessions.
type Session struct {
	ID            string `gorm:"primaryKey"`
	OwnerID       string
	Title         string
	AutoTitle     bool // made from the first prompt, may be replaced
	Workspace     string
	Mode          string
	Provider      string
	Model         string
	SystemPrompt  string
	MaxIterations int
	Headless      bool
	Tour          bool
	Seen          bool
	MessageSeq    int64 // last message
	EventSeq      int64 // last event
	CreatedAt     int64 `gorm:"autoCreateTime:false"`
	UpdatedAt     int64 `gorm:"autoUpdateTime:false"`
	DeletedAt     int64 // 0 while it lives
}

// TableName names the table of SPEC A27.
func (Session) TableName() string { return "agent_sessions" }

// Run is a row of runs.
type Run struct {
	ID            string `gorm:"primaryKey"`
	OwnerID       string
	SessionID     string
	ParentID      string
	PromptID      string
	State         event.RunState
	Reason        string
	Problem       string // event.Problem as JSON, empty without one
	Epoch         int
	NextStep      int
	Iteration     int
	MaxIterations int
	Calls         int
	Usage         string // chat.Usage as JSON
	Mode          string
	Provider      string
	Model         string
	PromptVersion string
	ToolsHash     string
	AppVersion    string
	CancelAt      int64
	WakeAt        int64
	CreatedAt     int64 `gorm:"autoCreateTime:false"`
	StartedAt     int64
	FinishedAt    int64
}

// TotalUsage returns the tokens of the run so far.
func (r Run) TotalUsage() chat.Usage {
	var u chat.Usage
	_ = json.Unmarshal([]byte(r.Usage), &u) // an unreadable count is no reason to lose a run
	return u
}

// Fault returns what the run failed with, nil without.
func (r Run) Fault() *event.Problem {
	if r.Problem == "" {
		return nil
	}
	var p event.Problem
	if json.Unmarshal([]byte(r.Problem), &p) != nil {
		return nil
	}
	return &p
}

// Step is a row of steps: a model reply, or a tool call.
type Step struct {
	ID         string `gorm:"primaryKey"`
	OwnerID    string
	SessionID  string
	RunID      string
	Number     int
	Epoch      int
	Kind       string // reply or call
	State      chat.CallState
	MessageID  string
	CallID     string
	Name       string
	Title      string
	Effect     string
	Record     string // JSON that a replay would need; empty for most
	StartedAt  int64
	FinishedAt int64
}

// The kinds of steps.
const (
	ReplyStep = "reply"
	CallStep  = "call"
)

type messageRow struct {
	Num        int64 `gorm:"primaryKey;autoIncrement"`
	ID         string
	OwnerID    string
	SessionID  string
	RunID      string
	Seq        int64
	Role       chat.Role
	Content    string
	Reasoning  string
	Parts      string
	ToolCalls  string
	ToolCallID string
	Result     string
	Model      string
	Finish     string
	Usage      string
	Replay     string
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
}

func (messageRow) TableName() string { return "agent_messages" }

type eventRow struct {
	SessionID string `gorm:"primaryKey"`
	Seq       int64  `gorm:"primaryKey"`
	OwnerID   string
	RunID     string
	Lane      string
	Type      string
	At        int64
	Data      string
}

func (eventRow) TableName() string { return "events" }

type blobRow struct {
	Hash      string `gorm:"primaryKey"`
	OwnerID   string
	Name      string
	Media     string
	Size      int64
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

func (blobRow) TableName() string { return "blobs" }

// rowOf lays a message out in columns: the text once, in content, so that it
// can be searched; the rest as JSON.
func rowOf(m chat.Message) (messageRow, error) {
	row := messageRow{
		ID: m.ID, OwnerID: Owner, SessionID: m.SessionID, RunID: m.RunID, Seq: m.Seq, Role: m.Role,
		Content: m.Text(), Reasoning: m.Reasoning(), Model: m.Model, Finish: m.Finish, Replay: string(m.Replay), CreatedAt: m.CreatedAt,
	}
	var rest []chat.Part
	for _, p := range m.Parts {
		if p.Type != chat.Text && p.Type != chat.Reasoning {
			rest = append(rest, p)
		}
	}
	err := encode(&row.Parts, rest, len(rest) > 0)
	if err == nil {
		err = encode(&row.ToolCalls, m.Calls, len(m.Calls) > 0)
	}
	if err == nil {
		err = encode(&row.Usage, m.Usage, m.Usage != nil)
	}
	if err == nil && m.Result != nil {
		result := *m.Result
		row.Content, row.ToolCallID, result.Text = result.Text, result.CallID, ""
		err = encode(&row.Result, result, true)
	}
	return row, err
}

func encode(column *string, value any, present bool) error {
	if !present {
		return nil
	}
	raw, err := json.Marshal(value)
	*column = string(raw)
	return err
}

func (row messageRow) message() (chat.Message, error) {
	m := chat.Message{
		ID: row.ID, SessionID: row.SessionID, RunID: row.RunID, Seq: row.Seq, Role: row.Role,
		Model: row.Model, Finish: row.Finish, CreatedAt: row.CreatedAt,
	}
	if row.Replay != "" {
		m.Replay = json.RawMessage(row.Replay)
	}
	if row.Reasoning != "" {
		m.Parts = append(m.Parts, chat.Part{Type: chat.Reasoning, Text: row.Reasoning})
	}
	if row.Role == chat.ToolRole {
		var result chat.ToolResult
		if err := json.Unmarshal([]byte(row.Result), &result); err != nil {
			return m, fmt.Errorf("read message %s: %w", row.ID, err)
		}
		result.Text, m.Result = row.Content, &result
		return m, nil
	}
	if row.Content != "" {
		m.Parts = append(m.Parts, chat.Part{Type: chat.Text, Text: row.Content})
	}
	var rest []chat.Part
	err := errors.Join(decode(row.Parts, &rest), decode(row.ToolCalls, &m.Calls), decode(row.Usage, &m.Usage))
	if err != nil {
		return m, fmt.Errorf("read message %s: %w", row.ID, err)
	}
	m.Parts = append(m.Parts, rest...)
	return m, nil
}

func decode(column string, into any) error {
	if column == "" {
		return nil
	}
	return json.Unmarshal([]byte(column), into)
}
