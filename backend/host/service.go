// Package host lets one process serve a home to all others of the same person.
//
// The first process on a data folder holds its lock and is its host: it has
// the engine. Every other process speaks to it over a private socket and gets
// the same Service. Calls end when their caller gives up or disconnects; what
// an engine started on behalf of a session goes on. Events come in the order
// the engine published them. When the host ends, calls and event channels of
// its clients end with it, and a fault says so.
package host

import (
	"context"
	"encoding/json"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
)

// Service is what a face may ask of the engine, wherever that runs.
type Service interface {
	// Sessions lists sessions, newest first.
	Sessions(ctx context.Context, q engine.SessionQuery) ([]engine.Session, error)
	// CreateSession makes an empty session.
	CreateSession(ctx context.Context, spec engine.SessionSpec) (engine.Session, error)
	// Snapshot loads a session as of one event.
	Snapshot(ctx context.Context, sessionID string, q engine.SnapshotQuery) (engine.Snapshot, error)
	// ChangeSession changes facts of a session.
	ChangeSession(ctx context.Context, sessionID string, c engine.SessionChange) (engine.Session, error)
	// DeleteSession takes a session from the lists and stops its runs.
	DeleteSession(ctx context.Context, sessionID string) error
	// RestoreSession undoes a deletion until the host ends.
	RestoreSession(ctx context.Context, sessionID string) error
	// ExportSession writes out a transcript as markdown or json.
	ExportSession(ctx context.Context, sessionID, format string) (engine.Bytes, error)
	// SendPrompt starts a run, or queues it behind the one that goes on.
	SendPrompt(ctx context.Context, sessionID string, p chat.Prompt) (runID string, err error)
	// Stop ends the running or waiting run of a session.
	Stop(ctx context.Context, sessionID string) error
	// RemoveQueued takes back a run that has not started.
	RemoveQueued(ctx context.Context, runID string) error
	// Continue goes on with an interrupted run, or starts a new one that picks up.
	Continue(ctx context.Context, runID string) (nextRunID string, err error)
	// Leave gives an interrupted run up: it ends as cancelled.
	Leave(ctx context.Context, runID string) error
	// Changes lists what calls of a session did to files and can be undone.
	Changes(ctx context.Context, sessionID string) ([]engine.FileChange, error)
	// Undo takes back what a run, or one call of it, did to files.
	Undo(ctx context.Context, runID, callID string) (engine.Undone, error)
	// Grants lists what the person has allowed for sessions.
	Grants(ctx context.Context) ([]engine.GrantInfo, error)
	// Revoke takes back a grant.
	Revoke(ctx context.Context, grantID string) error
	// RevokeAgreed takes back a line of what is agreed for a run.
	RevokeAgreed(ctx context.Context, runID, lineID string) error
	// Status is the live status record of a session.
	Status(ctx context.Context, sessionID string) (event.Status, error)
	// Answer settles a question, an approval or an agreement.
	Answer(ctx context.Context, waitID string, a engine.Answer) error
	// Events follows one session, or all with "", until ctx ends.
	Events(ctx context.Context, sessionID string) (<-chan event.Envelope, error)
	// Blob returns the bytes kept under a key.
	Blob(ctx context.Context, key string) (engine.Bytes, error)
	// Settings returns the settings.
	Settings(ctx context.Context) (config.Settings, error)
	// SaveSettings checks and writes the settings.
	SaveSettings(ctx context.Context, s config.Settings) (config.Settings, error)
	// Notices says what was wrong with the settings file when it was opened.
	Notices(ctx context.Context) ([]event.Problem, error)
	// Presets lists the built-in providers.
	Presets(ctx context.Context) ([]engine.Preset, error)
	// Providers lists the model accounts.
	Providers(ctx context.Context) ([]engine.Provider, error)
	// SaveProvider adds or changes a model account.
	SaveProvider(ctx context.Context, spec engine.ProviderSpec) (engine.Provider, error)
	// RemoveProvider forgets a model account and its key.
	RemoveProvider(ctx context.Context, id string) error
	// TestProvider makes one real request.
	TestProvider(ctx context.Context, spec engine.ProviderSpec) (engine.ProviderTest, error)
	// SaveKey adds a key to a provider or changes one.
	SaveKey(ctx context.Context, spec engine.KeySpec) (engine.Provider, error)
	// RemoveKey forgets a key of a provider.
	RemoveKey(ctx context.Context, providerID, keyID string) (engine.Provider, error)
	// Models lists what is known of the models of a provider.
	Models(ctx context.Context, providerID string) ([]engine.ModelInfo, error)
	// SaveModel keeps what the person says about a model.
	SaveModel(ctx context.Context, providerID string, m config.Model) (engine.Provider, error)
	// Routes lists the routes.
	Routes(ctx context.Context) ([]engine.Route, error)
	// SaveRoute adds a route or changes one.
	SaveRoute(ctx context.Context, spec engine.RouteSpec) (engine.Route, error)
	// RemoveRoute forgets a route.
	RemoveRoute(ctx context.Context, routeID string) error
	// Usage says what was used in the last days, today included.
	Usage(ctx context.Context, days int) (engine.UsageReport, error)
	// LocalServers looks for model servers on this machine.
	LocalServers(ctx context.Context) ([]engine.LocalServer, error)
	// OpenCaller lets an outside caller use the tools, with tabs and grants of its own.
	OpenCaller(ctx context.Context, spec engine.CallerSpec) (callerID string, err error)
	// Tools lists the tools a caller may use.
	Tools(ctx context.Context, callerID string) ([]engine.ToolInfo, error)
	// CallTool runs one tool for a caller.
	CallTool(ctx context.Context, callerID, name string, args json.RawMessage) (engine.ToolOutput, error)
	// CloseCaller ends a caller's calls and gives back its tabs.
	CloseCaller(ctx context.Context, callerID string) error
	// ShowBrowser raises the browser window of a session.
	ShowBrowser(ctx context.Context, sessionID string) error
}
