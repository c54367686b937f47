package engine

import (
	"context"
	"fmt"
	"strings"

	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/guard"
	"gofer/backend/store"
)

const defaultPage = 200

// Sessions lists sessions, newest first.
func (e *Engine) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	if q.Limit <= 0 {
		q.Limit = defaultPage
	}
	rows, err := e.store.Sessions(ctx, q.Search, q.Limit, q.Offset)
	if err != nil {
		return nil, err
	}
	out := make([]Session, len(rows))
	for i, r := range rows {
		out[i] = e.session(r)
	}
	return out, nil
}

func (e *Engine) session(r store.Listed) Session {
	s := Session{
		ID: r.ID, Title: r.Title, AutoTitle: r.AutoTitle, Seen: r.Seen, Workspace: r.Workspace, Mode: r.Mode, Provider: r.Provider,
		Model: r.Model, SystemPrompt: r.SystemPrompt, MaxIterations: r.MaxIterations, Headless: r.Headless, Tour: r.Tour,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Match: r.Match,
	}
	if r.Run != nil {
		s.State, s.Reason = string(r.Run.State), r.Run.Reason
		if r.Run.State == event.RunIsRunning || r.Run.State == event.RunIsAwaiting {
			s.StartedAt = r.Run.StartedAt
		}
	}
	return s
}

// CreateSession makes a session; empty fields take the settings.
func (e *Engine) CreateSession(ctx context.Context, spec SessionSpec) (Session, error) {
	e.allKeys() // a title or an instruction may hold one
	settings := e.settings.Settings()
	row := store.Session{
		Title: strings.TrimSpace(spec.Title), Workspace: spec.Workspace, Mode: spec.Mode, Provider: spec.Provider, Model: spec.Model,
		SystemPrompt: spec.SystemPrompt, MaxIterations: spec.MaxIterations, Headless: spec.Headless || e.headless, Tour: spec.Tour,
	}
	if row.AutoTitle = row.Title == ""; row.AutoTitle {
		row.Title = "New session"
	}
	if row.Workspace == "" {
		row.Workspace = settings.Workspace
	}
	if row.Mode == "" {
		row.Mode = settings.Mode
	}
	if row.MaxIterations == 0 {
		row.MaxIterations = settings.MaxIterations
	}
	if err := checkRun(row.Mode, row.MaxIterations); err != nil {
		return Session{}, err
	}
	var err error
	if row.Provider != "" {
		if row.Provider, err = e.modelSource(row.Provider); err != nil {
			return Session{}, err
		}
	}
	if row.Workspace, err = Workspace(row.Workspace); err != nil {
		return Session{}, err
	}
	if spec.Endpoint != nil {
		e.redact.Hide(spec.Endpoint.Key)
		row.Provider, row.Model = spec.Endpoint.BaseURL, spec.Endpoint.Model // the key stays in memory
	}
	grants, err := grantsOf(spec.Allow)
	if err != nil {
		return Session{}, err
	}
	row, err = e.store.CreateSession(ctx, row)
	if err != nil {
		return Session{}, err
	}
	if spec.Endpoint != nil {
		e.mu.Lock()
		e.endpoints[row.ID] = *spec.Endpoint
		e.mu.Unlock()
	}
	if len(grants) > 0 {
		e.guard.Grant(row.ID, grants...)
		e.keepGrants(row.ID)
	}
	return e.session(store.Listed{Session: row}), nil
}

// CheckGrants says what is wrong with grants written on a command line, or nil.
func CheckGrants(lines []string) error {
	_, err := grantsOf(lines)
	return err
}

// grantsOf reads grants as they are written on a command line.
func grantsOf(lines []string) ([]guard.Grant, error) {
	grants := make([]guard.Grant, len(lines))
	for i, line := range lines {
		g, err := guard.ParseGrant(line)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, fmt.Sprintf("The %v.", err), "A grant looks like visit: https://example.org.", err)
		}
		grants[i] = g
	}
	return grants, nil
}

