package engine_test

import (
	"testing"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm/script"
)

func TestWhatWasAllowedIsKeptListedCountedAndTakenBack(t *testing.T) {
	done := script.Says("done")
	r := newRig(t, turns("m", write("a.txt", "1"), write("b.txt", "2"), done, write("c.txt", "3"), done, write("d.txt", "4"), done))
	s := r.session("m", "ask")
	runID := r.send(s, "go")
	asked := r.until("the card", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Allow: true, Scope: "session"}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID) // the second file is covered
	grants, err := r.Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].Used != 1 || grants[0].SessionID != s.ID || grants[0].Words != asked.Session {
		t.Fatalf("got %+v, %v", grants, err)
	}
	r.Close()
	r.open()
	r.finished(r.send(s, "go on")) // nobody is asked
	grants, err = r.Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].Used != 2 {
		t.Fatalf("after a restart: %+v, %v", grants, err)
	}
	if err := r.DeleteSession(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if gone, _ := r.Grants(t.Context()); len(gone) != 0 {
		t.Errorf("of a deleted session: %+v", gone)
	}
	if err := r.RestoreSession(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.Revoke(t.Context(), grants[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := r.Revoke(t.Context(), grants[0].ID); fault.From(err).Code != fault.NotFound {
		t.Errorf("a second time: %v", err)
	}
	runID = r.send(s, "once more")
	asked = r.until("the card again", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Allow: false}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID)
}

func TestAVisitThatWasAllowedOnceIsNotKept(t *testing.T) {
	r := newRig(t, turns("m", script.Calls(script.Tool("browser_open", map[string]any{"url": "http://127.0.0.1:9/"})), script.Says("done")))
	s := r.session("m", "ask")
	runID := r.send(s, "go")
	asked := r.until("the card", ofType("approval.asked")).Data.(event.ApprovalAsked)
	if err := r.Answer(t.Context(), asked.ID, engine.Answer{Allow: true, Scope: "once"}); err != nil {
		t.Fatal(err)
	}
	r.finished(runID)
	if grants, err := r.Grants(t.Context()); err != nil || len(grants) != 0 {
		t.Errorf("got %+v, %v", grants, err)
	}
}
