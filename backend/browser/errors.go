package browser

import (
	"errors"
	"fmt"
)

// The ways a start can fail.
var (
	// ErrNoBrowser: no Chrome, Chromium, Edge or Brave was found, or the set path is none.
	ErrNoBrowser = errors.New("no Chrome, Chromium, Edge or Brave was found")
	// ErrProfileBusy: another living browser uses the profile folder.
	ErrProfileBusy = errors.New("the browser profile is in use by another browser process")
	// ErrNotAttached: the browser to attach to does not answer.
	ErrNotAttached = errors.New("the browser to attach to does not answer")
	// ErrBrowserGone: the browser or the session's window ended under the call.
	ErrBrowserGone = errors.New("the browser is gone")
	// ErrClosed: the session or the browser was closed by us.
	ErrClosed = errors.New("the browser session is closed")
)

// Code is the class of something a model can act on.
type Code string

// The classes of failed actions.
const (
	NotFound        Code = "not_found"
	NotInteractable Code = "not_interactable"
	Covered         Code = "covered"
	Ambiguous       Code = "ambiguous"
	Stale           Code = "stale"
	Detached        Code = "detached"
	Timeout         Code = "timeout"
	DialogOpen      Code = "dialog_open"
	NoTab           Code = "no_tab"
	Gone            Code = "browser_gone"
	InvalidRequest  Code = "invalid_request"
	Repeated        Code = "repeated_failure"
	Unreachable     Code = "unreachable"
	Refused         Code = "refused" // by a rule of ours, not by the host
	Unknown         Code = "unknown" // the browser refused without a reason of these
	internal        Code = "internal"
)

// Problem is a failed action: what is wrong, in words for the model.
type Problem struct {
	Code    Code
	Message string
}

// Error returns class and words.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Message }

// Is lets errors.Is match ErrBrowserGone.
func (p *Problem) Is(target error) bool { return p.Code == Gone && target == ErrBrowserGone }

// next is the one sentence on what to do, by class.
var next = map[Code]string{
	NotFound:        "Take a browser_snapshot to see what is there.",
	NotInteractable: "Choose another element, or change what keeps this one from being used.",
	Covered:         "Deal with what covers it first (close or accept it), then try again.",
	Ambiguous:       "Call again with one of these refs.",
	Stale:           "Take a new browser_snapshot and use its refs.",
	Detached:        "Take a new browser_snapshot and use its refs.",
	Timeout:         "It may have taken effect; look with browser_snapshot before you try again.",
	DialogOpen:      "Answer it with browser_dialog.",
	NoTab:           "Open a page with browser_open, or choose a tab with browser_tabs.",
	Gone:            "Call again: the browser is started anew and the page reopened.",
	Repeated:        "Do something else: look at the page with browser_snapshot or browser_screenshot.",
	Unreachable:     "Check the address, or try another one.",
	Refused:         "Do without it, or say what is missing.",
	Unknown:         "Look with browser_snapshot, or do it another way.",
}

// Advice returns one sentence on what to do next; "" when the message says it.
func (p *Problem) Advice() string { return next[p.Code] }

func problem(code Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

func gone() error {
	return problem(Gone, "the browser or its window was closed or crashed during the call")
}
