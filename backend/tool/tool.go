// Package tool is the contract of a tool: its name, prose for the model, a
// JSON schema made from its argument struct, what it claims to do, and the
// function that does it. A tool gets its page, folder or asker through its
// constructor.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Effect says whether a call only looks or changes something. Calls that read
// may run side by side; calls that act run in order.
type Effect string

// The two effects.
const (
	Reads Effect = "reads"
	Acts  Effect = "acts"
)

// Class is a kind of deed the guard decides on.
type Class string

// The deeds of SAFETY section 4 that tools can claim today.
const (
	ReadFile   Class = "read_file"   // Object: absolute path
	WriteFile  Class = "write_file"  // Object: absolute path; Text: diff or new content
	DeleteFile Class = "delete_file" // Object: absolute path
	RunCommand Class = "run_command" // Object: the whole command line; Detail: folder
	Visit      Class = "visit"       // Object: URL to be opened and read
	Send       Class = "send"        // Object: URL that receives data; Fields: what is sent
	RunScript  Class = "run_script"  // Object: URL of the page; Text: the script
)

// Claim is one deed a call is about to do, as the guard and the person see it.
type Claim struct {
	Class   Class   `json:"class"`
	Object  string  `json:"object"`            // in full, never cut
	Detail  string  `json:"detail,omitempty"`  // one more fact, such as the folder of a command
	Outside bool    `json:"outside,omitempty"` // a command that does not want to be run in a sandbox
	Text    string  `json:"text,omitempty"`    // long matter to show: a diff, a script
	Fields  []Field `json:"fields,omitempty"`  // what a form would send
}

// Field is a named value of a claim. The value of a secret one is never filled in.
type Field struct {
	Label  string `json:"label"`
	Value  string `json:"value,omitempty"`
	Secret bool   `json:"secret,omitempty"`
}

// File is bytes a call made; the caller keeps them as a blob.
type File struct {
	Name   string
	Media  string
	Bytes  []byte
	Width  int // pixels, pictures only
	Height int
}

// Result is what a call gives back.
type Result struct {
	Text    string // what the model reads
	Failed  bool   // the model can act on it; the run goes on
	Outcome string // a few words for the card, such as "12 KB" or "new tab"
	Origin  string // URL or path of outside text in it; empty for our own words
	Files   []File
	Record  json.RawMessage // what a replay would need besides the arguments; no model reads it
}

// Text makes a plain result.
func Text(format string, args ...any) Result { return Result{Text: fmt.Sprintf(format, args...)} }

// Failed makes a result the model can act on: what went wrong and what to do next.
func Failed(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), Failed: true}
}

// Outside wraps text that came from outside in a marked block naming its
// origin, so that no reader takes it for an order. The closing mark inside the
// text is defused.
func Outside(origin, text string) Result {
	return Result{Text: Fence(origin, text), Origin: origin}
}

// Fence is the marked block of Outside.
func Fence(origin, text string) string {
	text = strings.ReplaceAll(text, "</outside", "<\u200b/outside")
	return fmt.Sprintf("<outside from=%q>\n%s\n</outside>", origin, strings.TrimRight(text, "\n"))
}

// Tool is one thing a model may ask for. Make it with New.
type Tool struct {
	Name     string
	About    string // prose for the model
	Schema   json.RawMessage
	Effect   Effect
	RunOnly  bool // belongs to a run; not offered to outside callers
	title    func(json.RawMessage) string
	claims   func(context.Context, json.RawMessage) ([]Claim, error)
	puts     func(json.RawMessage) bool
	deadline func(json.RawMessage) time.Duration
	run      func(context.Context, json.RawMessage) (Result, error)
}

// DefaultDeadline bounds a call whose tool names none.
const DefaultDeadline = 60 * time.Second

// Title returns the object of a call in a few plain words, such as a file
// name, a host or a command; "" when the arguments name none.
func (t Tool) Title(args json.RawMessage) string {
	if t.title == nil {
		return ""
	}
	return t.title(args)
}

// Claims returns what a call is about to do, for the guard. A tool without
// claims does nothing that needs leave.
func (t Tool) Claims(ctx context.Context, args json.RawMessage) ([]Claim, error) {
	if t.claims == nil {
		return nil, nil
	}
	return t.claims(ctx, args)
}

// Puts reports whether a call puts something of the caller's into a page, such
// as a text that is typed: from there the page may send it on.
func (t Tool) Puts(args json.RawMessage) bool { return t.puts != nil && t.puts(args) }

