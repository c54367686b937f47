//go:build uitest

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gofer/backend/engine"
	"gofer/backend/llm/script"
	"gofer/backend/uitest"
)

// needs waits for a card with that heading and returns the list it is in. The
// list goes with its last card, so each card asks for it anew.
func (k *desk) needs(heading string) uitest.Element {
	k.t.Helper()
	return k.ByCSS(`section[aria-label="Needs you"]`, heading)
}

// ready waits until a button of a card takes a press.
func ready(list uitest.Element, name string) uitest.Element {
	b := list.ByRole("button", name)
	b.WaitIs("aria-disabled", "false")
	return b
}

// results are the answers of the tools, as the model reads them.
func (k *desk) results() []string {
	k.t.Helper()
	sessions, err := k.engine.Sessions(k.t.Context(), engine.SessionQuery{})
	if err != nil || len(sessions) != 1 {
		k.t.Fatalf("the sessions are %+v, %v", sessions, err)
	}
	snap, err := k.engine.Snapshot(k.t.Context(), sessions[0].ID, engine.SnapshotQuery{})
	if err != nil {
		k.t.Fatal(err)
	}
	var out []string
	for _, m := range snap.Messages {
		if m.Result != nil {
			out = append(out, m.Result.Text)
		}
	}
	return out
}

// pressAtOnce makes the page click every Allow button in the moment it appears,
// as somebody does who was about to click something else there.
const pressAtOnce = `() => {
  window.pressed = 0
  new MutationObserver(() => {
    for (const b of document.querySelectorAll('[aria-label="Needs you"] button')) {
      if (!b.textContent.trim().startsWith('Allow') || b.dataset.pressed) continue
      b.dataset.pressed = 'yes'
      b.click()
      window.pressed++
    }
  }).observe(document.body, { childList: true, subtree: true })
}`

func TestUIApprovalsAreDeniedWithANoteAllowedOnceAndForTheSession(t *testing.T) {
	k := newDesk(t, "ask", turns(write("a.txt", "1"), write("b.txt", "2"), write("c.txt", "3"), write("d.txt", "4"), script.Says("All asked.")))
	k.Eval(pressAtOnce, nil)
	k.ask("Write four files")

	list := k.needs("Write this file")
	list.WaitText("a.txt")
	k.ByRole("textbox", "Prompt") // it shrinks, it does not go
	once := ready(list, "Allow once")
	var pressed int
	k.Eval(`() => window.pressed`, &pressed)
	if pressed != 2 || k.file("a.txt") != "no a.txt" {
		t.Fatalf("%d buttons were pressed as they appeared, and there is %s; want 2 presses without effect", pressed, k.file("a.txt"))
	}
	// Enter on the button that has the focus is not a yes; the card stays.
	once.Focus()
	k.Press("Enter")
	ready(list, "Allow for this session").Focus()
	k.Press("Enter")
	ready(list, "Allow once")

	list.ByRole("button", "with a note…").Click()
	list.ByRole("textbox", "Why not, for the agent").Type("use another name")
	k.Press("Enter") // in the note Enter means deny, never allow
	k.WaitText("/b.txt")
	ready(k.needs("Write this file"), "Allow once").Click()
	k.WaitText("/c.txt")
	ready(k.needs("Write this file"), "Allow for this session").Click()
	k.waitAnswer("All asked.")
	k.Gone("region", "Needs you")

	var got []string
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt"} {
		got = append(got, k.file(name))
	}
	if want := []string{"no a.txt", "2", "3", "4"}; !slices.Equal(got, want) {
		t.Errorf("the files hold %q, want %q", got, want)
	}
	if r := k.results(); len(r) != 4 || !strings.Contains(r[0], "use another name") {
		t.Errorf("the model read %q, want the note first", r)
	}
	k.run("Done").ByRolePart("button", "4 steps").Click()
	k.ByRole("list", "Steps of this run").ByRolePart("button", "a.txt").WaitText("a.txt")
}

func TestUIGoingToAnApprovalLandsOnItsTextAndSpacePressesTheButtonChosen(t *testing.T) {
	k := newDesk(t, "ask", turns(write("a.txt", "1"), script.Says("I see.")))
	k.ask("Write a file")
	list := k.needs("Write this file")
	ready(list, "Deny")
	k.Press("F6")
	var on string
	for range 4 {
		k.Eval(`() => document.activeElement.tagName + ' ' + document.activeElement.innerText`, &on)
		if on == "H3 Write this file" {
			break
		}
		k.Press("F6")
	}
	if on != "H3 Write this file" {
		t.Fatalf("the focus is on %q", on)
	}
	k.Press("Tab", "Tab", "Tab") // over what it would write to the first button
	for range 6 {
		k.Eval(`() => document.activeElement.innerText`, &on)
		if on == "Deny" {
			break
		}
		k.Press("Tab")
	}
	k.Press("Space")
	k.waitAnswer("I see.")
	if k.file("a.txt") != "no a.txt" {
		t.Error("a denied file was written")
	}
}

