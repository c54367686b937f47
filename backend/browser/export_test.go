package browser

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
