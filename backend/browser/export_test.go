package browser

import (
	"context"
	"encoding/json"
)

// CloseByPerson closes the session's current tab the way a person would, past
// the session's own bookkeeping.
func CloseByPerson(s *Session) {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	t.r.p.conn.send("", "Target.closeTarget", map[string]any{"targetId": t.target})
}

// WindowOf tells the window of a tab.
func WindowOf(s *Session, id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tabs {
		if t.id == id {
			var got struct{ WindowID int }
			_ = t.r.p.conn.call(s.life, "", "Browser.getWindowForTarget", map[string]any{"targetId": t.target}, &got)
			return got.WindowID
		}
	}
	return 0
}

// Names returns what the walker and what the browser itself call the element of a ref.
func Names(ctx context.Context, s *Session, ref string) (ours, theirs string, err error) {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	f, id, err := t.locate(ref)
	if err != nil {
		return "", "", err
	}
	var k struct{ Name string }
	if err := t.js(ctx, f, "kind", args{"ref": id}, &k); err != nil {
		return "", "", err
	}
	_, backend, err := t.object(ctx, f, id, false)
	if err != nil {
		return "", "", err
	}
	var ax struct {
		Nodes []struct {
			Name struct{ Value string }
		}
	}
	if err := t.call(ctx, f.session, "Accessibility.getPartialAXTree", map[string]any{"backendNodeId": backend, "fetchRelatives": false}, &ax); err != nil {
		return "", "", err
	}
	return k.Name, ax.Nodes[0].Name.Value, nil
}

// Raw asks the browser something about the current page and tells how long the
// answer is.
func Raw(ctx context.Context, s *Session, method string, params map[string]any) (int, error) {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	var got json.RawMessage
	err := t.call(ctx, t.session, method, params, &got)
	return len(got), err
}