func TestUIQuestionsAreAnsweredInEveryWay(t *testing.T) {
	question := func(args map[string]any) script.Turn { return call("ask_clarification", args) }
	k := newDesk(t, "ask", turns(
		question(map[string]any{
			"kind": "choice", "title": "Which colour?", "why": "It decides the paint.",
			"options": []any{map[string]any{"label": "Sea blue", "value": "blue"}, map[string]any{"label": "Moss green", "value": "green"}},
		}),
		question(map[string]any{"kind": "input", "title": "Whose room?"}),
		question(map[string]any{"kind": "confirm", "title": "Two coats?"}),
		question(map[string]any{"kind": "input", "title": "How many brushes?"}),
		question(map[string]any{"kind": "input", "title": "Which brand?"}),
		question(map[string]any{"kind": "input", "title": "When?", "default": "tomorrow", "wait_ms": 4000}),
		script.Says("All settled."),
	))
	k.ask("Paint a room")

	list := k.needs("Which colour?")
	list.WaitText("It decides the paint.")
	ready(list, "Skip") // before that it hears nothing
	list.ByRole("radio", "Moss green").Click()
	ready(list, "Answer").Click()

	list = k.needs("Whose room?")
	ready(list, "Skip")
	list.ByRole("textbox", "Your answer").Type("Ada's")
	k.Press("Enter")

	list = k.needs("Two coats?")
	ready(list, "Skip")
	list.ByRole("radio", "Yes").Click()
	ready(list, "Answer").Click()

	list = k.needs("How many brushes?")
	ready(list, "Skip").Click()

	list = k.needs("Which brand?")
	ready(list, "Let the agent decide").Click()

	list = k.needs("When?")
	list.WaitText("“tomorrow” is taken in")
	k.Wait("the time to run down", func() error {
		if got := list.Text(); !strings.Contains(got, "in 2 s") {
			return fmt.Errorf("it says %q", got)
		}
		return nil
	})
	k.waitAnswer("All settled.")
	k.Gone("region", "Needs you")

	r := k.results()
	if len(r) != 6 {
		t.Fatalf("the model read %q, want six answers", r)
	}
	for i, want := range []string{"green", "Ada's", "yes", "", "", "tomorrow"} {
		if !strings.Contains(r[i], want) {
			t.Errorf("answer %d is %q, want %q in it", i+1, r[i], want)
		}
	}
	if r[3] == r[4] {
		t.Errorf("a skipped question reads like one that was left to the agent: %q", r[3])
	}
}

func TestUIAnAgreementIsCutDownUsedAndTakenBack(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lamps.txt", "boats.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("the "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) script.Turn {
		return call("fs_read", map[string]any{"path": filepath.Join(dir, name)})
	}
	k := newDesk(t, "ask", turns(
		call("propose_agreement", map[string]any{
			"goal":    "Sort the lists",
			"folders": []any{map[string]any{"path": dir, "kinds": []any{"read", "write"}}},
			"sites":   []any{map[string]any{"site": "https://lists.example"}},
		}),
		read("lamps.txt"),
		call("fs_write", map[string]any{"path": filepath.Join(dir, "new.txt"), "content": "1"}),
		read("boats.txt"),
		script.Says("All asked."),
	))
	k.ask("Sort the lists")

	list := k.needs("Agree on what this run may do")
	list.WaitText("Sort the lists")
	ready(list, "Agree")
	list.ByRolePart("checkbox", "lists.example").Click()
	list.ByRolePart("checkbox", "Write files").Click()
	ready(list, "Agree to 1 of 3").Click()

	// Reading is agreed; writing was taken out, so it asks.
	list = k.needs("Write this file")
	list.WaitText("new.txt")
	k.ByRolePart("button", "Agreed for this run:").Click()
	k.ByRole("list", "Agreed for this run:").WaitText("Used once")
	k.ByRolePart("button", "Take back: ").Click()
	k.ByRole("list", "Agreed for this run:").WaitText("Taken back")
	ready(k.needs("Write this file"), "Deny").Click()

	list = k.needs("Read this file")
	list.WaitText("boats.txt")
	ready(list, "Deny").Click()
	k.waitAnswer("All asked.")
	if _, err := os.Stat(filepath.Join(dir, "new.txt")); err == nil {
		t.Error("what was taken out of the agreement was done")
	}
	if r := k.results(); len(r) != 4 || !strings.Contains(r[1], "the lamps.txt") || strings.Contains(r[3], "the boats.txt") {
		t.Errorf("the model read %q", r)
	}
}