// Deadline returns how long a call may take; 0 means it waits for a person and
// has no end of its own.
func (t Tool) Deadline(args json.RawMessage) time.Duration {
	if t.deadline == nil {
		return DefaultDeadline
	}
	return t.deadline(args)
}

// Run does it. What the model can act on is a failed Result; an error ends the run.
func (t Tool) Run(ctx context.Context, args json.RawMessage) (Result, error) {
	return t.run(ctx, args)
}

// Option adds to a tool what not every tool has.
type Option func(*Tool)

// New makes a tool from a function over its argument struct. The schema comes
// from the struct's json, about and enum tags; a field without omitempty is
// required. Arguments that do not fit are answered with a failed result.
func New[A any](name, about string, effect Effect, run func(context.Context, A) (Result, error), options ...Option) Tool {
	t := Tool{Name: name, About: strings.TrimSpace(about), Effect: effect, Schema: schemaOf[A]()}
	t.run = func(ctx context.Context, raw json.RawMessage) (Result, error) {
		a, err := decode[A](raw)
		if err != nil {
			return Failed("%s: %v", name, err), nil
		}
		return run(ctx, a)
	}
	for _, o := range options {
		o(&t)
	}
	return t
}

// Titled names the object of a call, see Tool.Title.
func Titled[A any](title func(A) string) Option {
	return func(t *Tool) {
		t.title = func(raw json.RawMessage) string {
			a, err := decode[A](raw)
			if err != nil {
				return ""
			}
			return title(a)
		}
	}
}

// Claiming says what a call is about to do, see Tool.Claims. It may look at
// the page or the disk, but changes nothing. Arguments that do not fit claim
// nothing, since the call will not run either.
func Claiming[A any](claims func(context.Context, A) ([]Claim, error)) Option {
	return func(t *Tool) {
		t.claims = func(ctx context.Context, raw json.RawMessage) ([]Claim, error) {
			a, err := decode[A](raw)
			if err != nil {
				return nil, nil //nolint:nilerr // such a call does not run either
			}
			return claims(ctx, a)
		}
	}
}

// Putting says which calls put something into a page, see Tool.Puts.
// Arguments that do not fit put nothing, since the call will not run either.
func Putting[A any](puts func(A) bool) Option {
	return func(t *Tool) {
		t.puts = func(raw json.RawMessage) bool {
			a, err := decode[A](raw)
			return err == nil && puts(a)
		}
	}
}

// Within bounds every call of the tool.
func Within(d time.Duration) Option {
	return func(t *Tool) { t.deadline = func(json.RawMessage) time.Duration { return d } }
}

// WithinOf bounds a call by its arguments.
func WithinOf[A any](deadline func(A) time.Duration) Option {
	return func(t *Tool) {
		t.deadline = func(raw json.RawMessage) time.Duration {
			a, err := decode[A](raw)
			if err != nil {
				return DefaultDeadline
			}
			return deadline(a)
		}
	}
}

// ForRuns keeps the tool from callers that have no run, such as MCP clients.
func ForRuns() Option { return func(t *Tool) { t.RunOnly = true } }

type progressKey struct{}

// WithProgress returns a context whose calls report what they are doing to report.
func WithProgress(ctx context.Context, report func(string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports a piece of live output, such as a line of a command. It is
// a hint that may be merged or dropped, so nothing may depend on it.
func Progress(ctx context.Context, text string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(text)
	}
}

type callKey struct{}

// WithCall returns a context that says which call of which run is made in it.
func WithCall(ctx context.Context, run, call string) context.Context {
	return context.WithValue(ctx, callKey{}, [2]string{run, call})
}

// CallOf returns the run and the call a context is for; both are empty for a
// call that belongs to no run.
func CallOf(ctx context.Context) (run, call string) {
	ids, _ := ctx.Value(callKey{}).([2]string)
	return ids[0], ids[1]
}

// Box is an ordered set of tools.
type Box struct {
	list []Tool
	at   map[string]int
}

// NewBox makes a box; a later tool of the same name takes the place of the earlier.
func NewBox(tools ...Tool) *Box {
	b := &Box{at: map[string]int{}}
	for _, t := range tools {
		if i, ok := b.at[t.Name]; ok {
			b.list[i] = t
			continue
		}
		b.at[t.Name] = len(b.list)
		b.list = append(b.list, t)
	}
	return b
}

// All returns the tools in order.
func (b *Box) All() []Tool { return b.list }

// Get finds a tool by name.
func (b *Box) Get(name string) (Tool, bool) {
	i, ok := b.at[name]
	if !ok {
		return Tool{}, false
	}
	return b.list[i], true
}
