// Package uitest runs the built page in a browser without a window, on real
// bindings: the page cannot tell that Wails is not there. It serves
// frontend/dist with a small script that stands in for the Wails runtime; calls
// arrive by POST and are made on any Go value, events leave as a stream.
//
// What it serves can act for the person, so it listens on loopback only, asks
// for a random token, and is built with the tag uitest alone.
package uitest
