package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
)

// clock answers every request with a stream whose only word is the time at
// which it was sent.
func clock(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, finish any) {
		raw, _ := json.Marshal(map[string]any{ // plain values always can be written
			"id": "chatcmpl-clock", "object": "chat.completion.chunk", "model": "m",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		fmt.Fprintf(w, "data: %s\n\n", raw)
		w.(http.Flusher).Flush()
	}
	send(map[string]any{"role": "assistant", "content": ""}, nil)
	time.Sleep(20 * time.Millisecond) // both readers wait for the next byte by then
	send(map[string]any{"content": strconv.FormatInt(time.Now().UnixNano(), 10)}, nil)
	time.Sleep(5 * time.Millisecond)
	send(map[string]any{}, "stop")
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// tokens is how often the first word is waited for.
const tokens = 200

// firstToken is the time from a word leaving the server to the event that
// tells it, beside a bare reader of the same stream. What counts is what is
// added.
func firstToken(ctx context.Context) (figure, error) {
	f := figure{name: "first token to message.delta, added to a bare reader", reach: time.Millisecond, added: true}
	r, err := newRig()
	if err != nil {
		return f, err
	}
	defer r.close()
	base := strings.TrimSuffix(r.model.URL, "/v1") + "/clock/v1"
	s, err := r.engine.CreateSession(ctx, engine.SessionSpec{
		Mode: "full", Workspace: filepath.Join(r.dir, "work"), Endpoint: &engine.Endpoint{BaseURL: base, Model: "m"},
	})
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := r.engine.Events(ctx, s.ID)
	if err != nil {
		return f, err
	}
	for range tokens { // one after the other, so that both meet the same machine
		bare, err := readBare(ctx, base)
		if err != nil {
			return f, err
		}
		f.floor = append(f.floor, bare)
		if _, err := r.engine.SendPrompt(ctx, s.ID, chat.Prompt{Text: "now"}); err != nil {
			return f, err
		}
		ours, err := readEvents(events)
		if err != nil {
			return f, err
		}
		f.ours = append(f.ours, ours)
	}
	return f, nil
}

// since is how old a word is, when the word is a time.
func since(word string) (time.Duration, bool) {
	sent, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
	return time.Since(time.Unix(0, sent)), err == nil && sent > 0
}

func readBare(ctx context.Context, base string) (time.Duration, error) {
	body := []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"now"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var took time.Duration
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		_, rest, found := strings.Cut(lines.Text(), `"content":"`)
		if word, _, _ := strings.Cut(rest, `"`); found && word != "" {
			took, _ = since(word)
		}
	}
	return took, lines.Err()
}

func readEvents(events <-chan event.Envelope) (time.Duration, error) {
	var took time.Duration
	for e := range events {
		switch d := e.Data.(type) {
		case event.MessageDelta:
			if age, ok := since(d.Text); ok && took == 0 {
				took = age
			}
		case event.RunFinished:
			if d.State != event.RunIsCompleted {
				return 0, fmt.Errorf("the run ended %s: %+v", d.State, d.Error)
			}
			return took, nil
		}
	}
	return 0, errors.New("the events ended")
}
