package engine

import (
	"gofer/backend/chat"
	"gofer/backend/event"
)

// Session is a lasting conversation as lists and heads show it.
type Session struct {
	ID            string `json:"id"`
	Title         string `json:"title"`
	AutoTitle     bool   `json:"autoTitle"` // the title was made, not given
	State         string `json:"state"`     // state of its latest run; empty without one
	Reason        string `json:"reason,omitempty"`
	Seen          bool   `json:"seen"` // opened since its latest run ended
	Workspace     string `json:"workspace"`
	Mode          string `json:"mode"`         // plan, ask, auto or full
	Provider      string `json:"provider"`     // provider or route id; empty takes the default
	Model         string `json:"model"`        // empty takes the provider's
	SystemPrompt  string `json:"systemPrompt"` // empty takes the setting
	MaxIterations int    `json:"maxIterations"`
	Headless      bool   `json:"headless"`
	Tour          bool   `json:"tour"` // played by the scripted tour, no model
	CreatedAt     int64  `json:"createdAt"`
	UpdatedAt     int64  `json:"updatedAt"`
	StartedAt     int64  `json:"startedAt,omitempty"` // of the running run
	Match         string `json:"match,omitempty"`     // text around a search hit
}

// SessionQuery selects sessions, newest first.
type SessionQuery struct {
	Search string `json:"search"` // in titles and in user and assistant text
	Limit  int    `json:"limit"`  // 0 takes 200
	Offset int    `json:"offset"`
}

// SessionSpec is what a session starts with; empty fields take the settings.
type SessionSpec struct {
	Title         string    `json:"title,omitempty"`
	Workspace     string    `json:"workspace,omitempty"`
	Mode          string    `json:"mode,omitempty"`
	Provider      string    `json:"provider,omitempty"`
	Model         string    `json:"model,omitempty"`
	SystemPrompt  string    `json:"systemPrompt,omitempty"`
	MaxIterations int       `json:"maxIterations,omitempty"`
	Headless      bool      `json:"headless,omitempty"` // use the browser without a window
	Tour          bool      `json:"tour,omitempty"`
	Allow         []string  `json:"allow,omitempty"`    // grants from the start, such as "visit http://127.0.0.1:8080"
	Endpoint      *Endpoint `json:"endpoint,omitempty"` // a model server named on the command line, for this session only
}

// Endpoint is a model server that is not among the providers. Its key lives in
// memory only.
type Endpoint struct {
	BaseURL string `json:"baseUrl"`
	Model   string `json:"model"`
	Key     string `json:"key,omitempty"`
}

// Run is one attempt to answer a prompt.
type Run struct {
	ID            string         `json:"id"`
	SessionID     string         `json:"sessionId"`
	PromptID      string         `json:"promptId"` // message that started it
	State         event.RunState `json:"state"`
	Reason        string         `json:"reason,omitempty"`
	Error         *event.Problem `json:"error,omitempty"`
	Iteration     int            `json:"iteration"`
	MaxIterations int            `json:"maxIterations"`
	Provider      string         `json:"provider"`
	Model         string         `json:"model"`
	Mode          string         `json:"mode"`
	Calls         int            `json:"calls"`
	Usage         chat.Usage     `json:"usage"`
	CreatedAt     int64          `json:"createdAt"`
	StartedAt     int64          `json:"startedAt,omitempty"`
	FinishedAt    int64          `json:"finishedAt,omitempty"`
}

// OpenCall is a call that has started and not ended.
type OpenCall struct {
	Call      chat.ToolCall `json:"call"`
	RunID     string        `json:"runId"`
	Title     string        `json:"title,omitempty"`
	Effect    string        `json:"effect"`
	StartedAt int64         `json:"startedAt"`
}

// Note is what was told of a run beside its messages. One of the three is set.
type Note struct {
	RunID    string               `json:"runId"`
	Seq      int64                `json:"seq"` // of its event
	At       int64                `json:"at"`  // Unix milliseconds
	Notice   *event.Notice        `json:"notice,omitempty"`
	Retrying *event.RouteRetrying `json:"retrying,omitempty"`
	Switched *event.RouteSwitched `json:"switched,omitempty"`
}

// Partial is a reply that is streaming now.
type Partial struct {
	RunID     string `json:"runId"`
	MessageID string `json:"messageId"`
	Text      string `json:"text"`
	Reasoning string `json:"reasoning"`
}

