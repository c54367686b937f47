package engine

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/store"
	"gofer/backend/tools/files"
)

// FileChange is what a call of a session has done to a file, as long as it can
// be undone.
type FileChange struct {
	Run  string `json:"run"`
	Call string `json:"call"`
	Path string `json:"path"`
	Did  string `json:"did"` // made, changed or deleted
	At   int64  `json:"at"`  // Unix milliseconds
}

// Undone says what was taken back, and what could not be.
type Undone struct {
	Files    []UndoneFile `json:"files"`
	Commands []string     `json:"commands,omitempty"` // of the run, whose effects stay
}

// UndoneFile is a file that is as it was, or why it is not.
type UndoneFile struct {
	Path    string `json:"path"`
	Did     string `json:"did"` // what was undone: made, changed or deleted
	Problem string `json:"problem,omitempty"`
}

func didOf(c files.Change) string {
	switch {
	case c.Tool == "fs_delete":
		return "deleted"
	case c.Was == "nothing":
		return "made"
	}
	return "changed"
}

// Changes lists what the calls of a session have done to files and can be
// undone, newest first.
func (e *Engine) Changes(ctx context.Context, sessionID string) ([]FileChange, error) {
	if _, err := e.store.Session(ctx, sessionID); err != nil {
		return nil, notFound(err, "session")
	}
	list, err := files.Changes(e.trashOf(sessionID))
	if err != nil {
		return nil, err
	}
	out := make([]FileChange, len(list))
	for i, c := range list {
		out[i] = FileChange{Run: c.Run, Call: c.Call, Path: c.Path, Did: didOf(c), At: c.At}
	}
	return out, nil
}

func (e *Engine) trashOf(sessionID string) string { return filepath.Join(e.home.Trash(), sessionID) }

// Undo takes back what a run did to files, or what one of its calls did. What
// was changed since stays as it is and is named; so are the commands of the
// run, whose effects nobody can take back.
func (e *Engine) Undo(ctx context.Context, runID, callID string) (Undone, error) {
	run, err := e.store.Run(ctx, runID)
	if err != nil {
		return Undone{}, notFound(err, "run")
	}
	if run.State == event.RunIsRunning || run.State == event.RunIsAwaiting {
		return Undone{}, fault.New(fault.Invalid, "This run is still at work.", "Stop it first, then undo.")
	}
	done, err := files.Undo(e.trashOf(run.SessionID), func(c files.Change) bool {
		return c.Run == runID && (callID == "" || c.Call == callID)
	})
	if errors.Is(err, files.ErrNothingToUndo) {
		return Undone{}, fault.New(fault.NotFound, "There is nothing to undo.", "It changed no file, or was undone before. What commands did cannot be undone.")
	}
	if err != nil {
		return Undone{}, err
	}
	out := Undone{Files: make([]UndoneFile, len(done))}
	for i, u := range done {
		out.Files[i] = UndoneFile{Path: u.Path, Did: didOf(u.Change), Problem: u.Problem}
	}
	if callID == "" {
		if out.Commands, err = e.commandsOf(ctx, run); err != nil {
			return out, err
		}
	}
	return out, e.store.Write(ctx, func(tx *store.Tx) error { return tx.Emit(run.SessionID, runID, event.Notice{Text: out.words()}) })
}

// words tells of it in one line.
func (u Undone) words() string {
	var back, not []string
	for _, f := range u.Files {
		if f.Problem == "" {
			back = append(back, filepath.Base(f.Path))
		} else {
			not = append(not, filepath.Base(f.Path)+" ("+f.Problem+")")
		}
	}
	var parts []string
	if len(back) > 0 {
		parts = append(parts, "Undone: "+few(back)+".")
	}
	if len(not) > 0 {
		parts = append(parts, "Not undone: "+few(not)+".")
	}
	if len(u.Commands) > 0 {
		parts = append(parts, "What commands did stays: "+few(u.Commands)+".")
	}
	return strings.Join(parts, " ")
}

// few names some of many.
func few(list []string) string {
	const most = 6
	if len(list) > most {
		list = append(list[:most:most], "and more")
	}
	return strings.Join(list, ", ")
}

// commandsOf lists the commands a run has run.
func (e *Engine) commandsOf(ctx context.Context, run store.Run) ([]string, error) {
	messages, _, err := e.store.Messages(ctx, run.SessionID, 0, -1)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	var out []string
	for _, m := range messages {
		if m.RunID != run.ID {
			continue
		}
		for _, c := range m.Calls {
			var a struct{ Action, Command string }
			if strings.HasPrefix(c.Name, "shell_") && json.Unmarshal(c.Arguments, &a) == nil && (a.Action == "" || a.Action == "start") {
				lines[c.ID] = string(oneLine(a.Command, 60))
			}
		}
		if r := m.Result; r != nil && lines[r.CallID] != "" && r.Outcome != "not allowed" && r.State != chat.CallCancelled {
			out = append(out, lines[r.CallID])
		}
	}
	return out, nil
}
