package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gofer/backend/llm/script"
)

func TestTheCommandTellsWhatItWasAsked(t *testing.T) {
	s := httptest.NewServer(handler(script.New(script.Script{Model: "m", Turns: []script.Turn{{Text: []string{"hi"}, Hold: "gate"}}})))
	defer s.Close()
	do := func(method, path, body string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	do(http.MethodPost, "/release/gate", "")
	if got := do(http.MethodPost, "/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`); !strings.Contains(got, `"content":"hi"`) {
		t.Errorf("got %q", got)
	}
	do(http.MethodPost, "/v1/chat/completions", `{"model":"m","messages":[]}`)
	if got := do(http.MethodGet, "/problems", ""); !strings.Contains(got, "no further turn") {
		t.Errorf("got %q", got)
	}
	if got := do(http.MethodGet, "/requests", ""); !strings.Contains(got, `"step":0`) || !strings.Contains(got, `"step":-1`) {
		t.Errorf("got %q", got)
	}
}
