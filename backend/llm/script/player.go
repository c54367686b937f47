package script

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Player is an http.Handler that plays scripts. Make it with New.
type Player struct {
	// Wait sleeps; tests that own time replace it before the first request.
	Wait func(ctx context.Context, d time.Duration) error
	// Forget keeps no request bodies, for a player that runs in the product.
	Forget bool
	// Overlay changes every made reply; the zero value changes nothing.
	Overlay Overlay

	scripts []Script

	mu       sync.Mutex
	memories map[string]*memory
	known    patterns
	requests []Recorded
	problems []string
	gates    map[string]*gate
}

// Recorded is a request as it came in.
type Recorded struct {
	At      time.Time
	Path    string
	Header  http.Header // keys masked
	Body    []byte      // pictures replaced by media type, size and hash
	Model   string
	Step    int // place of the answer in the script, -1 without one
	Side    bool
	Problem string        // why it was answered with 418
	Left    bool          // the client went away before the end
	Took    time.Duration // until the answer ended or the client left
}

// New makes a player of scripts, one per model name.
func New(scripts ...Script) *Player {
	return &Player{
		Wait: func(ctx context.Context, d time.Duration) error {
			if d <= 0 {
				return ctx.Err()
			}
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-t.C:
				return nil
			}
		},
		scripts: scripts, memories: map[string]*memory{}, known: patterns{}, gates: map[string]*gate{},
	}
}

// Requests returns what came in so far.
func (p *Player) Requests() []Recorded {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Problems returns what was wrong with the requests so far. A test fails with them.
func (p *Player) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// gate holds replies until it is opened.
type gate struct {
	reached, open       chan struct{}
	reachOnce, openOnce sync.Once
}

func (p *Player) gate(name string) *gate {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.gates[name]
	if g == nil {
		g = &gate{reached: make(chan struct{}), open: make(chan struct{})}
		p.gates[name] = g
	}
	return g
}

// Reached is closed when a reply waits at the gate of that name.
func (p *Player) Reached(name string) <-chan struct{} { return p.gate(name).reached }

// Release opens a gate for good.
func (p *Player) Release(name string) {
	g := p.gate(name)
	g.openOnce.Do(func() { close(g.open) })
}

// ServeHTTP answers POST …/chat/completions and GET …/models.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		p.models(w)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		p.complete(w, r, started)
	default:
		writeError(w, http.StatusNotFound, "not_found", "There is nothing at "+r.URL.Path)
	}
}

func (p *Player) models(w http.ResponseWriter) {
	data := []any{}
	for _, s := range p.scripts {
		if s.Model != "" {
			data = append(data, map[string]any{"id": s.Model, "object": "model", "created": created, "owned_by": "script"})
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func (p *Player) complete(w http.ResponseWriter, r *http.Request, started time.Time) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		writeError(w, http.StatusBadRequest, "bad_request", "The body could not be read.")
		return
	}
	a := p.answer(body, r.Header)
	rec := Recorded{At: started, Path: r.URL.Path, Header: mask(r.Header), Model: a.req.model, Step: -1, Side: a.side, Problem: a.problem}
	if !p.Forget {
		rec.Body = withoutPictures(body)
	}
	if a.step != nil {
		rec.Step = a.step.n
	}
	i := p.record(rec)
	defer func() {
		p.mu.Lock()
		p.requests[i].Left = r.Context().Err() != nil
		p.requests[i].Took = time.Since(started)
		p.mu.Unlock()
	}()
	if a.refused != "" {
		writeError(w, http.StatusBadRequest, "invalid_request_error", a.refused)
		return
	}
	if a.problem != "" {
		writeError(w, http.StatusTeapot, "script_problem", a.problem)
		return
	}
	p.reply(w, r, a)
}

func (p *Player) record(rec Recorded) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rec.Problem != "" {
		p.problems = append(p.problems, fmt.Sprintf("request %d (model %q): %s", len(p.requests)+1, rec.Model, rec.Problem))
	}
	p.requests = append(p.requests, rec)
	return len(p.requests) - 1
}

