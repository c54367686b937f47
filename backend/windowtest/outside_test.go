//go:build linux && windowtest

package windowtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
	"gofer/backend/windowtest"
)

// sink is a server that nobody should ask.
type sink struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.Method+" "+r.URL.String())
		fmt.Fprint(w, "<!doctype html><title>Elsewhere</title><p>This is another place.")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// hostile are the texts of the front end's own tests. What they run asks the
// sink and leads there, so that it is seen from outside the page.
func hostile(t *testing.T, sink string) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"markdown-payloads", "markdown-kinds"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "frontend", "src", "testing", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Payloads []struct{ Markdown string } }
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		for _, p := range file.Payloads {
			out = append(out, strings.NewReplacer("${SINK}", sink, "window.__pwned=1", "location='"+sink+"/ran'").Replace(p.Markdown))
		}
	}
	if len(out) < 48 {
		t.Fatalf("there are only %d texts", len(out))
	}
	return out
}

// browser puts a program in the place of the person's own browser and returns
// what reads the addresses it was given.
func (k *desk) browser() func() []string {
	k.t.Helper()
	bin, log := filepath.Join(k.dir, "bin"), filepath.Join(k.dir, "opened.txt")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\nprintf '%s\\n' \"$1\" >>'"+log+"'\n"), 0o700); err != nil {
		k.t.Fatal(err)
	}
	k.env = append(k.env, "PATH="+bin+":"+os.Getenv("PATH"))
	return func() []string {
		raw, _ := os.ReadFile(log) // there is none before the first
		return strings.Fields(string(raw))
	}
}

// unmoved fails unless the page is where it was and nobody was asked.
func unmoved(t *testing.T, w *windowtest.Window, s *sink, home, what string) {
	t.Helper()
	if at := w.Address(); at != home {
		t.Fatalf("%s: the window is at %s, was at %s", what, at, home)
	}
	if asked := s.requests(); len(asked) != 0 {
		t.Fatalf("%s: the sink was asked for %q", what, asked)
	}
	w.Find(windowtest.Entry, prompt)
}

// shown waits for the question about an address, checks that it holds part, and
// answers it.
func shown(w *windowtest.Window, part, button string) {
	w.WaitText(windowtest.Dialog, "Open this address?", part)
	w.Click(windowtest.Button, button)
	w.Gone(windowtest.Dialog, "Open this address?")
}

func TestNothingTheModelSaysRunsLoadsOrLeadsAway(t *testing.T) {
	s := newSink(t)
	texts := hostile(t, s.URL)
	var list []script.Turn
	for _, text := range texts {
		// Letter by letter, and once as thinking too.
		turn := script.Says(append(strings.Split(text, ""), "\n\nEnd.")...)
		turn.Reasoning = []string{text}
		list = append(list, turn)
	}
	k := newDesk(t, list...)
	opened := k.browser()
	w := k.open()
	home := w.Address()
	c := k.client()
	links := 0
	const each = 10
	for first := 0; first < len(texts); first += each {
		name := fmt.Sprintf("Part %d ", first/each+1)
		session, err := c.CreateSession(t.Context(), engine.SessionSpec{Title: name + texts[first], Mode: "full", Headless: true})
		if err != nil {
			t.Fatal(err)
		}
		events, err := c.Events(t.Context(), session.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.ClickPart(windowtest.Button, name)
		w.Find(windowtest.Region, transcript)
		part := texts[first:min(first+each, len(texts))]
		for i := range part {
			if _, err := c.SendPrompt(t.Context(), session.ID, chat.Prompt{Text: fmt.Sprintf("Text %d", first+i)}); err != nil {
				t.Fatal(err)
			}
			for e := range events {
				if end, ok := e.Data.(event.RunFinished); ok {
					if end.State != event.RunIsCompleted {
						t.Fatalf("text %d ended as %+v", first+i, end)
					}
					break
				}
			}
		}
		w.Wait("the last text", func(ctx context.Context) error {
			last, err := w.Find(windowtest.Region, transcript).FindPart(ctx, windowtest.Article, fmt.Sprintf("Turn %d", len(part)))
			if err == nil && !strings.Contains(last.Text(ctx), "End.") {
				err = errors.New("it is not there yet")
			}
			return err
		})
		for _, link := range w.Things(windowtest.Link, windowtest.Region, transcript) {
			if err := link.Do(t.Context()); err != nil {
				t.Fatalf("press a link: %v", err)
			}
			shown(w, ":", "Cancel")
			links++
		}
		unmoved(t, w, s, home, name)
	}
	if got := opened(); links < 10 || len(got) != 0 {
		t.Errorf("%d links were pressed, and %q left without a yes", links, got)
	}
	t.Logf("%d texts, %d links pressed: the window stayed at %s, the sink was asked %d times", len(texts), links, home, len(s.requests()))
	w.Quit()
}

func TestTheWindowLeavesItsPageByNoWayAndALinkOnlyAfterAYes(t *testing.T) {
	s := newSink(t)
	there := s.URL + "/there"
	k := newDesk(t, script.Says("Look [at this page]("+there+").\n\n"+
		"<form action=\""+there+"\"><input type=submit autofocus></form><meta http-equiv=refresh content=\"0;url="+there+"\">"+
		"<script>window.open('"+there+"');location='"+there+"'</script><a target=_blank href=\""+there+"\">raw</a>"))
	opened := k.browser()
	w := k.open()
	home := w.Address()
	ask(w, "Show me")
	link := w.Find(windowtest.Link, "at this page")
	w.Gone(windowtest.Button, stop)
	question := "Open this address?"
	var done []string
	stays := func(ways ...string) {
		t.Helper()
		unmoved(t, w, s, home, strings.Join(ways, ", "))
		done = append(done, ways...)
	}
	stays("a form", "a refresh", "a script", "a raw link")
	w.ClickNode(link, 1)
	shown(w, there, "Cancel")
	stays("a press")
	for key, way := range map[string]string{"ctrl": "a press for a new tab", "shift": "a press for a new window"} {
		w.ClickNode(link, 1, key)
		shown(w, there, "Cancel")
		stays(way)
	}
	w.ClickNode(link, 2)
	w.Gone(windowtest.Dialog, question)
	stays("the middle button")
	w.ClickNode(link, 3)
	w.Press("Down", "Return") // there is no menu, so the key presses the link
	shown(w, there, "Cancel")
	stays("the right button and a key")
	if got := opened(); len(got) != 0 {
		t.Fatalf("%q left without a yes", got)
	}

	w.ClickNode(w.Find(windowtest.Link, "at this page"), 1)
	shown(w, there, "Open")
	w.Wait("the person's own browser", func(context.Context) error {
		if got := opened(); !slices.Equal(got, []string{there}) {
			return fmt.Errorf("it was given %q", got)
		}
		return nil
	})
	unmoved(t, w, s, home, "a yes")
	t.Logf("%d ways tried, the window stayed at %s: %s", len(done), home, strings.Join(done, "; "))
	w.Quit()
}