// ChangeSession changes facts of a session. They count for its next run.
func (e *Engine) ChangeSession(ctx context.Context, sessionID string, c SessionChange) (Session, error) {
	columns := map[string]any{}
	if c.Title != nil {
		title := strings.TrimSpace(*c.Title)
		if title == "" {
			return Session{}, fault.New(fault.Invalid, "A title cannot be empty.", "Write a few words.")
		}
		columns["title"], columns["auto_title"] = title, false
	}
	if c.Workspace != nil {
		dir, err := Workspace(*c.Workspace)
		if err != nil {
			return Session{}, err
		}
		columns["workspace"] = dir
	}
	if c.Provider != nil {
		source := ""
		if *c.Provider != "" {
			var err error
			if source, err = e.modelSource(*c.Provider); err != nil {
				return Session{}, err
			}
		}
		columns["provider"] = source
		e.mu.Lock()
		delete(e.endpoints, sessionID)
		e.mu.Unlock()
	}
	current, err := e.store.Session(ctx, sessionID)
	if err != nil {
		return Session{}, notFound(err, "session")
	}
	mode, limit := current.Mode, current.MaxIterations
	if c.Mode != nil {
		mode, columns["mode"] = *c.Mode, *c.Mode
	}
	if c.MaxIterations != nil {
		limit, columns["max_iterations"] = *c.MaxIterations, *c.MaxIterations
	}
	if err := checkRun(mode, limit); err != nil {
		return Session{}, err
	}
	for name, value := range map[string]*string{"model": c.Model, "system_prompt": c.SystemPrompt} {
		if value != nil {
			columns[name] = strings.TrimSpace(*value)
		}
	}
	if c.Seen != nil {
		columns["seen"] = *c.Seen
	}
	if len(columns) > 0 {
		if err := e.store.ChangeSession(ctx, sessionID, columns); err != nil {
			return Session{}, notFound(err, "session")
		}
	}
	row, err := e.store.Session(ctx, sessionID)
	return e.session(row), notFound(err, "session")
}

// DeleteSession stops a session's runs and takes it out of the lists. It can
// be restored for a day.
func (e *Engine) DeleteSession(ctx context.Context, sessionID string) error {
	runs, err := e.store.Runs(ctx, sessionID)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.State == event.RunIsQueued {
			_ = e.RemoveQueued(ctx, run.ID) // one that starts meanwhile is stopped below
		}
	}
	if err := e.Stop(ctx, sessionID); err != nil {
		return err
	}
	if err := e.store.DeleteSession(ctx, sessionID); err != nil {
		return notFound(err, "session")
	}
	e.endJobs(sessionID)
	e.browsers.leave(sessionID)
	e.guard.Forget(sessionID)
	return nil
}

// RestoreSession brings a deleted session back.
func (e *Engine) RestoreSession(ctx context.Context, sessionID string) error {
	if err := e.store.RestoreSession(ctx, sessionID); err != nil {
		return notFound(err, "session")
	}
	return e.loadGrants(ctx)
}

// Snapshot returns a session as of one event.
func (e *Engine) Snapshot(ctx context.Context, sessionID string, q SnapshotQuery) (Snapshot, error) {
	if q.Limit == 0 {
		q.Limit = defaultPage
	}
	var out Snapshot
	err := e.store.Still(func() error {
		row, err := e.store.Session(ctx, sessionID)
		if err != nil {
			return notFound(err, "session")
		}
		out = Snapshot{Session: e.session(row), Seq: row.EventSeq, Runs: []Run{}, Notes: []Note{}, Agreed: []Agreed{}, Open: []OpenCall{}, Waits: e.redact.Value(e.openWaits(sessionID)).([]Wait), Status: event.Status{State: event.Idle}}
		if out.Messages, out.More, err = e.store.Messages(ctx, sessionID, q.Before, q.Limit); err != nil {
			return err
		}
		runs, err := e.store.Runs(ctx, sessionID)
		if err != nil {
			return err
		}
		for _, r := range runs {
			if !out.More || r.ID >= out.Messages[0].RunID {
				out.Runs = append(out.Runs, runOf(r))
			}
		}
		if err := e.addNotes(ctx, &out); err != nil {
			return err
		}
		if err := e.addAgreed(ctx, &out); err != nil {
			return err
		}
		if row.Run != nil {
			out.Status = restingStatus(*row.Run)
		}
		return e.addLive(ctx, &out)
	})
	return out, err
}

