package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
)

// everyday is a route of two providers.
func (r *rig) everyday() engine.Route {
	r.t.Helper()
	r.unnamed()
	r.add("Alder", "a")
	r.add("Birch", "b")
	route, err := r.SaveRoute(r.t.Context(), engine.RouteSpec{Name: "Everyday", Legs: []config.Leg{{Provider: "Alder"}, {Provider: "Birch"}}, Default: true})
	if err != nil || !slices.Equal(route.Order, []string{"Alder a", "Birch b"}) {
		r.t.Fatalf("SaveRoute = %+v, %v", route, err)
	}
	return route
}

func refusing(model string, f script.Failure) script.Script {
	f.Times = 99
	turn := script.Says("never")
	turn.Fail = []script.Failure{f}
	return turns(model, turn)
}

func TestARouteMovesOnSaysSoAndRestsWhatFailed(t *testing.T) {
	r := newRig(t, refusing("a", script.Failure{Status: 402, Message: "no credits"}), turns("b", script.Says("one"), script.Says("two"), script.Says("three")))
	r.everyday()
	s := r.start(engine.SessionSpec{})
	if end := r.finished(r.send(s, "go")); end.State != event.RunIsCompleted {
		t.Fatalf("the run ended %+v, %+v", end, end.Error)
	}
	switched := of[event.RouteSwitched](r.seen)
	if len(switched) != 1 || switched[0].From != "Alder a" || switched[0].To != "Birch b" || switched[0].Model != "b" || switched[0].Kind != "quota" || !strings.Contains(switched[0].Reason, "no credits") {
		t.Fatalf("told %+v", switched)
	}
	r.finished(r.send(s, "and again"))
	if switched := of[event.RouteSwitched](r.seen); r.asked("a") != 1 || len(switched) != 2 {
		t.Errorf("the model that failed was asked %d times, %d switches were told; want 1 and 2", r.asked("a"), len(switched))
	}
	snapshot := r.snapshot(s)
	if n := snapshot.Notes; len(n) != 2 || n[0].Switched == nil || *n[0].Switched != switched[0] || n[0].RunID != snapshot.Runs[0].ID || n[1].RunID != snapshot.Runs[1].ID {
		t.Errorf("the snapshot notes %+v", n)
	}
	for _, run := range snapshot.Runs {
		if run.Model != "b" {
			t.Errorf("a run is kept as one of %s", run.Model)
		}
	}
	if _, err := r.SaveKey(t.Context(), engine.KeySpec{Provider: "Alder", Key: ptr("sk-new-0123456789abcdef")}); err != nil {
		t.Fatal(err)
	}
	r.finished(r.send(s, "with a new key"))
	if r.asked("a") != 2 {
		t.Errorf("a changed provider was asked %d times, want 2", r.asked("a"))
	}
}

func TestWhenNoModelOfARouteAnswersEachReasonIsTold(t *testing.T) {
	r := newRig(t, refusing("a", script.Failure{Status: 401, Message: "no such key"}), refusing("b", script.Failure{Status: 404, Message: "no such model"}))
	r.everyday()
	end := r.finished(r.send(r.start(engine.SessionSpec{}), "go"))
	if end.State != event.RunIsFailed || end.Error == nil || end.Error.Message != "No model in Everyday answered." || len(end.Error.Reasons) != 2 {
		t.Fatalf("the run ended %+v, %+v", end, end.Error)
	}
	for i, want := range []event.Reason{{Model: "Alder a", Code: "auth"}, {Model: "Birch b", Code: "bad_request"}} {
		if got := end.Error.Reasons[i]; got.Model != want.Model || got.Code != want.Code || got.Message == "" {
			t.Errorf("reason %d: got %+v, want %+v", i, got, want)
		}
	}
}

func TestALegThatCannotBeReachedIsSkippedWithItsReason(t *testing.T) {
	r := newRig(t, turns("b", script.Says("fine")))
	r.everyday()
	past := time.Now().Add(-time.Hour).UnixMilli()
	if _, err := r.SaveKey(t.Context(), engine.KeySpec{Provider: "Alder", Key: ptr("sk-old-0123456789abcdef"), Alias: ptr("old"), Expires: &past}); err != nil {
		t.Fatal(err)
	}
	if end := r.finished(r.send(r.start(engine.SessionSpec{}), "go")); end.State != event.RunIsCompleted {
		t.Fatalf("the run ended %+v", end)
	}
	if switched := of[event.RouteSwitched](r.seen); len(switched) != 1 || !strings.Contains(switched[0].Reason, `"old" of Alder has expired`) {
		t.Errorf("told %+v", switched)
	}
	if err := r.RemoveProvider(t.Context(), "Alder"); err != nil {
		t.Fatal(err)
	}
	if routes, err := r.Routes(t.Context()); err != nil || len(routes) != 1 || !slices.Equal(routes[0].Order, []string{"Birch b"}) {
		t.Errorf("without the provider the routes are %+v, %v", routes, err)
	}
}

func TestALegHasLimitsOfItsOwn(t *testing.T) {
	s := newServer(t, func(string) (int, string) { return 200, said("fine") })
	r := newRig(t)
	r.unnamed()
	p, err := r.SaveProvider(t.Context(), engine.ProviderSpec{Name: "Cedar", BaseURL: s.URL + "/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.SaveRoute(t.Context(), engine.RouteSpec{Name: "Short", Legs: []config.Leg{
		{Provider: p.ID, Model: "tiny", MaxInput: 10}, {Provider: p.ID, Model: "large", MaxOutput: 77},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.finished(r.send(r.start(engine.SessionSpec{Provider: "short"}), "go"))
	bodies, _ := s.seen()
	if len(bodies) != 1 || !strings.Contains(bodies[0], `"max_tokens":77`) || !strings.Contains(bodies[0], `"model":"large"`) {
		t.Errorf("sent %.300s", bodies)
	}
	if switched := of[event.RouteSwitched](r.seen); len(switched) != 1 || switched[0].Kind != "context_length" {
		t.Errorf("told %+v", switched)
	}
}
