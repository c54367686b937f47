package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf16"

	"gofer/backend/agent"
	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/id"
	"gofer/backend/llm"
	"gofer/backend/logbook"
	"gofer/backend/store"
	"gofer/backend/tool"
)

// journal stores and tells what happens in one run. The run's goroutine owns
// it; the partial reply and the status may be read by others.
type journal struct {
	engine *Engine
	fence  *store.Fence
	run    store.Run
	model  string

	iterationStart time.Time
	openIteration  bool
	begun          int // the model call that was announced last
	usage          chat.Usage
	lastUsage      *chat.Usage
	titles         map[string]string // of calls under way
	taint          string            // where the last outside text in the context came from
	read           map[string]bool   // where all of it came from, see noted

	mu       sync.Mutex
	partial  *stream
	progress map[string]*logbook.Stream // live output, by call
	status   event.Status
}

// stream is a reply in the making.
type stream struct {
	messageID       string
	text, reasoning chat.Pieces
	offsets         map[deltaKey]int
	clean           map[deltaKey]*logbook.Stream
}

// deltaKey names one growing text of a reply.
type deltaKey struct {
	kind llm.DeltaKind
	call int
}

func (j *journal) commit(ctx context.Context, do func(*store.Commit) error) error {
	return j.fence.Commit(ctx, do)
}

// say adds the changed status record to a commit and remembers it.
func (j *journal) say(c *store.Commit, change func(*event.Status)) error {
	j.mu.Lock()
	status := j.status
	change(&status)
	j.status = status
	j.mu.Unlock()
	return c.Emit(status)
}

// Iteration says that model call n begins and that its reply will stream.
func (j *journal) Iteration(ctx context.Context, n int) error {
	if j.begun == n {
		return nil
	}
	messageID := id.New()
	if err := j.commit(ctx, func(c *store.Commit) error { return j.announce(c, n, messageID) }); err != nil {
		return err
	}
	j.start(n, messageID)
	return nil
}

// announce adds to a commit that model call n begins and that its reply will
// stream.
func (j *journal) announce(c *store.Commit, n int, messageID string) error {
	if err := j.closeIteration(c); err != nil {
		return err
	}
	c.Iteration(n)
	if err := c.Emit(event.IterationStarted{N: n, Model: j.model}); err != nil {
		return err
	}
	if err := c.Emit(event.MessageStarted{MessageID: messageID}); err != nil {
		return err
	}
	return j.say(c, func(s *event.Status) { s.State, s.Iteration, s.CurrentTool = event.Thinking, n, "" })
}

// start makes ready for the reply that was announced.
func (j *journal) start(n int, messageID string) {
	j.begun, j.openIteration, j.iterationStart, j.lastUsage = n, true, j.engine.now(), nil
	j.begin(messageID)
}

// closeIteration tells that the iteration before is done.
func (j *journal) closeIteration(c *store.Commit) error {
	if !j.openIteration {
		return nil
	}
	j.openIteration = false
	return c.Emit(event.IterationFinished{N: j.status.Iteration, Usage: j.lastUsage, ElapsedMS: max(0, j.engine.now().Sub(j.iterationStart).Milliseconds())})
}

// Restart drops what has streamed of a reply that is tried again.
func (j *journal) restart(ctx context.Context) error {
	messageID := id.New()
	err := j.commit(ctx, func(c *store.Commit) error { return c.Emit(event.MessageStarted{MessageID: messageID}) })
	j.begin(messageID)
	return err
}

func (j *journal) begin(messageID string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.partial = &stream{messageID: messageID, offsets: map[deltaKey]int{}, clean: map[deltaKey]*logbook.Stream{}}
}

// Delta passes on a piece of the streaming reply. A key that comes in pieces
// is not told either.
func (j *journal) Delta(d llm.Delta) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.partial == nil {
		return
	}
	key := deltaKey{d.Kind, d.Call}
	clean := j.partial.clean[key]
	if clean == nil {
		clean = j.engine.redact.Stream()
		j.partial.clean[key] = clean
	}
	named := d.Text == "" // it says more than a text
	if d.Text = clean.Next(d.Text); d.Text != "" || named {
		j.pass(d)
	}
}

