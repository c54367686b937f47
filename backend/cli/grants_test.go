package cli

import (
	"context"
	"strings"
	"testing"

	"gofer/backend/engine"
	"gofer/backend/host/hosttest"
)

func TestGrantsAreListedAndTakenBack(t *testing.T) {
	f := &hosttest.Fake{On: on{"Grants": func(context.Context, ...any) (any, error) {
		return []engine.GrantInfo{{ID: "g1", Words: "Read all pages of https://example.org.", Used: 3, SessionTitle: "Bread"}}, nil
	}}}
	x := newTerminal(t, f, "grants")
	if code := x.run(); code != ExitDone || !strings.Contains(x.out.String(), "g1  Read all pages of https://example.org.  needed 3 times  Bread") {
		t.Errorf("exit %d: %s", code, x.out.String())
	}
	x = newTerminal(t, f, "grants", "--revoke", "g1")
	x.want(x.run(), ExitDone, "Taken back.\n", "")
	if calls := f.Calls("Revoke"); len(calls) != 1 || calls[0].Args[0] != "g1" {
		t.Errorf("taken back %+v", calls)
	}
	x = newTerminal(t, &hosttest.Fake{}, "grants")
	x.want(x.run(), ExitDone, "Nothing is allowed beyond what the modes allow.\n", "")
}
