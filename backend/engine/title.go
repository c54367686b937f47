package engine

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"gofer/backend/chat"
	"gofer/backend/llm"
	"gofer/backend/store"
)

const (
	titleLength = 25 // characters (SPEC B30)
	titleLimit  = 30 * time.Second
)

const titlePrompt = "You name conversations. Answer with a title of at most four words for the conversation that begins with the message you are given, in its language. No quotes, no full stop, nothing else."

// name has a model find a title for a session, while nobody has given one. It
// takes the cheapest model the session may use, and is never waited for.
func (e *Engine) name(s store.Session, prompt string) {
	if !s.AutoTitle || s.Tour || e.settings.Settings().Titles != "model" {
		return
	}
	if _, own := e.endpoint(s); own {
		return // a server named on the command line is asked for nothing but the run
	}
	routeName, choices, err := e.choices(e.ctx, s)
	if err != nil {
		return // the run says it better
	}
	if choices[0].local {
		e.afterRun(s.ID) // a model on this machine answers one at a time
	}
	ctx, cancel := context.WithTimeout(e.ctx, titleLimit)
	defer cancel()
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(a.price(), b.price()) })
	reply, err := e.routeOf(routeName, choices).Stream(ctx, llm.Request{
		System:    titlePrompt,
		Messages:  []chat.Message{{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: firstRunes(prompt, 2000)}}}},
		MaxTokens: 2000, // a model that thinks needs room for it
	}, func(llm.Delta) {})
	if err != nil {
		slog.Info("a session was not named", "session", s.ID, "err", err)
		return
	}
	if err := e.spentBeside(ctx, s.ID, "title", reply); err != nil {
		slog.Warn("what a name has cost was not counted", "session", s.ID, "err", err)
	}
	title := firstRunes(strings.Trim(chat.Message{Parts: reply.Parts}.Text(), " \t\r\n\"'“”«»*#."), titleLength)
	if title == "" {
		return
	}
	if err := e.store.NameSession(ctx, s.ID, title); err != nil && ctx.Err() == nil {
		slog.Warn("the name of a session was not kept", "session", s.ID, "err", err)
	}
}

// afterRun waits until the session's run has ended, or the engine closes.
func (e *Engine) afterRun(sessionID string) {
	e.mu.Lock()
	p := e.active[sessionID]
	e.mu.Unlock()
	if p == nil {
		return
	}
	select {
	case <-p.done:
	case <-e.ctx.Done():
	}
}

// price orders models by what they cost: nothing on this machine, unknown last.
func (c choice) price() float64 {
	switch {
	case c.facts.Price != nil:
		return c.facts.Price.Input + c.facts.Price.Output
	case c.local:
		return 0
	}
	return 1e9
}
