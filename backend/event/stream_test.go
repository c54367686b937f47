package event

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The recorded streams are read by the front end's tests too: both sides hold
// to one contract.
func TestRecordedStreamsAreEventsOfToday(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d streams, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seq := map[string]int64{}
		for i, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
			var e Envelope
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			again, err := json.Marshal(e)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			if got, want := sorted(t, again), sorted(t, line); got != want {
				t.Errorf("%s:%d: got %s, want %s", file, i+1, got, want)
			}
			if e.Passing() != (e.Seq == 0) {
				t.Errorf("%s:%d: %s has seq %d", file, i+1, e.Type, e.Seq)
			}
			if !e.Passing() {
				seq[e.SessionID]++
				if got, want := e.Seq, seq[e.SessionID]; got != want {
					t.Errorf("%s:%d: got seq %d, want %d", file, i+1, got, want)
				}
			}
		}
	}
}

// sorted returns JSON with its keys in order.
func sorted(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
