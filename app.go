package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gofer/backend/chat"
	"gofer/backend/cli"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host"
	"gofer/backend/tour"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// App is what the page in the window may call. Each method hands over to the
// service; what only a window can do (a dialog, the theme of its frame, another
// program) is done here.
type App struct {
	ctx          context.Context // from startup; the Wails runtime asks for it
	service      host.Service
	settingsFile string

	mu    sync.Mutex
	shown context.Context // set once the window stands; the socket's goroutine reads it
	tours []*tour.Tour
}

// Sessions lists sessions, newest first.
func (a *App) Sessions(q engine.SessionQuery) ([]engine.Session, error) {
	return a.service.Sessions(a.ctx, q)
}

// CreateSession makes an empty session.
func (a *App) CreateSession(spec engine.SessionSpec) (engine.Session, error) {
	return a.service.CreateSession(a.ctx, spec)
}

// Snapshot returns a session as of one event.
func (a *App) Snapshot(sessionID string, q engine.SnapshotQuery) (engine.Snapshot, error) {
	return a.service.Snapshot(a.ctx, sessionID, q)
}

// ChangeSession changes facts of a session.
func (a *App) ChangeSession(sessionID string, c engine.SessionChange) (engine.Session, error) {
	return a.service.ChangeSession(a.ctx, sessionID, c)
}

// DeleteSession takes a session out of the lists; RestoreSession undoes it.
func (a *App) DeleteSession(sessionID string) error { return a.service.DeleteSession(a.ctx, sessionID) }

// RestoreSession undoes DeleteSession.
func (a *App) RestoreSession(sessionID string) error {
	return a.service.RestoreSession(a.ctx, sessionID)
}

// SaveExport asks where to keep a session as markdown or json and writes it
// there. It returns the path, or "" when the person chose none.
func (a *App) SaveExport(sessionID, format string) (string, error) {
	file, err := a.service.ExportSession(a.ctx, sessionID, format)
	if err != nil {
		return "", err
	}
	path, err := runtime.SaveFileDialog(a.ctx, runtime.SaveDialogOptions{Title: "Export the session", DefaultDirectory: exportFolder(), DefaultFilename: file.Name})
	if err != nil || path == "" {
		return "", err
	}
	if err := os.WriteFile(path, file.Data, 0o600); err != nil {
		return "", fault.Wrap(fault.Unavailable, "The session could not be written to "+path+".", "Choose another place and export again.", err)
	}
	return path, nil
}

// exportFolder is where the dialog starts: never in whatever folder the
// program happened to be started from.
func exportFolder() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

// SendPrompt starts or queues a run and returns its id.
func (a *App) SendPrompt(sessionID string, p chat.Prompt) (string, error) {
	return a.service.SendPrompt(a.ctx, sessionID, p)
}

// StartTour makes a session that is played by the scripted tour, starts it and
// returns its id. Its site and its model live as long as the window.
func (a *App) StartTour() (string, error) {
	settings, err := a.service.Settings(a.ctx)
	if err != nil {
		return "", err
	}
	dir, err := engine.Workspace(settings.Workspace)
	if err != nil {
		return "", err
	}
	t, err := tour.Start()
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, "The tour could not start.", "See the log that gofer doctor names.", err)
	}
	a.mu.Lock()
	a.tours = append(a.tours, t)
	a.mu.Unlock()
	s, err := a.service.CreateSession(a.ctx, cli.TourSession(t, engine.SessionSpec{Workspace: filepath.Join(dir, "Tour")}))
	if err != nil {
		return "", err
	}
	_, err = a.service.SendPrompt(a.ctx, s.ID, chat.Prompt{Text: t.Prompt})
	return s.ID, err
}

// endTours ends the sites and models of the tours.
func (a *App) endTours() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.tours {
		_ = t.Close() // the process ends anyway
	}
	a.tours = nil
}

// comeForward shows the window because another one was started.
func (a *App) comeForward() {
	a.mu.Lock()
	ctx := a.shown
	a.mu.Unlock()
	if ctx == nil {
		return // it is still being built and will show itself
	}
	runtime.WindowUnminimise(ctx)
	runtime.WindowShow(ctx)
}

// Stop ends the running or waiting run of a session.
func (a *App) Stop(sessionID string) error { return a.service.Stop(a.ctx, sessionID) }

// RemoveQueued takes a waiting prompt out of the queue.
func (a *App) RemoveQueued(runID string) error { return a.service.RemoveQueued(a.ctx, runID) }

// Continue goes on with a run that ended early and returns the id of the run that does.
func (a *App) Continue(runID string) (string, error) { return a.service.Continue(a.ctx, runID) }

// Leave gives an interrupted run up.
func (a *App) Leave(runID string) error { return a.service.Leave(a.ctx, runID) }

// Changes lists what calls of a session did to files and can be undone.
func (a *App) Changes(sessionID string) ([]engine.FileChange, error) {
	return a.service.Changes(a.ctx, sessionID)
}

// Undo takes back what a run did to files, or one call of it when callID is given.
func (a *App) Undo(runID, callID string) (engine.Undone, error) {
	return a.service.Undo(a.ctx, runID, callID)
}

// Grants lists what the person has allowed for sessions.
func (a *App) Grants() ([]engine.GrantInfo, error) { return a.service.Grants(a.ctx) }

// Revoke takes back a grant.
func (a *App) Revoke(grantID string) error { return a.service.Revoke(a.ctx, grantID) }

// RevokeAgreed takes back a line of what is agreed for a run.
func (a *App) RevokeAgreed(runID, lineID string) error {
	return a.service.RevokeAgreed(a.ctx, runID, lineID)
}

