package engine_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm/script"
)

// unnamed leaves the naming of sessions to their first words.
func (r *rig) unnamed() { r.settings(func(s *config.Settings) { s.Titles = "prompt" }) }

func (r *rig) settings(change func(*config.Settings)) {
	r.t.Helper()
	s, err := r.Settings(r.t.Context())
	if err == nil {
		change(&s)
		_, err = r.SaveSettings(r.t.Context(), s)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// add sets up a provider whose model is played by the script of that name.
func (r *rig) add(name, model string) engine.Provider {
	r.t.Helper()
	p, err := r.SaveProvider(r.t.Context(), engine.ProviderSpec{Name: name, BaseURL: r.model.URL, Model: model})
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) start(spec engine.SessionSpec) engine.Session {
	r.t.Helper()
	spec.Workspace, spec.Mode = r.work, "full"
	s, err := r.CreateSession(r.t.Context(), spec)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func of[T event.Data](events []event.Envelope) []T {
	var out []T
	for _, e := range events {
		if d, ok := e.Data.(T); ok {
			out = append(out, d)
		}
	}
	return out
}

func (r *rig) asked(model string) int {
	n := 0
	for _, q := range r.model.Requests() {
		if q.Model == model {
			n++
		}
	}
	return n
}

// server is a model server in the test's own words.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	keys   []string
}

func newServer(t *testing.T, answer func(body string) (status int, reply string)) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies, s.keys = append(s.bodies, string(raw)), append(s.keys, r.Header.Get("Authorization"))
		s.mu.Unlock()
		status, reply := answer(string(raw))
		w.WriteHeader(status)
		fmt.Fprint(w, reply)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) seen() ([]string, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies), slices.Clone(s.keys)
}

func said(text string) string {
	raw, _ := json.Marshal(text)
	return `{"choices":[{"message":{"content":` + string(raw) + `},"finish_reason":"stop"}]}`
}

func TestOneOfSeveralKeysIsInUse(t *testing.T) {
	s := newServer(t, func(string) (int, string) { return 200, said("fine") })
	r := newRig(t)
	r.unnamed()
	first, second := "sk-first-0123456789abcd1111", "sk-second-0123456789abcd2222"
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Cedar", BaseURL: s.URL + "/v1", Model: "m", Key: &first})
	if err != nil || len(p.Keys) != 1 || p.Keys[0].Hint != "1111" || !p.Keys[0].Active {
		t.Fatalf("SaveProvider = %+v, %v", p, err)
	}
	p, err = r.SaveKey(t.Context(), engine.KeySpec{Provider: p.ID, Alias: ptr("home")})
	if err != nil || len(p.Keys) != 1 || p.Keys[0].ID == "" || p.Keys[0].Alias != "home" || p.Keys[0].Hint != "1111" || !p.Keys[0].Active {
		t.Fatalf("a name for the single key: %+v, %v", p, err)
	}
	until := time.Now().Add(time.Hour).UnixMilli()
	p, err = r.SaveKey(t.Context(), engine.KeySpec{Provider: p.ID, Key: &second, Alias: ptr("work"), Expires: &until})
	if err != nil || len(p.Keys) != 2 || !p.Keys[0].Active || p.Keys[1].Active || p.Keys[1].Alias != "work" || p.Keys[1].Hint != "2222" || p.Keys[1].Place != "file" || p.Keys[1].Expires != until {
		t.Fatalf("SaveKey = %+v, %v", p, err)
	}
	session := r.start(engine.SessionSpec{})
	r.finished(r.send(session, "go"))
	p, err = r.SaveKey(t.Context(), engine.KeySpec{Provider: p.ID, ID: p.Keys[1].ID, Active: true})
	if err != nil || p.KeyHint != "2222" {
		t.Fatalf("the second in use: %+v, %v", p, err)
	}
	r.finished(r.send(session, "again"))
	r.Close()
	r.open() // a later start finds the same
	r.finished(r.send(session, "and again"))
	p, err = r.RemoveKey(t.Context(), p.ID, p.Keys[1].ID)
	if err != nil || len(p.Keys) != 1 || p.KeyHint != "1111" {
		t.Fatalf("RemoveKey = %+v, %v", p, err)
	}
	r.finished(r.send(session, "with the first"))
	if _, keys := s.seen(); !slices.Equal(keys, []string{"Bearer " + first, "Bearer " + second, "Bearer " + second, "Bearer " + first}) {
		t.Errorf("sent %v", keys)
	}
}