// addNotes adds what was told of the runs beside their messages.
func (e *Engine) addNotes(ctx context.Context, s *Snapshot) error {
	if len(s.Runs) == 0 {
		return nil
	}
	told, err := e.store.Events(ctx, s.Session.ID, 0, event.Notice{}.EventType(), event.RouteRetrying{}.EventType(), event.RouteSwitched{}.EventType())
	if err != nil {
		return err
	}
	for _, t := range told {
		if t.RunID < s.Runs[0].ID {
			continue
		}
		n := Note{RunID: t.RunID, Seq: t.Seq, At: t.At}
		switch data := t.Data.(type) {
		case event.Notice:
			n.Notice = &data
		case event.RouteRetrying:
			n.Retrying = &data
		case event.RouteSwitched:
			n.Switched = &data
		}
		s.Notes = append(s.Notes, n)
	}
	return nil
}

// addAgreed adds what was agreed for the runs.
func (e *Engine) addAgreed(ctx context.Context, s *Snapshot) error {
	if len(s.Runs) == 0 {
		return nil
	}
	told, err := e.store.Events(ctx, s.Session.ID, 0, event.AgreementChanged{}.EventType())
	if err != nil {
		return err
	}
	for _, t := range told {
		data, ok := t.Data.(event.AgreementChanged)
		if !ok || t.RunID < s.Runs[0].ID {
			continue
		}
		if last := len(s.Agreed) - 1; last >= 0 && s.Agreed[last].RunID == t.RunID {
			s.Agreed[last].Agreement = data
			continue
		}
		s.Agreed = append(s.Agreed, Agreed{RunID: t.RunID, Agreement: data})
	}
	return nil
}

// addLive adds what is going on at this moment.
func (e *Engine) addLive(ctx context.Context, s *Snapshot) error {
	e.mu.Lock()
	p := e.active[s.Session.ID]
	e.mu.Unlock()
	if p != nil {
		if j := p.live(); j != nil {
			s.Partial, s.Status = j.live()
		}
	}
	s.Page = e.browsers.page(s.Session.ID)
	steps, err := e.store.OpenSteps(ctx, s.Session.ID)
	if err != nil {
		return err
	}
	for _, step := range steps {
		for _, m := range s.Messages {
			for _, c := range m.Calls {
				if c.ID == step.CallID {
					s.Open = append(s.Open, OpenCall{Call: c, RunID: step.RunID, Title: step.Title, Effect: step.Effect, StartedAt: step.StartedAt})
				}
			}
		}
	}
	return nil
}

func runOf(r store.Run) Run {
	return Run{
		ID: r.ID, SessionID: r.SessionID, PromptID: r.PromptID, State: r.State, Reason: r.Reason, Error: r.Fault(), Iteration: r.Iteration,
		MaxIterations: r.MaxIterations, Provider: r.Provider, Model: r.Model, Mode: r.Mode, Calls: r.Calls, Usage: r.TotalUsage(),
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
}

// Blob returns kept bytes by their key.
func (e *Engine) Blob(ctx context.Context, key string) (Bytes, error) {
	a, data, err := e.store.Blob(ctx, key)
	if err != nil {
		return Bytes{}, notFound(err, "file")
	}
	return Bytes{Name: a.Name, Media: a.Media, Data: data}, nil
}