// Wait is an open question, approval or agreement; exactly one of them is set.
type Wait struct {
	RunID     string                    `json:"runId"`
	Since     int64                     `json:"since"`
	Question  *event.ClarificationAsked `json:"question,omitempty"`
	Approval  *event.ApprovalAsked      `json:"approval,omitempty"`
	Agreement *event.AgreementAsked     `json:"agreement,omitempty"`
}

// Agreed is what is or was agreed for a run, as it was told last.
type Agreed struct {
	RunID     string                 `json:"runId"`
	Agreement event.AgreementChanged `json:"agreement"`
}

// Snapshot is a session as of one event: a face subscribes first, then loads
// it, then drops events up to Seq.
type Snapshot struct {
	Session  Session              `json:"session"`
	Seq      int64                `json:"seq"`
	Messages []chat.Message       `json:"messages"` // in order; the newest runs only, see More
	Runs     []Run                `json:"runs"`     // those whose messages are here, in order
	More     bool                 `json:"more"`     // older messages exist: ask with Before
	Notes    []Note               `json:"notes"`    // of those runs, in order
	Agreed   []Agreed             `json:"agreed"`   // for those runs, one each at most
	Open     []OpenCall           `json:"open"`
	Waits    []Wait               `json:"waits"`
	Status   event.Status         `json:"status"`
	Partial  *Partial             `json:"partial,omitempty"`
	Page     event.BrowserChanged `json:"page"`
}

// SnapshotQuery selects how much of a transcript to load.
type SnapshotQuery struct {
	Before int64 `json:"before"` // only messages with a smaller seq; 0 takes the newest
	Limit  int   `json:"limit"`  // about this many messages, cut between runs; 0 takes 200, negative all
}

// Answer settles a question, an approval or an agreement.
type Answer struct {
	// for a question
	Text    string `json:"text,omitempty"`    // the answer, or the value of an option
	Decide  bool   `json:"decide,omitempty"`  // let the agent decide
	Skip    bool   `json:"skip,omitempty"`    // go on without an answer
	Dismiss bool   `json:"dismiss,omitempty"` // stop the run instead
	// for an approval
	Allow bool   `json:"allow,omitempty"`
	Scope string `json:"scope,omitempty"` // once (default), run (added to its agreement) or session
	Note  string `json:"note,omitempty"`  // why not, told to the model
	// for an agreement, with Allow: ids of the lines that are agreed to; without any it is a no
	Lines []string `json:"lines,omitempty"`
	// who: person by default; a face where nobody can be asked says nobody
	By string `json:"by,omitempty"`
}

// SessionChange changes facts of a session; nil fields stay.
type SessionChange struct {
	Title         *string `json:"title,omitempty"`
	Workspace     *string `json:"workspace,omitempty"`
	Mode          *string `json:"mode,omitempty"`
	Provider      *string `json:"provider,omitempty"`
	Model         *string `json:"model,omitempty"`
	SystemPrompt  *string `json:"systemPrompt,omitempty"`
	MaxIterations *int    `json:"maxIterations,omitempty"`
	Seen          *bool   `json:"seen,omitempty"`
}

// LocalServer is a model server found on this machine.
type LocalServer struct {
	Preset  string   `json:"preset"`
	Name    string   `json:"name"`
	BaseURL string   `json:"baseUrl"`
	Models  []string `json:"models"`
	Added   bool     `json:"added"` // already among the providers
}

// ToolInfo describes a tool to an outside caller.
type ToolInfo struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Schema []byte `json:"schema"`
	Reads  bool   `json:"reads"`
}

// ToolOutput is the answer of a tool to an outside caller.
type ToolOutput struct {
	Text   string  `json:"text"`
	Failed bool    `json:"failed"`
	Files  []Bytes `json:"files,omitempty"`
}

// Bytes is a file on its way to a face.
type Bytes struct {
	Name  string `json:"name"`
	Media string `json:"media"`
	Data  []byte `json:"data"`
}

// CallerSpec describes an outside caller of tools, such as an MCP client.
type CallerSpec struct {
	Name      string `json:"name"`
	Workspace string `json:"workspace"`
	Mode      string `json:"mode"`
	Headless  bool   `json:"headless"`
	// Allow are grants as --allow takes them. They end with the caller.
	Allow []string `json:"allow,omitempty"`
}
