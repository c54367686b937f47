package host

import (
	"context"
	"encoding/json"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
)

var _ Service = (*Client)(nil)

// Sessions implements Service.
func (c *Client) Sessions(ctx context.Context, q engine.SessionQuery) ([]engine.Session, error) {
	return get[[]engine.Session](ctx, c, request{Method: "Sessions"}, q)
}

// CreateSession implements Service.
func (c *Client) CreateSession(ctx context.Context, spec engine.SessionSpec) (engine.Session, error) {
	return get[engine.Session](ctx, c, request{Method: "CreateSession"}, spec)
}

// Snapshot implements Service.
func (c *Client) Snapshot(ctx context.Context, sessionID string, q engine.SnapshotQuery) (engine.Snapshot, error) {
	return get[engine.Snapshot](ctx, c, request{Method: "Snapshot", A: sessionID}, q)
}

// ChangeSession implements Service.
func (c *Client) ChangeSession(ctx context.Context, sessionID string, change engine.SessionChange) (engine.Session, error) {
	return get[engine.Session](ctx, c, request{Method: "ChangeSession", A: sessionID}, change)
}

// DeleteSession implements Service.
func (c *Client) DeleteSession(ctx context.Context, sessionID string) error {
	return c.call(ctx, request{Method: "DeleteSession", A: sessionID}, nil, nil)
}

// RestoreSession implements Service.
func (c *Client) RestoreSession(ctx context.Context, sessionID string) error {
	return c.call(ctx, request{Method: "RestoreSession", A: sessionID}, nil, nil)
}

// ExportSession implements Service.
func (c *Client) ExportSession(ctx context.Context, sessionID, format string) (engine.Bytes, error) {
	return get[engine.Bytes](ctx, c, request{Method: "ExportSession", A: sessionID, B: format}, nil)
}

// SendPrompt implements Service.
func (c *Client) SendPrompt(ctx context.Context, sessionID string, p chat.Prompt) (string, error) {
	return get[string](ctx, c, request{Method: "SendPrompt", A: sessionID}, p)
}

// Stop implements Service.
func (c *Client) Stop(ctx context.Context, sessionID string) error {
	return c.call(ctx, request{Method: "Stop", A: sessionID}, nil, nil)
}

// RemoveQueued implements Service.
func (c *Client) RemoveQueued(ctx context.Context, runID string) error {
	return c.call(ctx, request{Method: "RemoveQueued", A: runID}, nil, nil)
}

// Continue implements Service.
func (c *Client) Continue(ctx context.Context, runID string) (string, error) {
	return get[string](ctx, c, request{Method: "Continue", A: runID}, nil)
}

// Leave implements Service.
func (c *Client) Leave(ctx context.Context, runID string) error {
	return c.call(ctx, request{Method: "Leave", A: runID}, nil, nil)
}

// Changes implements Service.
func (c *Client) Changes(ctx context.Context, sessionID string) ([]engine.FileChange, error) {
	return get[[]engine.FileChange](ctx, c, request{Method: "Changes", A: sessionID}, nil)
}

// Undo implements Service.
func (c *Client) Undo(ctx context.Context, runID, callID string) (engine.Undone, error) {
	return get[engine.Undone](ctx, c, request{Method: "Undo", A: runID, B: callID}, nil)
}

// Grants implements Service.
func (c *Client) Grants(ctx context.Context) ([]engine.GrantInfo, error) {
	return get[[]engine.GrantInfo](ctx, c, request{Method: "Grants"}, nil)
}

// Revoke implements Service.
func (c *Client) Revoke(ctx context.Context, grantID string) error {
	return c.call(ctx, request{Method: "Revoke", A: grantID}, nil, nil)
}

// RevokeAgreed implements Service.
func (c *Client) RevokeAgreed(ctx context.Context, runID, lineID string) error {
	return c.call(ctx, request{Method: "RevokeAgreed", A: runID, B: lineID}, nil, nil)
}

// Status implements Service.
func (c *Client) Status(ctx context.Context, sessionID string) (event.Status, error) {
	return get[event.Status](ctx, c, request{Method: "Status", A: sessionID}, nil)
}

// Answer implements Service.
func (c *Client) Answer(ctx context.Context, waitID string, a engine.Answer) error {
	return c.call(ctx, request{Method: "Answer", A: waitID}, a, nil)
}

// Blob implements Service.
func (c *Client) Blob(ctx context.Context, key string) (engine.Bytes, error) {
	return get[engine.Bytes](ctx, c, request{Method: "Blob", A: key}, nil)
}

// Settings implements Service.
func (c *Client) Settings(ctx context.Context) (config.Settings, error) {
	return get[config.Settings](ctx, c, request{Method: "Settings"}, nil)
}

// SaveSettings implements Service.
func (c *Client) SaveSettings(ctx context.Context, s config.Settings) (config.Settings, error) {
	return get[config.Settings](ctx, c, request{Method: "SaveSettings"}, s)
}

