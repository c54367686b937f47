package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"

	"gofer/backend/fault"
	"gofer/backend/guard"
	"gofer/backend/store"
	"gofer/backend/tool"
)

// GrantInfo is a leave the person gave for a session.
type GrantInfo struct {
	ID           string `json:"id"`
	SessionID    string `json:"sessionId"`
	SessionTitle string `json:"sessionTitle"`
	Text         string `json:"text"`  // as --allow takes it
	Words        string `json:"words"` // what it covers and what still asks
	Used         int    `json:"used"`  // how often it was needed
	At           int64  `json:"at"`    // Unix milliseconds
}

// keepGrants stores what holds for a session, so that it is known after a
// restart and can be listed and taken back.
func (e *Engine) keepGrants(sessionID string) {
	used := e.guard.Used(sessionID)
	var rows []store.Grant
	for _, g := range e.guard.GrantsOf(sessionID) {
		if g.Until == guard.Session {
			rows = append(rows, store.Grant{Class: string(g.Class), Object: g.Object, Folder: g.Folder, Prefix: g.Prefix, Deny: g.Deny, Used: used[g]})
		}
	}
	if err := e.store.PutGrants(context.WithoutCancel(e.ctx), sessionID, rows); err != nil {
		slog.Warn("what was allowed could not be kept", "session", sessionID, "err", err)
	}
}

// loadGrants brings back what was allowed before the start.
func (e *Engine) loadGrants(ctx context.Context) error {
	rows, err := e.store.Grants(ctx)
	if err != nil {
		return err
	}
	for i := len(rows) - 1; i >= 0; i-- { // oldest first
		g := grantOf(rows[i])
		e.guard.Grant(rows[i].SessionID, g)
		e.guard.Count(rows[i].SessionID, g, rows[i].Used)
	}
	return nil
}

func grantOf(r store.Grant) guard.Grant {
	return guard.Grant{Class: tool.Class(r.Class), Object: r.Object, Folder: r.Folder, Prefix: r.Prefix, Deny: r.Deny, Until: guard.Session}
}

// Grants lists what the person has allowed, for all sessions, newest first.
func (e *Engine) Grants(ctx context.Context) ([]GrantInfo, error) {
	rows, err := e.store.Grants(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]GrantInfo, len(rows))
	for i, r := range rows {
		g := grantOf(r)
		used := e.guard.Used(r.SessionID)[g]
		out[i] = GrantInfo{ID: grantID(r.SessionID, g), SessionID: r.SessionID, SessionTitle: r.SessionTitle, Text: g.String(), Words: g.Listed(), Used: max(used, r.Used), At: r.CreatedAt}
	}
	return out, nil
}

// grantID names a grant of a session.
func grantID(sessionID string, g guard.Grant) string {
	raw, _ := json.Marshal(g) // a plain value always can
	sum := sha256.Sum256(append([]byte(sessionID), raw...))
	return hex.EncodeToString(sum[:8])
}

// Revoke takes back a grant; from now on the guard asks again.
func (e *Engine) Revoke(ctx context.Context, which string) error {
	rows, err := e.store.Grants(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if g := grantOf(r); grantID(r.SessionID, g) == which {
			e.guard.Revoke(r.SessionID, g)
			e.keepGrants(r.SessionID)
			return nil
		}
	}
	return fault.New(fault.NotFound, "This is not allowed any more.", "It was taken back before, or its session was deleted.")
}
