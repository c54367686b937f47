// Package hosttest is a small fake of the engine for tests of what sits on top
// of it: a Service that notes every call and answers with what a test set.
package hosttest

import (
	"context"
	"encoding/json"
	"sync"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/host"
)

// Fake is a Service. Set On before use; a method without an entry answers with
// its zero value. Events come from Bus.
type Fake struct {
	On  map[string]func(ctx context.Context, args ...any) (any, error)
	Bus event.Bus

	mu    sync.Mutex
	calls []Call
}

// Call is one call a Fake got.
type Call struct {
	Name string
	Args []any
}

var _ host.Service = (*Fake)(nil)

// Calls returns the calls of one method, or all with "".
func (f *Fake) Calls(name string) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []Call
	for _, c := range f.calls {
		if name == "" || c.Name == name {
			list = append(list, c)
		}
	}
	return list
}

func do[R any](f *Fake, ctx context.Context, name string, args ...any) (R, error) {
	f.mu.Lock()
	f.calls = append(f.calls, Call{name, args})
	on := f.On[name]
	f.mu.Unlock()
	var none R
	if on == nil {
		return none, nil
	}
	got, err := on(ctx, args...)
	if err != nil || got == nil {
		return none, err
	}
	return got.(R), nil
}

func act(f *Fake, ctx context.Context, name string, args ...any) error {
	_, err := do[any](f, ctx, name, args...)
	return err
}

// Events implements host.Service.
func (f *Fake) Events(ctx context.Context, sessionID string) (<-chan event.Envelope, error) {
	if err := act(f, ctx, "Events", sessionID); err != nil {
		return nil, err
	}
	sub := f.Bus.Subscribe(sessionID)
	context.AfterFunc(ctx, sub.Close)
	return sub.C(), nil
}

// Sessions implements host.Service.
func (f *Fake) Sessions(ctx context.Context, q engine.SessionQuery) ([]engine.Session, error) {
	return do[[]engine.Session](f, ctx, "Sessions", q)
}

// CreateSession implements host.Service.
func (f *Fake) CreateSession(ctx context.Context, spec engine.SessionSpec) (engine.Session, error) {
	return do[engine.Session](f, ctx, "CreateSession", spec)
}

// Snapshot implements host.Service.
func (f *Fake) Snapshot(ctx context.Context, sessionID string, q engine.SnapshotQuery) (engine.Snapshot, error) {
	return do[engine.Snapshot](f, ctx, "Snapshot", sessionID, q)
}

// ChangeSession implements host.Service.
func (f *Fake) ChangeSession(ctx context.Context, sessionID string, change engine.SessionChange) (engine.Session, error) {
	return do[engine.Session](f, ctx, "ChangeSession", sessionID, change)
}

// DeleteSession implements host.Service.
func (f *Fake) DeleteSession(ctx context.Context, sessionID string) error {
	return act(f, ctx, "DeleteSession", sessionID)
}

// RestoreSession implements host.Service.
func (f *Fake) RestoreSession(ctx context.Context, sessionID string) error {
	return act(f, ctx, "RestoreSession", sessionID)
}

// ExportSession implements host.Service.
func (f *Fake) ExportSession(ctx context.Context, sessionID, format string) (engine.Bytes, error) {
	return do[engine.Bytes](f, ctx, "ExportSession", sessionID, format)
}

// SendPrompt implements host.Service.
func (f *Fake) SendPrompt(ctx context.Context, sessionID string, p chat.Prompt) (string, error) {
	return do[string](f, ctx, "SendPrompt", sessionID, p)
}

// Stop implements host.Service.
func (f *Fake) Stop(ctx context.Context, sessionID string) error {
	return act(f, ctx, "Stop", sessionID)
}

// RemoveQueued implements host.Service.
func (f *Fake) RemoveQueued(ctx context.Context, runID string) error {
	return act(f, ctx, "RemoveQueued", runID)
}

// Continue implements host.Service.
func (f *Fake) Continue(ctx context.Context, runID string) (string, error) {
	return do[string](f, ctx, "Continue", runID)
}

// Changes implements host.Service.
func (f *Fake) Changes(ctx context.Context, sessionID string) ([]engine.FileChange, error) {
	return do[[]engine.FileChange](f, ctx, "Changes", sessionID)
}

// Grants implements host.Service.
func (f *Fake) Grants(ctx context.Context) ([]engine.GrantInfo, error) {
	return do[[]engine.GrantInfo](f, ctx, "Grants")
}

// Revoke implements host.Service.
func (f *Fake) Revoke(ctx context.Context, grantID string) error {
	return act(f, ctx, "Revoke", grantID)
}

// RevokeAgreed implements host.Service.
func (f *Fake) RevokeAgreed(ctx context.Context, runID, lineID string) error {
	return act(f, ctx, "RevokeAgreed", runID, lineID)
}

// Undo implements host.Service.
func (f *Fake) Undo(ctx context.Context, runID, callID string) (engine.Undone, error) {
	return do[engine.Undone](f, ctx, "Undo", runID, callID)
}

// Leave implements host.Service.
func (f *Fake) Leave(ctx context.Context, runID string) error { return act(f, ctx, "Leave", runID) }