// Notices implements Service.
func (c *Client) Notices(ctx context.Context) ([]event.Problem, error) {
	return get[[]event.Problem](ctx, c, request{Method: "Notices"}, nil)
}

// Presets implements Service.
func (c *Client) Presets(ctx context.Context) ([]engine.Preset, error) {
	return get[[]engine.Preset](ctx, c, request{Method: "Presets"}, nil)
}

// Providers implements Service.
func (c *Client) Providers(ctx context.Context) ([]engine.Provider, error) {
	return get[[]engine.Provider](ctx, c, request{Method: "Providers"}, nil)
}

// SaveProvider implements Service.
func (c *Client) SaveProvider(ctx context.Context, spec engine.ProviderSpec) (engine.Provider, error) {
	return get[engine.Provider](ctx, c, request{Method: "SaveProvider"}, spec)
}

// RemoveProvider implements Service.
func (c *Client) RemoveProvider(ctx context.Context, id string) error {
	return c.call(ctx, request{Method: "RemoveProvider", A: id}, nil, nil)
}

// TestProvider implements Service.
func (c *Client) TestProvider(ctx context.Context, spec engine.ProviderSpec) (engine.ProviderTest, error) {
	return get[engine.ProviderTest](ctx, c, request{Method: "TestProvider"}, spec)
}

// SaveKey implements Service.
func (c *Client) SaveKey(ctx context.Context, spec engine.KeySpec) (engine.Provider, error) {
	return get[engine.Provider](ctx, c, request{Method: "SaveKey"}, spec)
}

// RemoveKey implements Service.
func (c *Client) RemoveKey(ctx context.Context, providerID, keyID string) (engine.Provider, error) {
	return get[engine.Provider](ctx, c, request{Method: "RemoveKey", A: providerID, B: keyID}, nil)
}

// Models implements Service.
func (c *Client) Models(ctx context.Context, providerID string) ([]engine.ModelInfo, error) {
	return get[[]engine.ModelInfo](ctx, c, request{Method: "Models", A: providerID}, nil)
}

// SaveModel implements Service.
func (c *Client) SaveModel(ctx context.Context, providerID string, m config.Model) (engine.Provider, error) {
	return get[engine.Provider](ctx, c, request{Method: "SaveModel", A: providerID}, m)
}

// Routes implements Service.
func (c *Client) Routes(ctx context.Context) ([]engine.Route, error) {
	return get[[]engine.Route](ctx, c, request{Method: "Routes"}, nil)
}

// SaveRoute implements Service.
func (c *Client) SaveRoute(ctx context.Context, spec engine.RouteSpec) (engine.Route, error) {
	return get[engine.Route](ctx, c, request{Method: "SaveRoute"}, spec)
}

// RemoveRoute implements Service.
func (c *Client) RemoveRoute(ctx context.Context, routeID string) error {
	return c.call(ctx, request{Method: "RemoveRoute", A: routeID}, nil, nil)
}

// Usage implements Service.
func (c *Client) Usage(ctx context.Context, days int) (engine.UsageReport, error) {
	return get[engine.UsageReport](ctx, c, request{Method: "Usage"}, days)
}

// LocalServers implements Service.
func (c *Client) LocalServers(ctx context.Context) ([]engine.LocalServer, error) {
	return get[[]engine.LocalServer](ctx, c, request{Method: "LocalServers"}, nil)
}

// OpenCaller implements Service.
func (c *Client) OpenCaller(ctx context.Context, spec engine.CallerSpec) (string, error) {
	return get[string](ctx, c, request{Method: "OpenCaller"}, spec)
}

// Tools implements Service.
func (c *Client) Tools(ctx context.Context, callerID string) ([]engine.ToolInfo, error) {
	return get[[]engine.ToolInfo](ctx, c, request{Method: "Tools", A: callerID}, nil)
}

// CallTool implements Service.
func (c *Client) CallTool(ctx context.Context, callerID, name string, args json.RawMessage) (engine.ToolOutput, error) {
	return get[engine.ToolOutput](ctx, c, request{Method: "CallTool", A: callerID, B: name}, args)
}

// CloseCaller implements Service.
func (c *Client) CloseCaller(ctx context.Context, callerID string) error {
	return c.call(ctx, request{Method: "CloseCaller", A: callerID}, nil, nil)
}

// ShowBrowser implements Service.
func (c *Client) ShowBrowser(ctx context.Context, sessionID string) error {
	return c.call(ctx, request{Method: "ShowBrowser", A: sessionID}, nil, nil)
}

// get makes a call that returns a value.
func get[R any](ctx context.Context, c *Client, r request, args any) (R, error) {
	var result R
	if err := c.call(ctx, r, args, &result); err != nil {
		var none R
		return none, err
	}
	return result, nil
}
