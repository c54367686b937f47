package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// created is the time every reply claims, so that the bytes are always the same.
const created = 1790000000

// argPiece is how many bytes of arguments one event carries.
const argPiece = 48

func (p *Player) reply(w http.ResponseWriter, r *http.Request, a answer) {
	out := &sink{w: w, r: r, wait: p.Wait}
	t := a.step.turn
	if a.fail != nil && (a.fail.Kind == "" || a.fail.Kind == FailStatus || a.fail.Kind == FailHTML) {
		out.fail(*a.fail)
		return
	}
	if out.pause(t.Delay.First) != nil {
		return
	}
	if t.Raw != nil {
		out.raw(*t.Raw)
		return
	}
	if t.Whole || !a.req.stream {
		writeJSON(w, http.StatusOK, whole(a))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	out.flush()
	events := p.Overlay.on(stream(a))
	for i, e := range events {
		if a.fail != nil && i == min(a.fail.After, len(events)-2) {
			out.fail(*a.fail)
			return
		}
		if t.Hold != "" && i == min(t.After, len(events)-1) && p.hold(r.Context(), t.Hold) != nil {
			return
		}
		if i > 0 && out.pause(t.Delay.Between) != nil {
			return
		}
		if i == len(events)-1 && out.pause(t.Delay.End) != nil {
			return
		}
		if out.write(e) != nil {
			return
		}
	}
}

// hold waits at a gate until it is released or the client leaves.
func (p *Player) hold(ctx context.Context, name string) error {
	g := p.gate(name)
	g.reachOnce.Do(func() { close(g.reached) })
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream makes the events of a reply.
func stream(a answer) []string {
	var out []string
	add := func(choices []any, more map[string]any) {
		chunk := map[string]any{"id": replyID(a), "object": "chat.completion.chunk", "created": created, "model": a.req.model, "choices": choices}
		for k, v := range more {
			chunk[k] = v
		}
		raw, _ := encode(chunk)
		out = append(out, string(raw))
	}
	delta := func(d map[string]any, finish any) {
		add([]any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	s := a.step
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, piece := range s.turn.Reasoning {
		delta(map[string]any{"reasoning_content": piece}, nil)
	}
	for _, piece := range s.text {
		delta(map[string]any{"content": piece}, nil)
	}
	for i, c := range s.calls {
		head := map[string]any{"index": i, "id": c.id, "type": "function", "function": map[string]any{"name": c.name, "arguments": ""}}
		if i == 0 && a.strict == StrictGemini {
			head["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": "signed " + c.id}}
		}
		delta(map[string]any{"tool_calls": []any{head}}, nil)
		for _, piece := range runesOf(c.args, argPiece) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": piece}}}}, nil)
		}
	}
	delta(map[string]any{}, finish(s))
	add([]any{}, map[string]any{"usage": usage(a)})
	return append(out, "[DONE]")
}

// whole makes one completion without streaming.
func whole(a answer) map[string]any {
	s := a.step
	msg := map[string]any{"role": "assistant", "content": strings.Join(s.text, "")}
	if len(s.turn.Reasoning) > 0 {
		msg["reasoning_content"] = strings.Join(s.turn.Reasoning, "")
	}
	var calls []any
	for _, c := range s.calls {
		calls = append(calls, map[string]any{"id": c.id, "type": "function", "function": map[string]any{"name": c.name, "arguments": c.args}})
	}
	if calls != nil {
		msg["tool_calls"] = calls
	}
	return map[string]any{
		"id": replyID(a), "object": "chat.completion", "created": created, "model": a.req.model,
		"choices": []any{map[string]any{"index": 0, "message": msg, "finish_reason": finish(s)}},
		"usage":   usage(a),
	}
}

func replyID(a answer) string { return "chatcmpl-script-" + strconv.Itoa(a.step.n) }

func finish(s *step) string {
	switch {
	case s.turn.Finish != "":
		return s.turn.Finish
	case len(s.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// usage is what the turn says, else an estimate of four characters a token.
func usage(a answer) map[string]any {
	u := a.step.turn.Usage
	if u == nil {
		out := len(strings.Join(a.step.text, ""))
		for _, c := range a.step.calls {
			out += len(c.name) + len(c.args)
		}
		u = &Usage{Input: a.size/4 + 1, Output: out/4 + 1}
	}
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.Cached},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}

// runesOf cuts s into pieces of about n bytes, never inside a character.
func runesOf(s string, n int) []string {
	var out []string
	start := 0
	for i := range s {
		if i-start >= n {
			out = append(out, s[start:i])
			start = i
		}
	}
	return append(out, s[start:])
}

// sink writes one reply.
type sink struct {
	w    http.ResponseWriter
	r    *http.Request
	wait func(context.Context, time.Duration) error
}

func (s *sink) pause(ms int) error {
	if ms <= 0 {
		return s.r.Context().Err()
	}
	return s.wait(s.r.Context(), time.Duration(ms)*time.Millisecond)
}

func (s *sink) flush() {
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (s *sink) write(b []byte) error {
	_, err := s.w.Write(b)
	s.flush()
	return err
}

func (s *sink) fail(f Failure) {
	message := f.Message
	if message == "" {
		message = "The scripted server fails here."
	}
	switch f.Kind {
	case FailReset:
		s.reset()
	case FailAbort:
		panic(http.ErrAbortHandler)
	case FailClose, FailEmpty:
	case FailStall:
		<-s.r.Context().Done()
	case FailHTML:
		s.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(s.w, "<!doctype html><html><head><title>Portal</title></head><body>Sign in</body></html>")
	case FailEvent:
		raw, _ := encode(map[string]any{"error": map[string]any{"message": message, "code": max(f.Status, 500), "type": f.Code}})
		_ = s.write([]byte("data: " + string(raw) + "\n\n"))
	default:
		if f.RetryAfter != "" {
			s.w.Header().Set("Retry-After", f.RetryAfter)
		}
		status := f.Status
		if status == 0 {
			status = http.StatusServiceUnavailable
		}
		if f.Body != "" {
			s.w.WriteHeader(status)
			fmt.Fprint(s.w, f.Body)
			return
		}
		writeError(s.w, status, f.Code, message)
	}
}

// reset cuts the connection so that the client sees a reset, not an end.
func (s *sink) reset() {
	conn, _, err := http.NewResponseController(s.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (s *sink) raw(r Raw) {
	for k, v := range r.Headers {
		s.w.Header().Set(k, v)
	}
	status := r.Status
	if status == 0 {
		status = http.StatusOK
	}
	s.w.WriteHeader(status)
	for i, piece := range r.Chunking.pieces([]byte(r.Body)) {
		if i > 0 && s.pause(r.Chunking.DelayMS) != nil {
			return
		}
		if s.write(piece) != nil {
			return
		}
	}
	switch r.Chunking.End {
	case "reset":
		s.reset()
	case "abort":
		panic(http.ErrAbortHandler)
	case "hold":
		_ = s.pause(max(r.Chunking.HoldMS, 1))
	case "stall":
		<-s.r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, _ := encode(v)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": code, "code": code}})
}

// mask hides keys in headers.
func mask(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key"} {
		if v := h.Get(name); v != "" {
			word, _, _ := strings.Cut(v, " ")
			if word == v {
				word = ""
			}
			h.Set(name, strings.TrimSpace(word+" ***"))
		}
	}
	return h
}

var picture = regexp.MustCompile(`data:(image/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=]{64,})`)

// withoutPictures replaces the bytes of pictures by their size and hash.
func withoutPictures(body []byte) []byte {
	return picture.ReplaceAllFunc(body, func(m []byte) []byte {
		g := picture.FindSubmatch(m)
		sum := sha256.Sum256(g[2])
		return fmt.Appendf(nil, "data:%s;bytes=%d;sha256=%s", g[1], len(g[2])*3/4, hex.EncodeToString(sum[:8]))
	})
}