// answer is what a request gets.
type answer struct {
	req     request
	size    int // bytes of the request, for usage
	step    *step
	fail    *Failure
	side    bool
	strict  string
	problem string
	refused string // why the provider itself would refuse
}

func (p *Player) answer(body []byte, header http.Header) answer {
	req, err := parseRequest(body)
	a := answer{req: req, size: len(body)}
	if err != nil {
		a.problem = err.Error()
		return a
	}
	s, ok := p.find(req.model)
	if !ok {
		a.problem = fmt.Sprintf("no script answers for the model %q", req.model)
		return a
	}
	for _, r := range rules {
		if err := r.err(req.tree); err != nil && !slices.Contains(s.Allow, r.name) {
			a.problem = r.name + ": " + err.Error()
			return a
		}
	}
	if a.strict = s.Strict; s.Strict != "" {
		if err := strict[s.Strict](req.tree); err != nil {
			a.problem, a.refused = s.Strict+": "+err.Error(), err.Error()
			return a
		}
	}
	if len(req.tools) == 0 && callsTools(s.Turns) {
		a.side, a.step = true, &step{text: []string{sideText(s, req)}}
		return a
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a.step, a.fail, err = p.next(s, req)
	if err != nil {
		a.problem = err.Error()
		return a
	}
	for _, c := range a.step.turn.Match {
		if err := c.on(req.tree, header); err != nil {
			a.problem = prefix(a.step.turn.Name) + err.Error()
		}
	}
	return a
}

func (p *Player) find(model string) (Script, bool) {
	for _, s := range p.scripts {
		if s.Model == model || s.Model == "" {
			return s, true
		}
	}
	return Script{}, false
}

func sideText(s Script, req request) string {
	all := req.text()
	for _, side := range s.Side {
		if re, err := regexp.Compile(side.Match); err == nil && re.MatchString(all) {
			return side.Text
		}
	}
	return "A side note of the scripted model."
}

// next works out the step for a request. The caller holds the lock.
func (p *Player) next(s Script, req request) (*step, *Failure, error) {
	mem := p.memories[req.model]
	if mem == nil {
		mem = &memory{tries: map[int]int{}}
		p.memories[req.model] = mem
	}
	doubt := s.Doubt
	if doubt == "" {
		doubt = DefaultDoubt
	}
	re, err := p.known.compile(doubt)
	if err != nil {
		return nil, nil, err
	}
	start, found := req.opening(s.Prompt)
	w := &walker{script: s, doubt: re, env: env{vars: map[string]string{}, labels: map[string][]string{}, tools: req.tools, known: p.known}}
	if found {
		mem.prompt = req.messages[start].text
	}
	w.env.prompt = mem.prompt
	prompts := 0
	for _, m := range req.messages {
		if m.role == "user" && s.Prompt != "" && strings.Contains(m.text, s.Prompt) {
			prompts++
		}
	}
	w.salt = fmt.Sprint(req.model, prompts)
	if s.By == ByHistory {
		scope := req.messages
		if found {
			scope = scope[start:]
		}
		facts, texts := factsOf(scope)
		fresh := found && len(facts) == 0 && !slices.ContainsFunc(scope, func(m message) bool { return m.role == "assistant" })
		w.past = &history{facts: mem.recall(facts, fresh), texts: texts}
	} else {
		w.past = mem.order(req)
	}
	st, err := w.run()
	if err != nil {
		return nil, nil, err
	}
	if mem.tries == nil {
		mem.tries = map[int]int{}
	}
	fail := failureAt(st.turn.Fail, mem.tries[st.n])
	mem.tries[st.n]++
	if fail == nil && s.By != ByHistory {
		mem.served = append(mem.served, st)
	}
	return st, fail, nil
}

// order returns the past of a conversation whose turns go in order.
func (m *memory) order(req request) *order {
	o := &order{served: m.served, results: map[string]string{}}
	shown, _ := factsOf(req.messages)
	for _, f := range m.recall(shown, false) {
		o.results[f.id] = f.text
	}
	for _, f := range m.facts {
		if _, ok := o.results[f.id]; !ok {
			o.results[f.id] = f.text
		}
	}
	return o
}
