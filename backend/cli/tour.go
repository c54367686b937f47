package cli

import (
	"gofer/backend/engine"
	"gofer/backend/tour"
)

// TourSession is the session that a tour is played in: its own scripted model,
// and leave for its own site and for writing in its workspace, for nothing else.
func TourSession(t *tour.Tour, spec engine.SessionSpec) engine.SessionSpec {
	spec.Tour, spec.Title = true, tour.Title
	spec.Endpoint = &engine.Endpoint{BaseURL: t.BaseURL, Model: t.Model}
	spec.Allow = []string{"visit: " + t.SiteOrigin, "send: " + t.SiteOrigin, "write: " + spec.Workspace}
	return spec
}
