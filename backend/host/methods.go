package host

import (
	"context"
	"encoding/json"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
)

// method makes one call of a Service from a request.
type method func(ctx context.Context, s Service, r request) (any, error)

// plain is a method whose arguments are texts, or none.
func plain[R any](call func(context.Context, Service, request) (R, error)) method {
	return func(ctx context.Context, s Service, r request) (any, error) { return call(ctx, s, r) }
}

// bare is a method that returns no more than an error.
func bare(call func(context.Context, Service, request) error) method {
	return func(ctx context.Context, s Service, r request) (any, error) { return nil, call(ctx, s, r) }
}

// full is a method with a struct among its arguments.
func full[B, R any](call func(context.Context, Service, request, B) (R, error)) method {
	return func(ctx context.Context, s Service, r request) (any, error) {
		b, err := body[B](r)
		if err != nil {
			return nil, err
		}
		return call(ctx, s, r, b)
	}
}

// methods is every call a client may make, apart from Events and Raise, which
// are more than a question and an answer.
var methods = map[string]method{
	"Sessions": full(func(ctx context.Context, s Service, _ request, q engine.SessionQuery) ([]engine.Session, error) {
		return s.Sessions(ctx, q)
	}),
	"CreateSession": full(func(ctx context.Context, s Service, _ request, spec engine.SessionSpec) (engine.Session, error) {
		return s.CreateSession(ctx, spec)
	}),
	"Snapshot": full(func(ctx context.Context, s Service, r request, q engine.SnapshotQuery) (engine.Snapshot, error) {
		return s.Snapshot(ctx, r.A, q)
	}),
	"ChangeSession": full(func(ctx context.Context, s Service, r request, c engine.SessionChange) (engine.Session, error) {
		return s.ChangeSession(ctx, r.A, c)
	}),
	"DeleteSession":  bare(func(ctx context.Context, s Service, r request) error { return s.DeleteSession(ctx, r.A) }),
	"RestoreSession": bare(func(ctx context.Context, s Service, r request) error { return s.RestoreSession(ctx, r.A) }),
	"ExportSession": plain(func(ctx context.Context, s Service, r request) (engine.Bytes, error) {
		return s.ExportSession(ctx, r.A, r.B)
	}),
	"SendPrompt": full(func(ctx context.Context, s Service, r request, p chat.Prompt) (string, error) {
		return s.SendPrompt(ctx, r.A, p)
	}),
	"Stop":         bare(func(ctx context.Context, s Service, r request) error { return s.Stop(ctx, r.A) }),
	"RemoveQueued": bare(func(ctx context.Context, s Service, r request) error { return s.RemoveQueued(ctx, r.A) }),
	"Continue":     plain(func(ctx context.Context, s Service, r request) (string, error) { return s.Continue(ctx, r.A) }),
	"Leave":        bare(func(ctx context.Context, s Service, r request) error { return s.Leave(ctx, r.A) }),
	"Changes": plain(func(ctx context.Context, s Service, r request) ([]engine.FileChange, error) {
		return s.Changes(ctx, r.A)
	}),
	"Undo":         plain(func(ctx context.Context, s Service, r request) (engine.Undone, error) { return s.Undo(ctx, r.A, r.B) }),
	"Grants":       plain(func(ctx context.Context, s Service, _ request) ([]engine.GrantInfo, error) { return s.Grants(ctx) }),
	"Revoke":       bare(func(ctx context.Context, s Service, r request) error { return s.Revoke(ctx, r.A) }),
	"RevokeAgreed": bare(func(ctx context.Context, s Service, r request) error { return s.RevokeAgreed(ctx, r.A, r.B) }),
	"Status": func(ctx context.Context, s Service, r request) (any, error) {
		return s.Status(ctx, r.A)
	},
	"Answer": full(func(ctx context.Context, s Service, r request, a engine.Answer) (any, error) {
		return nil, s.Answer(ctx, r.A, a)
	}),
	"Blob":     plain(func(ctx context.Context, s Service, r request) (engine.Bytes, error) { return s.Blob(ctx, r.A) }),
	"Settings": plain(func(ctx context.Context, s Service, _ request) (config.Settings, error) { return s.Settings(ctx) }),
	"SaveSettings": full(func(ctx context.Context, s Service, _ request, c config.Settings) (config.Settings, error) {
		return s.SaveSettings(ctx, c)
	}),
	"Notices":   plain(func(ctx context.Context, s Service, _ request) ([]event.Problem, error) { return s.Notices(ctx) }),
	"Presets":   plain(func(ctx context.Context, s Service, _ request) ([]engine.Preset, error) { return s.Presets(ctx) }),
	"Providers": plain(func(ctx context.Context, s Service, _ request) ([]engine.Provider, error) { return s.Providers(ctx) }),
	"SaveProvider": full(func(ctx context.Context, s Service, _ request, spec engine.ProviderSpec) (engine.Provider, error) {
		return s.SaveProvider(ctx, spec)
	}),
	"RemoveProvider": bare(func(ctx context.Context, s Service, r request) error { return s.RemoveProvider(ctx, r.A) }),
	"TestProvider": full(func(ctx context.Context, s Service, _ request, spec engine.ProviderSpec) (engine.ProviderTest, error) {
		return s.TestProvider(ctx, spec)
	}),
	"SaveKey": full(func(ctx context.Context, s Service, _ request, spec engine.KeySpec) (engine.Provider, error) {
		return s.SaveKey(ctx, spec)
	}),
	"RemoveKey": plain(func(ctx context.Context, s Service, r request) (engine.Provider, error) {
		return s.RemoveKey(ctx, r.A, r.B)
	}),
	"Models": plain(func(ctx context.Context, s Service, r request) ([]engine.ModelInfo, error) { return s.Models(ctx, r.A) }),
	"SaveModel": full(func(ctx context.Context, s Service, r request, m config.Model) (engine.Provider, error) {
		return s.SaveModel(ctx, r.A, m)
	}),
	"Routes": plain(func(ctx context.Context, s Service, _ request) ([]engine.Route, error) { return s.Routes(ctx) }),
	"SaveRoute": full(func(ctx context.Context, s Service, _ request, spec engine.RouteSpec) (engine.Route, error) {
		return s.SaveRoute(ctx, spec)
	}),
	"RemoveRoute": bare(func(ctx context.Context, s Service, r request) error { return s.RemoveRoute(ctx, r.A) }),
	"Usage": full(func(ctx context.Context, s Service, _ request, days int) (engine.UsageReport, error) {
		return s.Usage(ctx, days)
	}),
	"LocalServers": plain(func(ctx context.Context, s Service, _ request) ([]engine.LocalServer, error) {
		return s.LocalServers(ctx)
	}),
	"OpenCaller": full(func(ctx context.Context, s Service, _ request, spec engine.CallerSpec) (string, error) {
		return s.OpenCaller(ctx, spec)
	}),
	"Tools": plain(func(ctx context.Context, s Service, r request) ([]engine.ToolInfo, error) { return s.Tools(ctx, r.A) }),
	"CallTool": full(func(ctx context.Context, s Service, r request, args json.RawMessage) (engine.ToolOutput, error) {
		return s.CallTool(ctx, r.A, r.B, args)
	}),
	"CloseCaller": bare(func(ctx context.Context, s Service, r request) error { return s.CloseCaller(ctx, r.A) }),
	"ShowBrowser": bare(func(ctx context.Context, s Service, r request) error { return s.ShowBrowser(ctx, r.A) }),
}
