package ask

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func propose(t *testing.T, r *reply, args string) (text, outcome string, failed bool) {
	t.Helper()
	got, err := Agreement(r).Run(context.Background(), json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return got.Text, got.Outcome, got.Failed
}

func TestAProposalIsWholeOrNotPut(t *testing.T) {
	for args, want := range map[string]string{
		`{"goal":" ","sites":[{"site":"https://a.example"}]}`:                                "goal is empty",
		`{"goal":"` + strings.Repeat("x", 201) + `","sites":[{"site":"https://a.example"}]}`: "more than 200 characters",
		`{"goal":"x"}`:             "it names no site, folder or command",
		`{"goal":"x","spend":0.5}`: "it names no site, folder or command",
		`{"goal":"x","spend":-1,"sites":[{"site":"https://a.example"}]}`:      "spend has to be an amount",
		`{"goal":"x","spend":5000,"sites":[{"site":"https://a.example"}]}`:    "spend has to be an amount",
		`{"goal":"x","iterations":-1,"sites":[{"site":"https://a.example"}]}`: "iterations has to be a number",
	} {
		r := &reply{}
		if text, _, failed := propose(t, r, args); !failed || !strings.Contains(text, want) || r.proposed.Goal != "" {
			t.Errorf("%s: %q, put %+v", args, text, r.proposed)
		}
	}
	r := &reply{outcome: Outcome{Allowed: true, Agreed: []string{"visit: https://a.example"}}}
	propose(t, r, `{"goal":" Compare\n tents ","sites":[{"site":"https://a.example"}]}`)
	if r.proposed.Goal != "Compare tents" {
		t.Errorf("the goal is %q", r.proposed.Goal)
	}
	if a := Agreement(r); a.Deadline(nil) != 0 || !a.RunOnly {
		t.Error("it has a deadline or is offered without a run")
	}
}

func TestTheModelReadsWhatBecameOfItsProposal(t *testing.T) {
	for _, c := range []struct {
		outcome       Outcome
		text, outline string
		failed        bool
	}{
		{Outcome{Allowed: true, Agreed: []string{"visit: https://a.example", "write: /desk"}, By: "person"}, "Agreed for this run:\n- visit: https://a.example\n- write: /desk", "agreed", false},
		{Outcome{Allowed: true, Agreed: []string{"visit: https://a.example"}, Dropped: []string{"write: /desk"}, Note: "only look", By: "person"}, "(the person says: only look)", "agreed to 1 of 2", false},
		{Outcome{Allowed: true, Agreed: []string{"visit: https://a.example"}, Dropped: []string{"write: /desk"}}, "took out, so it is asked for by itself or left undone:\n- write: /desk", "agreed to 1 of 2", false},
		{Outcome{Note: "not today", By: "person"}, "said no to the agreement (the person says: not today). Do not propose one again", "not agreed", true},
		{Outcome{By: "nobody", Missing: "write: /desk"}, "missing grants: write: /desk", "nobody there", true},
		{Outcome{By: "dismissed"}, "sent a new message", "put aside", true},
		{Outcome{Refused: "Nothing was proposed: it is too much."}, "Nothing was proposed: it is too much.", "", true},
	} {
		text, outline, failed := propose(t, &reply{outcome: c.outcome}, `{"goal":"x","commands":["go test"]}`)
		if !strings.Contains(text, c.text) || outline != c.outline || failed != c.failed {
			t.Errorf("%+v: %q, %q, %v", c.outcome, text, outline, failed)
		}
	}
}
