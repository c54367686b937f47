// Package browser drives one visible Chromium for many sessions: it finds and
// starts the browser, gives each session a window of its own, reads pages as
// text with refs, and acts on them with trusted input.
//
// Promises. Every call takes a context and ends with it at once; every call has
// a deadline of its own besides. Calls of one session run one after another,
// except Dialog, which goes past a call that a dialog holds up. A result says
// what happened to the page, not what was sent. No action raises a window. The
// browser listens on no port and ends when this process ends, however it ends.
package browser
