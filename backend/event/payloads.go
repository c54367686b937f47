package event

import (
	"encoding/json"
	"fmt"
	"reflect"

	"gofer/backend/chat"
)

// State is a word of the live status record (SPEC A25).
type State string

// The words of the status record.
const (
	Idle         State = "idle"
	Thinking     State = "thinking"
	ToolCall     State = "tool_call"
	AwaitingUser State = "awaiting_user"
	Complete     State = "complete"
	Error        State = "error"
	Cancelled    State = "cancelled"
)

// RunState is a stored state of a run (DESIGN section 4).
type RunState string

// The stored states of a run. The last three are final; interrupted may go on.
const (
	RunIsQueued      RunState = "queued"
	RunIsRunning     RunState = "running"
	RunIsAwaiting    RunState = "awaiting_user"
	RunIsInterrupted RunState = "interrupted"
	RunIsCompleted   RunState = "completed"
	RunIsFailed      RunState = "failed"
	RunIsCancelled   RunState = "cancelled"
)

// Final reports whether a run in this state has finished for good.
func (s RunState) Final() bool {
	return s == RunIsCompleted || s == RunIsFailed || s == RunIsCancelled
}

// Problem is a fault as events carry it.
type Problem struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"` // why each model of a route failed
}

// Reason is why one model of a route failed.
type Reason struct {
	Model   string `json:"model"` // provider and model, for people
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// RunQueued says a prompt was accepted; its message is stored.
type RunQueued struct {
	Message chat.Message `json:"message"`
	Ahead   int          `json:"ahead"` // unfinished runs of the session before it
}

// RunStarted says a run left the queue.
type RunStarted struct {
	Model         string `json:"model"`
	Provider      string `json:"provider"`
	Mode          string `json:"mode"`
	MaxIterations int    `json:"maxIterations"`
}

// RunInterrupted says the process died during the run; Continue may go on.
type RunInterrupted struct {
	Iteration int `json:"iteration"`
}

// RunContinued says an interrupted run goes on in a new epoch.
type RunContinued struct {
	Epoch int `json:"epoch"`
}

// RunFinished is the last event of a run; it comes exactly once.
type RunFinished struct {
	State      RunState   `json:"state"`            // completed, cancelled, failed
	Reason     string     `json:"reason,omitempty"` // limit, repeated, stopped, or the kind of a model error
	Error      *Problem   `json:"error,omitempty"`
	Iterations int        `json:"iterations"`
	Calls      int        `json:"calls"`
	Usage      chat.Usage `json:"usage"`
	ElapsedMS  int64      `json:"elapsedMs"`
}

// IterationStarted says a model call begins.
type IterationStarted struct {
	N     int    `json:"n"`
	Model string `json:"model"`
}

// IterationFinished says the reply and its calls are done.
type IterationFinished struct {
	N         int         `json:"n"`
	Usage     *chat.Usage `json:"usage,omitempty"`
	ElapsedMS int64       `json:"elapsedMs"`
}

// Status is the live status record, pushed as run.status and returned by Status.
type Status struct {
	State         State    `json:"state"`
	RunID         string   `json:"runId,omitempty"`
	Iteration     int      `json:"iteration"`
	MaxIterations int      `json:"maxIterations"`
	CurrentTool   string   `json:"currentTool,omitempty"`
	LastMessage   string   `json:"lastMessage,omitempty"`
	Error         *Problem `json:"error,omitempty"`
	Since         int64    `json:"since,omitempty"` // start of the run, Unix milliseconds
}

// MessageStarted says a reply begins to stream. A second one in the same run
// before message.finished means the first broke off: drop its text.
type MessageStarted struct {
	MessageID string `json:"messageId"`
}

// MessageDelta is a piece of a streaming reply. Offset is where Text starts,
// in UTF-16 code units of the text of its kind, so that a reload loses and
// doubles nothing.
type MessageDelta struct {
	MessageID string `json:"messageId"`
	Kind      string `json:"kind"` // text, reasoning or call
	Offset    int    `json:"offset"`
	Text      string `json:"text"`
	Call      int    `json:"call,omitempty"` // index of the call, kind call only
	Name      string `json:"name,omitempty"` // name of the call
}

// MessageFinished carries the stored reply.
type MessageFinished struct {
	Message chat.Message `json:"message"`
}

// ToolStarted says a call begins; it is stored as started.
type ToolStarted struct {
	Call   chat.ToolCall `json:"call"`
	Title  string        `json:"title,omitempty"` // its object in a few words
	Effect string        `json:"effect"`          // reads or acts
}

// ToolProgress is live output of a call.
type ToolProgress struct {
	CallID string `json:"callId"`
	Text   string `json:"text"`
}

// ToolFinished carries the stored answer of a call.
type ToolFinished struct {
	Message chat.Message `json:"message"`
}

// RouteRetrying says a model call failed and is tried again after a wait.
type RouteRetrying struct {
	Attempt int    `json:"attempt"`
	WaitMS  int64  `json:"waitMs"`
	Kind    string `json:"kind"`
	Reason  string `json:"reason"`
}

// RouteSwitched says that another model of the route answers from here on.
type RouteSwitched struct {
	From     string `json:"from"` // provider and model, for people
	To       string `json:"to"`
	Provider string `json:"provider"` // name of the provider that answers now
	Model    string `json:"model"`
	Kind     string `json:"kind,omitempty"` // of the error; empty when an earlier model is taken again
	Reason   string `json:"reason"`
}

// Notice is a plain sentence worth showing in the run, such as a dropped field.
type Notice struct {
	Text string `json:"text"`
}

// Question is what ask_clarification asks.
type Question struct {
	Kind    string   `json:"kind"` // confirm, choice, input
	Title   string   `json:"title"`
	Why     string   `json:"why,omitempty"`
	Options []Option `json:"options,omitempty"`
	Default string   `json:"default,omitempty"` // taken when nobody answers in time
	WaitMS  int64    `json:"waitMs,omitempty"`  // after which Default is taken; 0 waits for ever
}

// Option is one choice of a question.
type Option struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// ClarificationAsked says a run waits for an answer.
type ClarificationAsked struct {
	ID       string   `json:"id"`
	CallID   string   `json:"callId,omitempty"`
	Question Question `json:"question"`
}

// ClarificationAnswered carries what was answered and by whom.
type ClarificationAnswered struct {
	ID     string `json:"id"`
	Answer string `json:"answer"`
	By     string `json:"by"` // person, default, nobody, agent (let the agent decide), skip
}

// ClarificationExpired says the time to answer ran out.
type ClarificationExpired struct {
	ID string `json:"id"`
}

// ClarificationDismissed says the question is no longer asked.
type ClarificationDismissed struct {
	ID string `json:"id"`
}

// ApprovalAsked says a run waits for leave to make one call.
type ApprovalAsked struct {
	ID      string          `json:"id"`
	CallID  string          `json:"callId"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	Deeds   []Deed          `json:"deeds"`             // what the call would do, in full
	Session string          `json:"session,omitempty"` // what Allow for this session would cover, in words; empty when it cannot
	Missing string          `json:"missing,omitempty"` // the grants that would allow it, as --allow takes them
	Why     string          `json:"why,omitempty"`     // such as: after reading text from example.org
	Extend  string          `json:"extend,omitempty"`  // what adding it to the run's agreement would cover, in words; empty when it cannot
	Client  string          `json:"client,omitempty"`  // name of an outside caller
}

// Deed is one thing a call would do, as the card shows it.
type Deed struct {
	Class  string      `json:"class"`
	Object string      `json:"object"`
	Detail string      `json:"detail,omitempty"`
	Text   string      `json:"text,omitempty"`
	Fields []DeedField `json:"fields,omitempty"`
}

// DeedField is a named value that would be sent.
type DeedField struct {
	Label  string `json:"label"`
	Value  string `json:"value,omitempty"`
	Secret bool   `json:"secret,omitempty"`
}

// ApprovalAnswered says how an approval ended.
type ApprovalAnswered struct {
	ID      string `json:"id"`
	Allowed bool   `json:"allowed"`
	Scope   string `json:"scope,omitempty"` // once, run or session
	Note    string `json:"note,omitempty"`
	By      string `json:"by"` // person or nobody
}

// ApprovalDismissed says the approval is no longer asked for.
type ApprovalDismissed struct {
	ID string `json:"id"`
}

// AgreementAsked says a run proposes what it may do until it ends.
type AgreementAsked struct {
	ID         string          `json:"id"`
	CallID     string          `json:"callId,omitempty"`
	Goal       string          `json:"goal"`
	Lines      []AgreementLine `json:"lines"`
	Spend      float64         `json:"spend,omitempty"`      // most the run may cost, in US dollars; 0 when nothing was proposed
	Iterations int             `json:"iterations,omitempty"` // most model calls from here on; 0 when nothing was proposed
	Missing    string          `json:"missing,omitempty"`    // the same as --allow takes it
	Why        string          `json:"why,omitempty"`        // such as: after reading text from example.org
}

// AgreementLine is one leave of an agreement.
type AgreementLine struct {
	ID      string `json:"id"` // within its run
	Class   string `json:"class"`
	Object  string `json:"object"`            // folder, site or command
	Words   string `json:"words"`             // what it covers and what still asks
	Used    int    `json:"used,omitempty"`    // how often a call needed it
	Added   bool   `json:"added,omitempty"`   // by the person, while the run went on
	Revoked bool   `json:"revoked,omitempty"` // taken back; it asks again
}

// AgreementAnswered says what the person agreed to.
type AgreementAnswered struct {
	ID      string   `json:"id"`
	Allowed bool     `json:"allowed"`
	Lines   []string `json:"lines,omitempty"` // ids of those that were left in
	Note    string   `json:"note,omitempty"`
	By      string   `json:"by"` // person or nobody
}

// AgreementDismissed says the agreement is no longer proposed.
type AgreementDismissed struct {
	ID string `json:"id"`
}

// AgreementChanged is what is agreed for the run as of now. It ends with the
// run, and when the run is interrupted.
type AgreementChanged struct {
	Goal       string          `json:"goal"`
	Lines      []AgreementLine `json:"lines"`
	Spend      float64         `json:"spend,omitempty"`
	Iterations int             `json:"iterations,omitempty"`
	Over       bool            `json:"over,omitempty"` // it ended before the run did
}

// BrowserChanged says what the run's page shows now.
type BrowserChanged struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Open  bool   `json:"open"` // whether the session has a page at all
}

// ArtifactCreated says a run made a file worth keeping.
type ArtifactCreated struct {
	Artifact chat.Artifact `json:"artifact"`
	CallID   string        `json:"callId,omitempty"`
}

// SessionChanged carries the facts of a session that lists show.
type SessionChanged struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	State     string `json:"state"` // state of its latest run, empty without one
	Reason    string `json:"reason,omitempty"`
	Seen      bool   `json:"seen"`
	CreatedAt int64  `json:"createdAt"`
	UpdatedAt int64  `json:"updatedAt"`
	StartedAt int64  `json:"startedAt,omitempty"` // of the running run
}

// SessionDeleted says a session left the lists; it may be restored for a while.
type SessionDeleted struct {
	ID string `json:"id"`
}

// SettingsChanged says the settings were written.
type SettingsChanged struct{}

// Carried returns the stored message.
func (d RunQueued) Carried() chat.Message       { return d.Message }
func (d MessageFinished) Carried() chat.Message { return d.Message }
func (d ToolFinished) Carried() chat.Message    { return d.Message }

// Carry returns the payload around another form of its message.
func (d RunQueued) Carry(m chat.Message) Data       { d.Message = m; return d }
func (d MessageFinished) Carry(m chat.Message) Data { d.Message = m; return d }
func (d ToolFinished) Carry(m chat.Message) Data    { d.Message = m; return d }

// EventType returns the name on the wire.
func (RunQueued) EventType() string              { return "run.queued" }
func (RunStarted) EventType() string             { return "run.started" }
func (RunInterrupted) EventType() string         { return "run.interrupted" }
func (RunContinued) EventType() string           { return "run.continued" }
func (RunFinished) EventType() string            { return "run.finished" }
func (IterationStarted) EventType() string       { return "iteration.started" }
func (IterationFinished) EventType() string      { return "iteration.finished" }
func (Status) EventType() string                 { return "run.status" }
func (MessageStarted) EventType() string         { return "message.started" }
func (MessageDelta) EventType() string           { return "message.delta" }
func (MessageFinished) EventType() string        { return "message.finished" }
func (ToolStarted) EventType() string            { return "tool.started" }
func (ToolProgress) EventType() string           { return "tool.progress" }
func (ToolFinished) EventType() string           { return "tool.finished" }
func (RouteRetrying) EventType() string          { return "route.retrying" }
func (RouteSwitched) EventType() string          { return "route.switched" }
func (Notice) EventType() string                 { return "run.notice" }
func (ClarificationAsked) EventType() string     { return "clarification.asked" }
func (ClarificationAnswered) EventType() string  { return "clarification.answered" }
func (ClarificationExpired) EventType() string   { return "clarification.expired" }
func (ClarificationDismissed) EventType() string { return "clarification.dismissed" }
func (ApprovalAsked) EventType() string          { return "approval.asked" }
func (ApprovalAnswered) EventType() string       { return "approval.answered" }
func (ApprovalDismissed) EventType() string      { return "approval.dismissed" }
func (AgreementAsked) EventType() string         { return "agreement.asked" }
func (AgreementAnswered) EventType() string      { return "agreement.answered" }
func (AgreementDismissed) EventType() string     { return "agreement.dismissed" }
func (AgreementChanged) EventType() string       { return "agreement.changed" }
func (BrowserChanged) EventType() string         { return "browser.changed" }
func (ArtifactCreated) EventType() string        { return "artifact.created" }
func (SessionChanged) EventType() string         { return "session.changed" }
func (SessionDeleted) EventType() string         { return "session.deleted" }
func (SettingsChanged) EventType() string        { return "settings.changed" }

// Types lists a value of every payload, for decoding and for the TypeScript union.
func Types() []Data {
	return []Data{
		RunQueued{},
		RunStarted{},
		RunInterrupted{},
		RunContinued{},
		RunFinished{},
		IterationStarted{},
		IterationFinished{},
		Status{},
		MessageStarted{},
		MessageDelta{},
		MessageFinished{},
		ToolStarted{},
		ToolProgress{},
		ToolFinished{},
		RouteRetrying{},
		RouteSwitched{},
		Notice{},
		ClarificationAsked{},
		ClarificationAnswered{},
		ClarificationExpired{},
		ClarificationDismissed{},
		ApprovalAsked{},
		ApprovalAnswered{},
		ApprovalDismissed{},
		AgreementAsked{},
		AgreementAnswered{},
		AgreementDismissed{},
		AgreementChanged{},
		BrowserChanged{},
		ArtifactCreated{},
		SessionChanged{},
		SessionDeleted{},
		SettingsChanged{},
	}
}

var byName = func() map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, d := range Types() {
		m[d.EventType()] = reflect.TypeOf(d)
	}
	return m
}()

// Decode reads the payload of the named type.
func Decode(name string, raw json.RawMessage) (Data, error) {
	t, ok := byName[name]
	if !ok {
		return nil, fmt.Errorf("unknown event type %q", name)
	}
	v := reflect.New(t)
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, v.Interface()); err != nil {
			return nil, fmt.Errorf("decode %s: %w", name, err)
		}
	}
	return v.Elem().Interface().(Data), nil
}