func TestWhatARefusalTaughtOutlivesTheProcess(t *testing.T) {
	s := newServer(t, func(body string) (int, string) {
		if strings.Contains(body, "stream_options") {
			return 400, `{"error":{"message":"unknown field stream_options"}}`
		}
		return 200, said("fine")
	})
	r := newRig(t)
	session := r.start(engine.SessionSpec{Endpoint: &engine.Endpoint{BaseURL: s.URL + "/v1", Model: "m"}})
	r.finished(r.send(session, "go"))
	if notices := of[event.Notice](r.seen); len(notices) != 1 || !strings.Contains(notices[0].Text, "stream_options") {
		t.Errorf("told %+v", notices)
	}
	r.finished(r.send(session, "again"))
	r.Close()
	r.open()
	r.finished(r.send(session, "after a restart"))
	if bodies, _ := s.seen(); len(bodies) != 4 {
		t.Errorf("got %d requests, want 4: one to learn and three to answer", len(bodies))
	}
}

func TestATraitNobodyKnowsIsRefused(t *testing.T) {
	r := newRig(t)
	for name, value := range map[string]any{"strictRole": true, "strictRoles": "yes", "leave": "stop"} {
		_, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "openai", Profile: map[string]any{name: value}})
		if f := fault.From(err); f == nil || f.Code != fault.Invalid || !strings.Contains(f.Message, name) || !strings.Contains(f.Hint, "strictRoles") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "openai", Profile: map[string]any{"strictRoles": true, "leave": []string{"stop"}}})
	if err != nil || len(p.Profile) != 2 {
		t.Errorf("got %v, %v", p.Profile, err)
	}
}

func TestThePersonsNumbersCountBeforeThePresets(t *testing.T) {
	r := newRig(t)
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "openai", Model: "gpt-5.1"})
	if err != nil {
		t.Fatal(err)
	}
	find := func() engine.ModelInfo {
		list, err := r.Models(t.Context(), p.ID)
		if err != nil || len(list) == 0 {
			t.Fatalf("Models = %v, %v", list, err)
		}
		return list[slices.IndexFunc(list, func(m engine.ModelInfo) bool { return m.Name == "gpt-5.1" })]
	}
	if m := find(); m.Input != 272_000 || !m.Vision || m.PriceOutput == nil || *m.PriceOutput != 10 {
		t.Fatalf("the preset says %+v", m)
	}
	if _, err := r.SaveModel(t.Context(), p.ID, config.Model{Name: "gpt-5.1", Input: 1000, Vision: ptr(false), PriceOutput: ptr(7.5)}); err != nil {
		t.Fatal(err)
	}
	if m := find(); m.Input != 1000 || m.Output != 128_000 || m.Vision || *m.PriceOutput != 7.5 || *m.PriceInput != 1.25 {
		t.Errorf("with own numbers: %+v", m)
	}
	if _, err := r.SaveModel(t.Context(), p.ID, config.Model{Name: "gpt-5.1"}); err != nil {
		t.Fatal(err)
	}
	if m := find(); m.Input != 272_000 || !m.Own.Empty() {
		t.Errorf("without them: %+v", m)
	}
	if _, err := r.SaveModel(t.Context(), p.ID, config.Model{Name: "x", PriceInput: ptr(-1.0)}); fault.From(err).Code != fault.Invalid {
		t.Errorf("a price below nothing: %v", err)
	}
}

func TestASessionIsNamedByAModelUnlessAPersonNamesIt(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		var held sync.WaitGroup
		held.Add(1)
		s := newServer(t, func(body string) (int, string) {
			if strings.Contains(body, "You name conversations") {
				held.Wait()
				return 200, said(`"Lamps in the hall and everywhere else."`)
			}
			return 200, said("fine")
		})
		r := newRig(t)
		if _, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Cedar", BaseURL: s.URL + "/v1", Model: "m"}); err != nil {
			t.Fatal(err)
		}
		session := r.start(engine.SessionSpec{})
		r.finished(r.send(session, "tell me of the lamps")) // the run does not wait for its name
		want := "Lamps in the hall and"
		if byHand {
			want = "Mine"
			if _, err := r.ChangeSession(t.Context(), session.ID, engine.SessionChange{Title: &want}); err != nil {
				t.Fatal(err)
			}
		}
		held.Done()
		if byHand {
			r.Close() // waits for the name that comes too late
			r.open()
		} else {
			r.until("the name", func(e event.Envelope) bool {
				d, ok := e.Data.(event.SessionChanged)
				return ok && d.Title == want
			})
			r.Close()
			r.open()
			if u, err := r.Usage(t.Context(), 1); err != nil || len(u.Days) != 1 || u.Days[0].Replies != 2 {
				t.Errorf("after a restart the answer and the name count as %+v, %v", u.Days, err)
			}
		}
		if got := r.snapshot(session).Session.Title; got != want {
			t.Errorf("by hand %v: the title is %q, want %q", byHand, got, want)
		}
	}
}