// Status implements host.Service.
func (f *Fake) Status(ctx context.Context, sessionID string) (event.Status, error) {
	return do[event.Status](f, ctx, "Status", sessionID)
}

// Answer implements host.Service.
func (f *Fake) Answer(ctx context.Context, waitID string, a engine.Answer) error {
	return act(f, ctx, "Answer", waitID, a)
}

// Blob implements host.Service.
func (f *Fake) Blob(ctx context.Context, key string) (engine.Bytes, error) {
	return do[engine.Bytes](f, ctx, "Blob", key)
}

// Settings implements host.Service.
func (f *Fake) Settings(ctx context.Context) (config.Settings, error) {
	return do[config.Settings](f, ctx, "Settings")
}

// SaveSettings implements host.Service.
func (f *Fake) SaveSettings(ctx context.Context, s config.Settings) (config.Settings, error) {
	return do[config.Settings](f, ctx, "SaveSettings", s)
}

// Notices implements host.Service.
func (f *Fake) Notices(ctx context.Context) ([]event.Problem, error) {
	return do[[]event.Problem](f, ctx, "Notices")
}

// Presets implements host.Service.
func (f *Fake) Presets(ctx context.Context) ([]engine.Preset, error) {
	return do[[]engine.Preset](f, ctx, "Presets")
}

// Providers implements host.Service.
func (f *Fake) Providers(ctx context.Context) ([]engine.Provider, error) {
	return do[[]engine.Provider](f, ctx, "Providers")
}

// SaveProvider implements host.Service.
func (f *Fake) SaveProvider(ctx context.Context, spec engine.ProviderSpec) (engine.Provider, error) {
	return do[engine.Provider](f, ctx, "SaveProvider", spec)
}

// RemoveProvider implements host.Service.
func (f *Fake) RemoveProvider(ctx context.Context, id string) error {
	return act(f, ctx, "RemoveProvider", id)
}

// TestProvider implements host.Service.
func (f *Fake) TestProvider(ctx context.Context, spec engine.ProviderSpec) (engine.ProviderTest, error) {
	return do[engine.ProviderTest](f, ctx, "TestProvider", spec)
}

// SaveKey implements host.Service.
func (f *Fake) SaveKey(ctx context.Context, spec engine.KeySpec) (engine.Provider, error) {
	return do[engine.Provider](f, ctx, "SaveKey", spec)
}

// RemoveKey implements host.Service.
func (f *Fake) RemoveKey(ctx context.Context, providerID, keyID string) (engine.Provider, error) {
	return do[engine.Provider](f, ctx, "RemoveKey", providerID, keyID)
}

// Models implements host.Service.
func (f *Fake) Models(ctx context.Context, providerID string) ([]engine.ModelInfo, error) {
	return do[[]engine.ModelInfo](f, ctx, "Models", providerID)
}

// SaveModel implements host.Service.
func (f *Fake) SaveModel(ctx context.Context, providerID string, m config.Model) (engine.Provider, error) {
	return do[engine.Provider](f, ctx, "SaveModel", providerID, m)
}

// Routes implements host.Service.
func (f *Fake) Routes(ctx context.Context) ([]engine.Route, error) {
	return do[[]engine.Route](f, ctx, "Routes")
}

// SaveRoute implements host.Service.
func (f *Fake) SaveRoute(ctx context.Context, spec engine.RouteSpec) (engine.Route, error) {
	return do[engine.Route](f, ctx, "SaveRoute", spec)
}

// RemoveRoute implements host.Service.
func (f *Fake) RemoveRoute(ctx context.Context, routeID string) error {
	return act(f, ctx, "RemoveRoute", routeID)
}

// Usage implements host.Service.
func (f *Fake) Usage(ctx context.Context, days int) (engine.UsageReport, error) {
	return do[engine.UsageReport](f, ctx, "Usage", days)
}

// LocalServers implements host.Service.
func (f *Fake) LocalServers(ctx context.Context) ([]engine.LocalServer, error) {
	return do[[]engine.LocalServer](f, ctx, "LocalServers")
}

// OpenCaller implements host.Service.
func (f *Fake) OpenCaller(ctx context.Context, spec engine.CallerSpec) (string, error) {
	return do[string](f, ctx, "OpenCaller", spec)
}

// Tools implements host.Service.
func (f *Fake) Tools(ctx context.Context, callerID string) ([]engine.ToolInfo, error) {
	return do[[]engine.ToolInfo](f, ctx, "Tools", callerID)
}

// CallTool implements host.Service.
func (f *Fake) CallTool(ctx context.Context, callerID, name string, args json.RawMessage) (engine.ToolOutput, error) {
	return do[engine.ToolOutput](f, ctx, "CallTool", callerID, name, args)
}

// CloseCaller implements host.Service.
func (f *Fake) CloseCaller(ctx context.Context, callerID string) error {
	return act(f, ctx, "CloseCaller", callerID)
}

// ShowBrowser implements host.Service.
func (f *Fake) ShowBrowser(ctx context.Context, sessionID string) error {
	return act(f, ctx, "ShowBrowser", sessionID)
}