// pass tells a piece of the streaming reply. The caller holds the lock.
func (j *journal) pass(d llm.Delta) {
	key := deltaKey{d.Kind, d.Call}
	e := event.Of(j.run.SessionID, j.run.ID, event.MessageDelta{MessageID: j.partial.messageID, Kind: string(d.Kind), Offset: j.partial.offsets[key], Text: d.Text, Call: d.Call, Name: d.Name})
	e.At = j.engine.now().UnixMilli()
	j.partial.offsets[key] += units(d.Text)
	switch d.Kind {
	case llm.DeltaText:
		j.partial.text.Add(d.Text)
	case llm.DeltaReasoning:
		j.partial.reasoning.Add(d.Text)
	}
	j.engine.bus.Publish(e)
}

// rest tells what the texts of the reply held back. The caller holds the lock.
func (j *journal) rest() {
	for key, clean := range j.partial.clean {
		if text := clean.Rest(); text != "" {
			j.pass(llm.Delta{Kind: key.kind, Call: key.call, Text: text})
		}
	}
}

// units counts UTF-16 code units, in which JavaScript measures text.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// Reply stores the finished reply.
func (j *journal) Reply(ctx context.Context, r llm.Reply) (chat.Message, error) {
	if r.Usage != nil {
		j.usage, j.lastUsage = j.usage.Add(*r.Usage), r.Usage
	}
	j.mu.Lock()
	j.rest()
	m := chat.Message{ID: j.partial.messageID, Parts: r.Parts, Calls: r.Calls, Model: r.Model, Finish: string(r.Finish), Usage: r.Usage, Replay: r.Replay}
	j.partial = &stream{messageID: m.ID} // of the whole texts, in place of their pieces
	j.partial.text.Add(m.Text())
	j.partial.reasoning.Add(m.Reasoning())
	j.mu.Unlock()
	if len(m.Text()) > 1<<20 { // SQLite is about to copy it; what its pieces took is free now
		debug.FreeOSMemory()
	}
	err := j.commit(ctx, func(c *store.Commit) (err error) {
		if m, err = c.Reply(m, j.usage, min(j.iterationStart.UnixMilli(), c.Now())); err != nil {
			return err
		}
		if len(m.Calls) == 0 {
			if err := j.closeIteration(c); err != nil {
				return err
			}
		}
		return j.say(c, func(s *event.Status) { s.LastMessage = firstRunes(m.Text(), 200) })
	})
	if err == nil && r.Usage != nil {
		_, err = j.engine.today(ctx, r.Usage.Cost)
	}
	j.mu.Lock()
	j.partial = nil
	j.mu.Unlock()
	return m, err
}

// Started stores that calls begin.
func (j *journal) Started(ctx context.Context, replyID string, calls []agent.Call) error {
	j.titles = map[string]string{}
	for _, call := range calls {
		j.titles[call.ID] = call.Title
	}
	return j.commit(ctx, func(c *store.Commit) error {
		for _, call := range calls {
			if err := c.StartCall(replyID, call.ToolCall, call.Title, string(call.Effect)); err != nil {
				return err
			}
		}
		return j.say(c, func(s *event.Status) { s.State, s.CurrentTool = event.ToolCall, calls[0].Name })
	})
}

// Progress passes on live output of a call.
func (j *journal) Progress(callID, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	clean := j.progress[callID]
	if clean == nil {
		if j.progress == nil {
			j.progress = map[string]*logbook.Stream{}
		}
		clean = j.engine.redact.Stream()
		j.progress[callID] = clean
	}
	j.passProgress(callID, clean.Next(text))
}

// endProgress tells what the output of a call held back.
func (j *journal) endProgress(callID string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if clean := j.progress[callID]; clean != nil {
		delete(j.progress, callID)
		j.passProgress(callID, clean.Rest())
	}
}

// passProgress tells a piece of live output. The caller holds the lock.
func (j *journal) passProgress(callID, text string) {
	if text == "" {
		return
	}
	e := event.Of(j.run.SessionID, j.run.ID, event.ToolProgress{CallID: callID, Text: text})
	e.At = j.engine.now().UnixMilli()
	j.engine.bus.Publish(e)
}

