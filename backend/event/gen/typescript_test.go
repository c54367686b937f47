package main

import (
	"os"
	"strings"
	"testing"
)

const written = "../../../frontend/src/lib/api/events.gen.ts"

func TestTheFrontEndHoldsTheEventsOfToday(t *testing.T) {
	got, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	if want := typescript(); string(got) != want {
		t.Errorf("%s is stale; run go generate ./backend/event", written)
	}
}

func TestAnEventNamesItsPayload(t *testing.T) {
	got := typescript()
	for _, want := range []string{
		"  | Envelope<'run.status', Status>\n",
		"export type RunState = 'queued' | 'running' | 'awaiting_user' | 'interrupted' | 'completed' | 'failed' | 'cancelled'\n",
		"  arguments: Json\n",
		"  calls?: ToolCall[]\n",
		"export type SettingsChanged = Record<string, never>\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got no %q", want)
		}
	}
}
