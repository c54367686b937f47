package script

import "strings"

// fact is a call that stands in a history together with its result.
type fact struct {
	id, name, key, text string
	used                bool
}

// factsOf reads the answered calls of messages, in order, and the texts of
// replies without calls.
func factsOf(messages []message) (facts []fact, texts []string) {
	results := map[string][]string{}
	for _, m := range messages {
		if m.role == "tool" {
			results[m.callID] = append(results[m.callID], m.text)
		}
	}
	for _, m := range messages {
		if m.role != "assistant" {
			continue
		}
		if len(m.calls) == 0 {
			texts = append(texts, strings.TrimSpace(m.text))
		}
		for _, c := range m.calls {
			if left := results[c.id]; len(left) > 0 {
				facts = append(facts, fact{id: c.id, name: c.name, key: c.args, text: left[0]})
				results[c.id] = left[1:]
			}
		}
	}
	return facts, texts
}

// history takes steps from the facts of a request (ByHistory).
type history struct {
	facts []fact
	texts []string
}

func (h *history) take(s *step) bool {
	if len(s.calls) == 0 {
		want := strings.TrimSpace(strings.Join(s.text, ""))
		for i, t := range h.texts {
			if t == want {
				h.texts = h.texts[i+1:]
				return true
			}
		}
		return false
	}
	all := true
	for i := range s.calls {
		c := &s.calls[i]
		if f := h.find(c.name, c.key); f != nil {
			f.used, c.answered, c.result = true, true, f.text
			continue
		}
		all = false
	}
	return all
}

func (h *history) find(name, key string) *fact {
	for i := range h.facts {
		if f := &h.facts[i]; !f.used && f.name == name && f.key == key {
			return f
		}
	}
	return nil
}

// order takes the steps that were served before (ByOrder).
type order struct {
	served  []*step
	results map[string]string // by wire id
}

func (o *order) take(s *step) bool {
	if s.n >= len(o.served) {
		return false
	}
	for i := range s.calls {
		if i < len(o.served[s.n].calls) {
			s.calls[i].answered = true
			s.calls[i].result = o.results[o.served[s.n].calls[i].id]
		}
	}
	return true
}

// memory is what a player has seen of one conversation. It only fills gaps: a
// client may have folded or shortened the older part of its history.
type memory struct {
	prompt string // the opening user message
	facts  []fact
	served []*step // ByOrder
	tries  map[int]int
}

// sameStart is how much of a shortened result must still stand to know it again.
const sameStart = 100

// recall merges what the request shows with what was seen before. fresh says
// that the errand has just been asked for.
func (m *memory) recall(shown []fact, fresh bool) []fact {
	if fresh {
		m.facts, m.tries = nil, nil
	}
	known := map[string]int{}
	for i, f := range m.facts {
		known[f.id] = i
	}
	for i := range shown {
		f := &shown[i]
		j, ok := known[f.id]
		switch {
		case !ok:
			m.facts = append(m.facts, *f)
			known[f.id] = len(m.facts) - 1
		case len(m.facts[j].text) > len(f.text) && strings.HasPrefix(m.facts[j].text, f.text[:min(sameStart, len(f.text))]):
			f.text = m.facts[j].text
		default:
			m.facts[j].text = f.text
		}
	}
	if len(m.facts) == 0 || len(shown) > 0 && shown[0].id == m.facts[0].id {
		return shown
	}
	all := make([]fact, len(m.facts))
	copy(all, m.facts)
	return all
}
