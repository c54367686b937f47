package main

import "gofer/backend/fault"

// wire opens what the window needs.
func wire() (parts, error) {
	return parts{}, fault.New(fault.Unavailable, "This build has no engine.", "Build it with one.")
}