// Status returns the live status record of a session.
func (a *App) Status(sessionID string) (event.Status, error) {
	return a.service.Status(a.ctx, sessionID)
}

// Answer settles a question or an approval.
func (a *App) Answer(waitID string, answer engine.Answer) error {
	return a.service.Answer(a.ctx, waitID, answer)
}

// Settings returns everything a person can set.
func (a *App) Settings() (config.Settings, error) { return a.service.Settings(a.ctx) }

// SaveSettings keeps the settings and returns them as they now are.
func (a *App) SaveSettings(s config.Settings) (config.Settings, error) {
	return a.service.SaveSettings(a.ctx, s)
}

// Notices says what was wrong with the settings file when it was opened.
func (a *App) Notices() ([]event.Problem, error) { return a.service.Notices(a.ctx) }

// Presets lists the built-in descriptions of providers.
func (a *App) Presets() ([]engine.Preset, error) { return a.service.Presets(a.ctx) }

// Providers lists the model accounts.
func (a *App) Providers() ([]engine.Provider, error) { return a.service.Providers(a.ctx) }

// SaveProvider adds or changes a model account.
func (a *App) SaveProvider(spec engine.ProviderSpec) (engine.Provider, error) {
	return a.service.SaveProvider(a.ctx, spec)
}

// RemoveProvider forgets a model account and its key.
func (a *App) RemoveProvider(id string) error { return a.service.RemoveProvider(a.ctx, id) }

// TestProvider makes one real request to a provider and says what it showed.
func (a *App) TestProvider(spec engine.ProviderSpec) (engine.ProviderTest, error) {
	return a.service.TestProvider(a.ctx, spec)
}

// SaveKey adds a key to a provider or changes one.
func (a *App) SaveKey(spec engine.KeySpec) (engine.Provider, error) {
	return a.service.SaveKey(a.ctx, spec)
}

// RemoveKey forgets a key of a provider.
func (a *App) RemoveKey(providerID, keyID string) (engine.Provider, error) {
	return a.service.RemoveKey(a.ctx, providerID, keyID)
}

// Models lists what is known of the models of a provider.
func (a *App) Models(providerID string) ([]engine.ModelInfo, error) {
	return a.service.Models(a.ctx, providerID)
}

// SaveModel keeps what the person says about a model.
func (a *App) SaveModel(providerID string, m config.Model) (engine.Provider, error) {
	return a.service.SaveModel(a.ctx, providerID, m)
}

// Routes lists the routes.
func (a *App) Routes() ([]engine.Route, error) {
	return a.service.Routes(a.ctx)
}

// SaveRoute adds a route or changes one.
func (a *App) SaveRoute(spec engine.RouteSpec) (engine.Route, error) {
	return a.service.SaveRoute(a.ctx, spec)
}

// RemoveRoute forgets a route.
func (a *App) RemoveRoute(routeID string) error {
	return a.service.RemoveRoute(a.ctx, routeID)
}

// Usage says what was used in the last days, today included.
func (a *App) Usage(days int) (engine.UsageReport, error) {
	return a.service.Usage(a.ctx, days)
}

// LocalServers lists the model servers found on this machine.
func (a *App) LocalServers() ([]engine.LocalServer, error) { return a.service.LocalServers(a.ctx) }

// ShowBrowser raises the browser window of a session.
func (a *App) ShowBrowser(sessionID string) error { return a.service.ShowBrowser(a.ctx, sessionID) }

// Machine names this computer, as its person knows it; where it has no name it
// is "this computer".
func (a *App) Machine() string {
	name, err := os.Hostname()
	if name, _, _ = strings.Cut(name, "."); err != nil || name == "" || name == "localhost" {
		return "this computer"
	}
	return name
}

// Version names this build.
func (a *App) Version() string { return version }

func (a *App) readBlob(ctx context.Context, key string) (engine.Bytes, error) {
	return a.service.Blob(ctx, key)
}

// SetTheme puts the frame of the window into system, light or dark.
func (a *App) SetTheme(theme string) error {
	switch theme {
	case "light":
		runtime.WindowSetLightTheme(a.ctx)
	case "dark":
		runtime.WindowSetDarkTheme(a.ctx)
	default:
		runtime.WindowSetSystemDefaultTheme(a.ctx)
	}
	return nil
}

// ChooseFolder asks for a folder and returns its path, or "" when none was chosen.
func (a *App) ChooseFolder() (string, error) {
	return runtime.OpenDirectoryDialog(a.ctx, runtime.OpenDialogOptions{CanCreateDirectories: true})
}

// OpenSettingsFile shows the settings file in the person's own editor.
func (a *App) OpenSettingsFile() error {
	if a.settingsFile == "" {
		return fault.New(fault.Unavailable, "This window does not know where the settings file is.", "Change the settings here instead.")
	}
	if _, err := os.Stat(a.settingsFile); errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "There is no settings file yet: every setting is at its default.", "Change a setting, and the file is there.")
	}
	return openWith(a.ctx, a.settingsFile)
}

// OpenFolder shows the folder a session works in with the person's own file manager.
func (a *App) OpenFolder(sessionID string) error {
	s, err := a.service.Snapshot(a.ctx, sessionID, engine.SnapshotQuery{Limit: 1})
	if err != nil {
		return err
	}
	dir := s.Session.Workspace
	if i, err := os.Stat(dir); err != nil || !i.IsDir() {
		return fault.New(fault.NotFound, "The folder "+dir+" is not there.", "It may have been moved or deleted.")
	}
	return openWith(a.ctx, dir)
}

// OpenExternal opens a web or mail address in the person's own program.
func (a *App) OpenExternal(address string) error {
	clean, err := externalAddress(address)
	if err != nil {
		return err
	}
	return openWith(a.ctx, clean)
}
