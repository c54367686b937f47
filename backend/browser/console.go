package browser

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// logLine is one message of the console.
type logLine struct {
	level, text, place string
	at                 float64 // ms since 1970
	session            string
	parts              []remote
}

type remote struct {
	Type, Subtype, Description, ObjectID string
	Unserializable                       string `json:"unserializableValue"`
	Value                                any
	Preview                              *preview
}

type preview struct {
	Subtype, Description string
	Overflow             bool
	Properties           []struct{ Name, Type, Subtype, Value string }
}

type consoleCall struct {
	Type       string
	Args       []remote
	Timestamp  float64
	StackTrace *struct {
		CallFrames []struct {
			URL        string
			LineNumber int
		}
	}
}

func (e consoleCall) line(session string) logLine {
	l := logLine{level: e.Type, at: e.Timestamp, session: session, parts: e.Args}
	if e.StackTrace != nil && len(e.StackTrace.CallFrames) > 0 {
		f := e.StackTrace.CallFrames[0]
		l.place = place(f.URL, f.LineNumber)
	}
	return l
}

type exceptionThrown struct {
	Timestamp        float64
	ExceptionDetails struct {
		Text, URL  string
		LineNumber int
		Exception  *remote
	}
}

func (e exceptionThrown) line() logLine {
	d := e.ExceptionDetails
	l := logLine{level: "error", text: d.Text, at: e.Timestamp, place: place(d.URL, d.LineNumber)}
	if d.Exception != nil {
		said := d.Exception.String()
		if first, _, ok := strings.Cut(said, "\n    at "); ok {
			said = first
		}
		l.text += " " + said
	}
	return l
}

type logEntry struct {
	Entry struct {
		Source, Level, Text, URL string
		Timestamp                float64
		LineNumber               int
	}
}

func (e logEntry) line() logLine {
	at := e.Entry.URL
	if e.Entry.LineNumber > 0 || e.Entry.Source != "network" {
		at = place(e.Entry.URL, e.Entry.LineNumber)
	}
	return logLine{level: e.Entry.Level, text: e.Entry.Text, place: at, at: e.Entry.Timestamp}
}

// logged files a line while somebody asks; the lock is held.
func (t *tab) logged(l logLine) {
	if t.logs != nil {
		*t.logs = append(*t.logs, l)
	}
}

// place names a script and its line.
func place(address string, line int) string {
	if address == "" {
		return ""
	}
	if u, err := url.Parse(address); err == nil && u.Path != "" {
		parts := strings.Split(u.Path, "/")
		if last := parts[len(parts)-1]; last != "" {
			address = last
		}
	}
	return fmt.Sprintf("%s:%d", short(address, 80), line+1)
}

// String tells a value as far as it is known without running anything of the page.
func (r remote) String() string {
	switch {
	case r.Preview != nil && r.Subtype != "error":
		return r.Preview.String()
	case r.Unserializable != "":
		return r.Unserializable
	case r.Value != nil:
		return fmt.Sprint(r.Value)
	case r.Description != "":
		return r.Description
	case r.Subtype != "":
		return r.Subtype
	}
	return r.Type
}

func (p *preview) String() string {
	var parts []string
	for _, f := range p.Properties {
		v := f.Value
		if f.Type == "string" {
			v = fmt.Sprintf("%q", v)
		}
		if p.Subtype != "array" {
			v = f.Name + ": " + v
		}
		parts = append(parts, v)
	}
	if p.Overflow {
		parts = append(parts, "…")
	}
	inside := strings.Join(parts, ", ")
	if p.Subtype == "array" {
		return "[" + inside + "]"
	}
	if name := p.Description; name != "" && name != "Object" {
		return name + " {" + inside + "}"
	}
	return "{" + inside + "}"
}

// Console lists what the current page logged since it was loaded, uncaught
// errors and the browser's own messages with it, the newest last. The browser
// keeps these lines by itself, so a page that nobody asks about costs nothing.
func (s *Session) Console(ctx context.Context, filter string, limit int) (View, error) {
	ctx, t, done, err := s.begin(ctx, DefaultLimit, false)
	if err != nil {
		return View{}, err
	}
	defer done()
	v, err := t.console(ctx, filter, limit)
	return v, s.explain(ctx, t, err)
}

func (t *tab) console(ctx context.Context, filter string, limit int) (View, error) {
	var list []logLine
	t.mu.Lock()
	t.logs = &list
	sessions := []string{t.session}
	for _, f := range t.frames {
		if f.session != "" && !slices.Contains(sessions, f.session) {
			sessions = append(sessions, f.session)
		}
	}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.logs = nil
		t.mu.Unlock()
		for _, id := range sessions {
			t.r.p.conn.send(id, "Runtime.disable", nil)
			t.r.p.conn.send(id, "Log.disable", nil)
		}
	}()
	// Enabling replays what was kept before it is answered.
	var waits []<-chan answer
	for _, id := range sessions {
		waits = append(waits, t.r.p.conn.send(id, "Log.enable", nil), t.r.p.conn.send(id, "Runtime.enable", nil))
	}
	for i, ch := range waits {
		if err := t.await(ctx, ch, "Runtime.enable", nil); err != nil && i < 2 {
			return View{}, err
		}
	}
	t.mu.Lock()
	lines := slices.Clone(list)
	address, title := t.url, t.title
	t.mu.Unlock()
	slices.SortStableFunc(lines, func(a, b logLine) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	older := 0
	if n := len(lines) - ringSize; n > 0 {
		lines, older = lines[n:], n
	}
	t.openObjects(ctx, lines)
	var out []string
	last, times := "", 0
	for i := range lines {
		l := lines[i].String()
		if filter != "" && !contains(l, filter) {
			continue
		}
		if l == last {
			times++
			out[len(out)-1] = fmt.Sprintf("%s (%d times)", l, times)
			continue
		}
		last, times = l, 1
		out = append(out, l)
	}
	return View{URL: address, Title: title, Text: newest(out, older, limit)}, nil
}

// openObjects asks what is in the logged objects; no code of the page runs.
func (t *tab) openObjects(ctx context.Context, lines []logLine) {
	type job struct {
		part *remote
		ch   <-chan answer
	}
	var jobs []job
	for i := range lines {
		for j := range lines[i].parts {
			p := &lines[i].parts[j]
			if p.Type == "object" && p.ObjectID != "" && p.Subtype != "error" && len(jobs) < ringSize {
				jobs = append(jobs, job{p, t.r.p.conn.send(lines[i].session, "Runtime.callFunctionOn", map[string]any{
					"objectId": p.ObjectID, "functionDeclaration": "function(){return this}", "generatePreview": true, "silent": true,
				})})
			}
		}
	}
	for _, j := range jobs {
		var got struct{ Result remote }
		if t.await(ctx, j.ch, "Runtime.callFunctionOn", &got) == nil {
			j.part.Preview = got.Result.Preview
		}
	}
}

// String is `level: text (script.js:12)`.
func (l logLine) String() string {
	text := l.text
	if l.parts != nil {
		var parts []string
		for _, p := range l.parts {
			parts = append(parts, p.String())
		}
		text = strings.Join(parts, " ")
	}
	s := l.level + ": " + oneLine(text, 300)
	if l.place != "" {
		s += " (" + oneLine(l.place, 120) + ")"
	}
	return s
}

// oneLine is text on one line without control and direction marks, n bytes at most.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	return short(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '�'
		}
		return r
	}, s), n)
}