// Finished keeps the files of a call and stores its answer.
func (j *journal) Finished(ctx context.Context, call chat.ToolCall, state chat.CallState, r tool.Result, elapsed time.Duration, next int) (chat.Message, error) {
	j.endProgress(call.ID)
	r.Text, r.Outcome = j.engine.redact.Known(r.Text), j.engine.redact.Known(r.Outcome)
	result := chat.ToolResult{CallID: call.ID, Name: call.Name, State: state, Title: j.titles[call.ID], Text: r.Text, Outcome: r.Outcome, Origin: r.Origin, ElapsedMS: elapsed.Milliseconds()}
	for _, f := range r.Files {
		if strings.HasPrefix(f.Media, "text/") || f.Media == "application/json" {
			f.Bytes = j.engine.redact.Value(f.Bytes).([]byte)
		}
		kept, err := j.engine.store.PutBlob(ctx, j.run.SessionID, chat.Artifact{Name: f.Name, Media: f.Media, Width: f.Width, Height: f.Height}, f.Bytes)
		if err != nil {
			return chat.Message{}, err
		}
		result.Artifacts = append(result.Artifacts, kept)
		result.Text = strings.TrimRight(result.Text, "\n") + "\n" + describe(kept)
	}
	var m chat.Message
	messageID := id.New()
	err := j.commit(ctx, func(c *store.Commit) (err error) {
		if m, err = c.FinishCall(result); err != nil {
			return err
		}
		if len(r.Record) > 0 {
			if err := c.RecordCall(call.ID, r.Record); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		return j.announce(c, next, messageID)
	})
	if err == nil && r.Origin != "" {
		j.taint, j.read = r.Origin, noted(j.read, r.Origin)
	}
	if err == nil && next != 0 {
		j.start(next, messageID)
	}
	return m, err
}

// taintOf is where the last outside text of a context came from.
func taintOf(messages []chat.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Result != nil && m.Result.Origin != "" {
			return m.Result.Origin
		}
	}
	return ""
}

// readIn is where all outside text of a context came from.
func readIn(messages []chat.Message) map[string]bool {
	var read map[string]bool
	for _, m := range messages {
		if m.Result != nil && m.Result.Origin != "" {
			read = noted(read, m.Result.Origin)
		}
	}
	return read
}

// describe tells the model of a kept file: its key and size, never its bytes.
func describe(a chat.Artifact) string {
	if a.Width > 0 {
		return fmt.Sprintf("[kept %s: key %s, %d×%d pixels, %d bytes]", a.Name, a.Blob[:12], a.Width, a.Height, a.Size)
	}
	return fmt.Sprintf("[kept %s: key %s, %d bytes]", a.Name, a.Blob[:12], a.Size)
}

// Notice tells the person a plain sentence.
func (j *journal) Notice(ctx context.Context, text string) error {
	return j.commit(ctx, func(c *store.Commit) error { return c.Emit(event.Notice{Text: text}) })
}

// retrying tells that a model call failed and is tried again.
func (j *journal) retrying(ctx context.Context, attempt int, wait time.Duration, failed *llm.Error) error {
	return j.commit(ctx, func(c *store.Commit) error {
		return c.Emit(event.RouteRetrying{Attempt: attempt, WaitMS: wait.Milliseconds(), Kind: string(failed.Kind), Reason: j.engine.redact.Redact(failed.Message)})
	})
}

// switched tells that another model answers from here on, and notes it on the run.
func (j *journal) switched(ctx context.Context, from string, to choice, failed *llm.Error) error {
	e := event.RouteSwitched{From: from, To: to.title(), Provider: to.providerName, Model: to.name, Reason: "It is used again."}
	if failed != nil {
		e.Kind, e.Reason = string(failed.Kind), j.engine.redact.Redact(failed.Message)
	}
	j.model = to.name
	return j.commit(ctx, func(c *store.Commit) error {
		c.Model(to.provider, to.name)
		return c.Emit(e)
	})
}

// live returns the partial reply and the status, for a snapshot.
func (j *journal) live() (*Partial, event.Status) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.partial == nil {
		return nil, j.status
	}
	p := j.partial
	return &Partial{RunID: j.run.ID, MessageID: p.messageID, Text: p.text.String(), Reasoning: p.reasoning.String()}, j.status
}

// firstRunes returns the first words of a text, on one line, n runes at most.
func firstRunes(s string, n int) string {
	r := oneLine(s, n+1)
	if len(r) <= n {
		return string(r)
	}
	cut := string(r[:n])
	// A word is not cut in two unless it is most of the text.
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 && r[n] != ' ' {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:.-")
}

// oneLine returns the first runes of a text with every run of white space as
// one blank. It reads no more of a long text than it needs.
func oneLine(s string, n int) []rune {
	var out []rune
	for _, r := range s {
		switch {
		case !unicode.IsSpace(r):
			out = append(out, r)
		case len(out) > 0 && out[len(out)-1] != ' ':
			out = append(out, ' ')
		}
		if len(out) > n {
			break
		}
	}
	for len(out) > 0 && len(out) <= n && out[len(out)-1] == ' ' {
		out = out[:len(out)-1]
	}
	return out[:min(len(out), n)]
}
