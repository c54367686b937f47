// Package fault holds errors that a person will read: what failed, in a
// sentence, and what to do next. Low packages return plain errors; the engine
// turns those into faults.
package fault

import "errors"

// Code names the class of a fault for programs; the sentence is for people.
type Code string

// The codes faces may branch on. Model errors keep the kinds of llm.ErrorKind.
const (
	Invalid     Code = "invalid"      // the request makes no sense as given
	NotFound    Code = "not_found"    // no such session, run, provider …
	Busy        Code = "busy"         // somebody else holds it
	Denied      Code = "denied"       // the guard or the person said no
	Unavailable Code = "unavailable"  // a thing this machine lacks or cannot reach
	NoProvider  Code = "no_provider"  // no model is set up
	NoBrowser   Code = "no_browser"   // no Chromium was found
	BrowserGone Code = "browser_gone" // the browser ended or was closed
	Broken      Code = "broken"       // stored data cannot be read
	Internal    Code = "internal"     // our own mistake
)

// Fault is an error with a sentence for the person and the way on.
type Fault struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`        // one plain sentence, ends with a full stop
	Hint    string `json:"hint,omitempty"` // what to do next, one sentence
	Cause   error  `json:"-"`              // for the log, never shown
}

// New makes a fault with a sentence and the way on.
func New(code Code, message, hint string) *Fault {
	return &Fault{Code: code, Message: message, Hint: hint}
}

// Wrap is New with the error that caused it.
func Wrap(code Code, message, hint string, cause error) *Fault {
	return &Fault{Code: code, Message: message, Hint: hint, Cause: cause}
}

// Error returns the sentence and the way on.
func (f *Fault) Error() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + " " + f.Hint
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// From returns err as a fault: the one it wraps, or an internal one whose
// message is err's text. It returns nil for nil.
func From(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Code: Internal, Message: err.Error(), Cause: err}
}