func TestALocalModelNamesASessionAfterItsRun(t *testing.T) {
	s := newServer(t, func(body string) (int, string) {
		if strings.Contains(body, "You name conversations") {
			return 200, said("Lamps")
		}
		return 200, said("fine")
	})
	r := newRig(t)
	if _, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "ollama", BaseURL: s.URL + "/v1", Model: "m"}); err != nil {
		t.Fatal(err)
	}
	r.send(r.start(engine.SessionSpec{}), "tell me of the lamps")
	r.until("the name", func(e event.Envelope) bool {
		d, ok := e.Data.(event.SessionChanged)
		return ok && d.Title == "Lamps"
	})
	if bodies, _ := s.seen(); len(bodies) != 2 || !strings.Contains(bodies[1], "You name conversations") {
		t.Errorf("the name was asked for first, in %d requests", len(bodies))
	}
}

func TestABudgetWarnsThenPausesAndAsks(t *testing.T) {
	costs := func(turn script.Turn) script.Turn {
		turn.Usage = &script.Usage{Input: 100_000, Output: 0}
		return turn
	}
	r := newRig(t, turns("a", costs(write("1.txt", "1")), costs(write("2.txt", "2")), costs(write("3.txt", "3")), costs(write("4.txt", "4")), costs(write("5.txt", "5"))))
	r.unnamed()
	p := r.add("Alder", "a")
	if _, err := r.SaveModel(t.Context(), p.ID, config.Model{Name: "a", PriceInput: ptr(4.0)}); err != nil { // 40 cents a reply
		t.Fatal(err)
	}
	r.settings(func(s *config.Settings) { s.Budget.Run = 1 })
	s := r.start(engine.SessionSpec{})
	runID := r.send(s, "go")
	asked := r.until("the question", ofType("clarification.asked")).Data.(event.ClarificationAsked)
	notices := of[event.Notice](r.seen)
	if len(notices) != 1 || notices[0].Text != "$0.80 of the $1.00 for this run are spent." || !strings.Contains(asked.Question.Title, "$1.20 of $1.00") {
		t.Fatalf("told %+v, asked %q", notices, asked.Question.Title)
	}
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Text: "yes", By: "person"}); err != nil {
		t.Fatal(err)
	}
	asked = r.until("the next question", ofType("clarification.asked")).Data.(event.ClarificationAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Text: "no", By: "person"}); err != nil {
		t.Fatal(err)
	}
	end := r.finished(runID)
	if end.State != event.RunIsFailed || end.Reason != "budget" || end.Usage.Cost != 2 {
		t.Errorf("the run ended %s for %q after $%v, want failed for budget after $2", end.State, end.Reason, end.Usage.Cost)
	}
	report, err := r.Usage(t.Context(), 1)
	if err != nil || report.Total.Cost != 2 || len(report.Days) != 1 || report.Days[0].Replies != 5 || len(report.Models) != 1 || report.Models[0].Name != "a" {
		t.Errorf("Usage = %+v, %v", report, err)
	}
	r.settings(func(s *config.Settings) { s.Budget = config.Budget{Day: 1.5} })
	runID = r.send(s, "one more")
	asked = r.until("the question of the day", ofType("clarification.asked")).Data.(event.ClarificationAsked)
	if !strings.Contains(asked.Question.Title, "budget for today is used up: $2.00 of $1.50") {
		t.Errorf("asked %q", asked.Question.Title)
	}
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{By: "nobody"}); err != nil {
		t.Fatal(err)
	}
	if end := r.finished(runID); end.Reason != "budget" {
		t.Errorf("with nobody there the run ended %+v", end)
	}
}

