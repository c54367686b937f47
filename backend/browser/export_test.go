package browser

// CloseByPerson closes the session's current tab the way a person would, past
// the session's own bookkeeping.
func CloseByPerson(s *Session) {
	s.mu.Lock()
	t := s.cur
	s.mu.Unlock()
	t.r.p.conn.send("", "Target.closeTarget", map[string]any{"targetId": t.target})
}
