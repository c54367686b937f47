// Package script plays a scripted model. It speaks chat completions with
// streaming over HTTP, so that tests, and the guided tour, exercise the same
// path as a real provider, and it uses the standard library only.
//
// It promises strict determinism: the same script and the same requests give
// the same bytes. Every request is checked as a provider would (calls
// answered, ids consistent, arguments valid, pictures placed); a request that
// breaks a rule, or comes after the last turn, is answered with status 418 and
// kept as a problem for the test to report.
package script

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// By says how a player finds the turn that answers a request.
type By string

const (
	// ByOrder uses turns in order, once each, from the memory of the server.
	ByOrder By = "order"
	// ByHistory finds the turn from the request alone: a turn is done when its
	// calls stand in the history with their results. A client that was killed
	// and comes back goes on where its history ends.
	ByHistory By = "history"
)

// Script is what one scripted model does.
type Script struct {
	Model  string   `json:"model,omitempty"`  // model name it answers for; empty answers for all
	By     By       `json:"by,omitempty"`     // empty means ByOrder
	Prompt string   `json:"prompt,omitempty"` // by history: text of the user message that opens the errand; the last such message counts
	Turns  []Turn   `json:"turns"`
	Side   []Side   `json:"side,omitempty"`   // answers to side requests, those that offer no tools while the script calls some
	Doubt  string   `json:"doubt,omitempty"`  // pattern of results that leave the effect of a call open; empty takes DefaultDoubt
	Strict string   `json:"strict,omitempty"` // provider whose own rules hold too
	Allow  []string `json:"allow,omitempty"`  // names of request rules that are switched off
}

// DefaultDoubt matches what a client says about a call whose effect is open.
// It is looked for outside of marked page text only.
const DefaultDoubt = `(?i)outcome (is )?unknown|unknown outcome|may (or may not )?have (taken effect|been)|^\s*cancelled|was interrupted|(was|were) not run`

// Side is the answer to a side request, such as a title or a summary.
type Side struct {
	Match string `json:"match,omitempty"` // pattern looked for in all text of the request; empty matches any
	Text  string `json:"text"`
}

// Turn is one reply, or a group of turns when Do is set.
type Turn struct {
	Name string `json:"name,omitempty"`

	// A group: Do runs once, or once per match of Each, or while While holds.
	Do    []Turn `json:"do,omitempty"`
	Each  *Each  `json:"each,omitempty"`
	While *Cond  `json:"while,omitempty"`

	When *Cond `json:"when,omitempty"` // skip the turn or group when this does not hold
	Let  []Let `json:"let,omitempty"`  // values worked out before the turn

	Match     []Check  `json:"match,omitempty"` // what the request must satisfy
	Text      []string `json:"text,omitempty"`  // pieces
	Reasoning []string `json:"reasoning,omitempty"`
	Calls     []Call   `json:"calls,omitempty"`
	Usage     *Usage   `json:"usage,omitempty"`  // nil counts characters
	Finish    string   `json:"finish,omitempty"` // empty: tool_calls with calls, else stop
	Raw       *Raw     `json:"raw,omitempty"`    // bytes instead of a made reply
	Whole     bool     `json:"whole,omitempty"`  // one JSON completion instead of a stream

	Fail  []Failure `json:"fail,omitempty"`  // for the first attempts at this turn
	Hold  string    `json:"hold,omitempty"`  // name of a gate to wait at, see Player.Release
	After int       `json:"after,omitempty"` // pieces sent before the gate
	Delay Delay     `json:"delay,omitzero"`
}

// Call is a tool call. Strings in Args may hold references, see Let.
type Call struct {
	Name string `json:"name"`
	Args any    `json:"args,omitempty"`
	Raw  string `json:"raw,omitempty"` // arguments sent as they stand, valid or not
	ID   string `json:"id,omitempty"`  // empty makes one
	As   string `json:"as,omitempty"`  // label of the result; empty takes the tool's name

	// When the result is in doubt, Look finds out and the call is repeated only
	// if Done does not match the last look. Without Look it is repeated.
	Good string `json:"good,omitempty"` // pattern of a good result, may hold references; anything else is in doubt
	Look []Call `json:"look,omitempty"`
	Done string `json:"done,omitempty"` // pattern, may hold references
}

// Each repeats a group once per distinct match of a pattern. The groups of the
// match are ${as.0}, ${as.1} …, its number from 1 is ${as.n}.
type Each struct {
	From string `json:"from"` // an expression, such as list or all:list|inside
	Find string `json:"find"`
	As   string `json:"as"`
	Max  int    `json:"max,omitempty"`
}

// Cond holds when a pattern is found in a value.
type Cond struct {
	From string `json:"from"`
	Find string `json:"find"`
	Not  bool   `json:"not,omitempty"`
	Max  int    `json:"max,omitempty"` // of a While; 0 takes 50
}

// Let names a value found in another one.
//
// A reference ${name} stands for a value of Let, the result of the call with
// that label, a match of Each, or one of: prompt (the opening user message),
// calls (number of calls so far), tools (names offered), last (last result),
// last:TOOL, all:LABEL (every result of the label), count:LABEL. Functions
// follow after a bar: ${page|inside|sentences:2}. They are inside (text of
// marked outside blocks), outside (the rest), trim, lower, slug, base, quote,
// abs:NAME (resolve against a URL), links:NAME (links of a Markdown text, one
// a line as URL and text, resolved), cut:N, lines:N, sentences:N, count.
type Let struct {
	Name   string `json:"name"`
	From   string `json:"from"`
	Find   string `json:"find,omitempty"`   // empty takes the whole value
	Nth    int    `json:"nth,omitempty"`    // 0 is the first match
	All    bool   `json:"all,omitempty"`    // every distinct match, one a line
	Format string `json:"format,omitempty"` // of a match, with $1; empty takes group 1, else the match
	Else   string `json:"else,omitempty"`   // when nothing matches
	May    bool   `json:"may,omitempty"`    // nothing may match; otherwise that is a problem
}

// Usage counts tokens.
type Usage struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Cached    int `json:"cached,omitempty"`
	Reasoning int `json:"reasoning,omitempty"`
}

// Delay slows a reply down, in milliseconds.
type Delay struct {
	First   int `json:"first,omitempty"`   // before the first byte
	Between int `json:"between,omitempty"` // between two pieces
	End     int `json:"end,omitempty"`     // before the end
}

// Load reads a script from a JSON file.
func Load(path string) (Script, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Script{}, err
	}
	var s Script
	if err := json.Unmarshal(raw, &s); err != nil {
		return Script{}, fmt.Errorf("read script %s: %w", path, err)
	}
	return s, nil
}

// Says is a turn of text, one piece per argument.
func Says(pieces ...string) Turn { return Turn{Text: pieces} }

// Words cuts text into pieces of a word each, for a reply that is seen to grow.
func Words(text string) []string { return strings.SplitAfter(text, " ") }

// Calls is a turn that calls tools.
func Calls(calls ...Call) Turn { return Turn{Calls: calls} }

// Tool is a call of a tool with its arguments.
func Tool(name string, args any) Call { return Call{Name: name, Args: args} }

// callsTools reports whether any turn calls a tool.
func callsTools(turns []Turn) bool {
	for _, t := range turns {
		if len(t.Calls) > 0 || callsTools(t.Do) {
			return true
		}
	}
	return false
}