func TestTheLastReplyOfARunCountsTowardsTheDayToo(t *testing.T) {
	r := newRig(t, turns("a", script.Says("one"), script.Says("never")))
	r.unnamed()
	p := r.add("Alder", "a")
	if _, err := r.SaveModel(t.Context(), p.ID, config.Model{Name: "a", PriceInput: ptr(1e6)}); err != nil { // a dollar a token
		t.Fatal(err)
	}
	r.settings(func(s *config.Settings) { s.Budget.Day = 1 })
	s := r.start(engine.SessionSpec{})
	r.finished(r.send(s, "go"))
	runID := r.send(s, "and again")
	asked := r.until("the question of the day", ofType("clarification.asked")).Data.(event.ClarificationAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Text: "no", By: "person"}); err != nil {
		t.Fatal(err)
	}
	if end := r.finished(runID); end.Reason != "budget" || r.asked("a") != 1 {
		t.Errorf("the run ended %+v after %d requests", end, r.asked("a"))
	}
}

func TestATestShowsWhatAModelCanAndKeepsWhatItLearned(t *testing.T) {
	s := newServer(t, func(body string) (int, string) {
		switch {
		case strings.Contains(body, "stream_options"):
			return 400, `{"error":{"message":"unknown field stream_options"}}`
		case strings.Contains(body, "say_word"):
			return 200, `{"choices":[{"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"say_word","arguments":"{\"word\":\"gofer\"}"}}]}}]}`
		case strings.Contains(body, "image_url"):
			return 200, said("Red.")
		case strings.Contains(body, "numbers from 1"):
			return 200, "data: {\"choices\":[{\"delta\":{\"content\":\"one\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\" two\"}}]}\n\ndata: [DONE]\n\n"
		}
		return 200, said("ready")
	})
	r := newRig(t)
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Cedar", BaseURL: s.URL + "/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.TestProvider(t.Context(), engine.ProviderSpec{ID: p.ID})
	if err != nil || !got.OK || got.Answer != "ready" || got.Model != "m" || len(got.Learned) != 1 || !strings.Contains(got.Learned[0], "stream_options") {
		t.Fatalf("TestProvider = %+v, %v", got, err)
	}
	var what []string
	for _, c := range got.Checks {
		what = append(what, c.What)
		if !c.OK || c.Text == "" {
			t.Errorf("%s: %+v, %+v", c.What, c, c.Problem)
		}
	}
	if !slices.Equal(what, []string{"models", "text", "stream", "tools", "pictures"}) {
		t.Errorf("tried %v", what)
	}
	list, err := r.Models(t.Context(), p.ID)
	if err != nil || len(list) != 1 || !list[0].Vision || len(list[0].Learned) != 1 {
		t.Errorf("afterwards Models = %+v, %v", list, err)
	}
	if bodies, _ := s.seen(); len(bodies) != 5 {
		t.Errorf("got %d requests, want 4 and one to learn", len(bodies))
	}
}

func TestATestSaysWhatAModelCannot(t *testing.T) {
	s := newServer(t, func(body string) (int, string) {
		if strings.Contains(body, "image_url") {
			return 400, `{"error":{"message":"this model does not support image input"}}`
		}
		return 200, said("ready")
	})
	r := newRig(t)
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Cedar", BaseURL: s.URL + "/v1", Model: "gpt-4o-like"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.TestProvider(t.Context(), engine.ProviderSpec{ID: p.ID})
	if err != nil || !got.OK {
		t.Fatalf("TestProvider = %+v, %v", got, err)
	}
	for _, c := range got.Checks {
		if broken := c.What == "stream" || c.What == "tools" || c.What == "pictures"; c.OK == broken || broken && (c.Problem == nil || c.Problem.Hint == "") {
			t.Errorf("%s: %+v, %+v", c.What, c, c.Problem)
		}
	}
	if list, err := r.Models(t.Context(), p.ID); err != nil || list[0].Vision {
		t.Errorf("afterwards Models = %+v, %v; want no pictures", list, err)
	}
}

func TestASmallModelIsOfferedTheToolsItIsGiven(t *testing.T) {
	s := newServer(t, func(string) (int, string) { return 200, said("fine") })
	r := newRig(t)
	r.unnamed()
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Cedar", BaseURL: s.URL + "/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.SaveModel(t.Context(), p.ID, config.Model{Name: "m", Tools: []string{"fs_read", "fs_list"}, Thinking: "high", Temperature: ptr(0.0)}); err != nil {
		t.Fatal(err)
	}
	r.finished(r.send(r.start(engine.SessionSpec{}), "go"))
	bodies, _ := s.seen()
	if got := strings.Count(bodies[0], `"type":"function"`); got != 2 || !strings.Contains(bodies[0], `"reasoning_effort":"high"`) || !strings.Contains(bodies[0], `"temperature":0`) {
		t.Errorf("sent %.400s", bodies[0])
	}
}
