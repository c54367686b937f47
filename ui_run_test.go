//go:build uitest

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
)

func serveHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestUIAPromptIsAnsweredInAStream(t *testing.T) {
	turn := held(4, "I am looking", " at **it**", " right now.")
	turn.Reasoning = []string{"First I think.", " Then I answer."} // these pieces come first
	k := newDesk(t, "full", turns(turn))
	k.ask("Is anybody there?")
	k.waitAnswer("I am looking at it")
	if got := k.ByRole("textbox", "Prompt").Eval(`function () { return this.value }`); got != "" {
		t.Errorf("the prompt field holds %q after it was sent", got)
	}
	k.run("Working").ByRole("button", "Stop")
	k.transcript().WaitText("Is anybody there?")
	k.model.Release("gate")
	k.waitAnswer("I am looking at it right now.")
	k.run("Done")
	k.Gone("button", "Stop")

	thought := k.ByRole("button", "Thought")
	thought.WaitIs("aria-expanded", "false")
	if strings.Contains(k.transcript().Text(), "Then I answer.") {
		t.Error("the reasoning is shown before it was unfolded")
	}
	thought.Click()
	thought.WaitIs("aria-expanded", "true")
	k.transcript().WaitText("First I think. Then I answer.")
	thought.Click()
	thought.WaitIs("aria-expanded", "false")
	k.row("Is anybody there?")
}

func TestUIToolCallsAreCardsWithArgumentsResultAndPicture(t *testing.T) {
	site := serveSite(t, map[string]string{"/": `<!doctype html><title>Lamps</title><h1>Lamps of the harbour</h1><a href="/">Again</a>`})
	k := newDesk(t, "full", turns(
		call("browser_open", map[string]any{"url": site + "/"}),
		call("browser_screenshot", map[string]any{}),
		write("lamps.txt", "twelve lamps\nall lit\n"),
		script.Says("Twelve lamps."),
	))
	k.ask("Count the lamps")
	k.waitAnswer("Twelve lamps.")
	header := k.run("Done").ByRolePart("button", "3 steps")
	header.WaitIs("aria-expanded", "false")
	header.Click()
	steps := k.ByRole("list", "Steps of this run")

	opened := steps.ByRolePart("button", "Opened")
	opened.WaitText(strings.TrimPrefix(site, "http://"))
	opened.Click()
	opened.WaitIs("aria-expanded", "true")
	steps.WaitText(site + "/")
	steps.ByRole("group", "Result").WaitText("Lamps")
	steps.WaitText("Holds text from")
	opened.Click()

	shot := steps.ByRolePart("button", "Took a picture")
	shot.Click()
	steps.ByRolePart("button", "Enlarge the picture").Click()
	k.ByRolePart("dialog", "Picture of")
	k.Wait("the large picture", func() error {
		var width int
		k.Eval(`() => document.querySelector('[role=dialog] img')?.naturalWidth ?? 0`, &width)
		if width < 100 {
			return fmt.Errorf("it is %d wide", width)
		}
		return nil
	})
	k.Press("Escape")
	k.Wait("the picture to close", func() error {
		var open int
		k.Eval(`() => document.querySelectorAll('[role=dialog]').length`, &open)
		if open != 0 {
			return fmt.Errorf("%d dialogs are open", open)
		}
		return nil
	})
	shot.Click()

	wrote := steps.ByRolePart("button", "Wrote")
	wrote.WaitText("lamps.txt")
	wrote.WaitText("+2")
	wrote.Click()
	steps.WaitText("all lit")
	panel := k.ByRole("complementary", "Side panel")
	panel.WaitText("Lamps")
	panel.WaitText("lamps.txt")
	if got := k.file("lamps.txt"); got != "twelve lamps\nall lit\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestUIWhatARunDidToFilesIsUndone(t *testing.T) {
	k := newDesk(t, "full", turns(write("one.txt", "1"), write("two.txt", "2"), script.Says("Both are written.")))
	k.ask("write them")
	done := k.run("Done")
	done.ByRolePart("button", "2 steps").Click()
	k.ByRolePart("button", "one.txt").Click()
	k.ByRole("button", "Undo this step").Click()
	k.WaitText("Undone: 1 change.")
	k.Gone("button", "Undo this step")
	if there := k.files(); there != "two.txt" {
		t.Errorf("after one step the workspace holds %q", there)
	}
	done.ByRole("button", "Undo changes").Click()
	k.transcript().WaitText("Undone: two.txt.")
	k.Gone("button", "Undo changes")
	if there := k.files(); there != "" {
		t.Errorf("after the run the workspace holds %q", there)
	}
}

func TestUIPromptsQueueDuringARunAndCanBeTakenBack(t *testing.T) {
	k := newDesk(t, "full", turns(held(0, "The first answer."), script.Says("The third answer.")))
	k.ask("First")
	<-k.model.Reached("gate")
	k.run("Working")
	k.ask("Sesame")
	queue := k.ByRole("list", "Queued prompts")
	queue.WaitText("Sesame")
	k.ask("Third")
	queue.WaitText("Third")
	k.ByRole("button", "Remove: Sesame").Click()
	k.Gone("button", "Remove: Sesame")
	k.model.Release("gate")
	k.waitAnswer("The third answer.")
	k.Gone("list", "Queued prompts")
	k.wantReplies(2)
	if strings.Contains(k.lastRequest(), "Sesame") {
		t.Error("the model heard of a prompt that was taken back")
	}
	if got := k.transcript().Text(); strings.Contains(got, "Sesame") || strings.Index(got, "The first answer.") > strings.Index(got, "Third") {
		t.Errorf("the transcript says:\n%s", got)
	}
}

func TestUIStopEndsARunAndContinueGoesOn(t *testing.T) {
	k := newDesk(t, "full", turns(held(1, "Counting:", " never done"), script.Says("Done after all.")))
	k.ask("Count to the end")
	k.waitAnswer("Counting:")
	k.run("Working").ByRole("button", "Stop").Click()
	stopped := k.run("Stopped")
	k.waitAnswer("Counting:")
	k.WaitText("The answer broke off here.")
	k.Gone("button", "Stop")
	stopped.ByRole("button", "Continue").Click()
	k.waitAnswer("Done after all.")
	k.run("Done")
}

func TestUITwoEscapesStopARun(t *testing.T) {
	k := newDesk(t, "full", turns(held(1, "On and on", " and on")))
	k.ask("Go")
	k.waitAnswer("On and on")
	k.Press("Escape")
	k.WaitText("Press Esc again to stop the run.")
	k.run("Working")
	k.Press("Escape")
	k.run("Stopped")
}

func TestUIAFailedRunSaysWhyAndIsTriedAgain(t *testing.T) {
	refused := script.Says("Now it works.")
	refused.Fail = []script.Failure{{Status: http.StatusUnauthorized, Message: "no such key", Times: 1}}
	k := newDesk(t, "full", turns(refused))
	k.ask("Hello")
	k.run("Failed")
	k.ByRole("button", "Fix key")
	var said string
	k.Eval(`() => document.querySelector('main [role=alert]')?.innerText ?? ''`, &said)
	if !strings.Contains(said, "key") {
		t.Errorf("the card says %q, want a word about the key", said)
	}
	k.ByRole("button", "Try again").Click()
	k.waitAnswer("Now it works.")
	k.run("Done")
	k.run("Failed") // the attempt stays to be seen
}

func TestUIARunOfAClosedGoferIsContinued(t *testing.T) {
	s := turns(write("a.txt", "1"), held(0, "Wrote it once."))
	s.By = script.ByHistory
	k := newDesk(t, "full", s)
	k.ask("Write a file")
	<-k.model.Reached("gate")
	k.restart()
	row := k.row("Write a file")
	row.WaitText("Interrupted")
	row.Click()
	k.run("Interrupted")
	k.WaitText("This run was interrupted.")
	k.model.Release("gate")
	k.ByRole("button", "Continue").Click()
	k.waitAnswer("Wrote it once.")
	header := k.run("Done")
	header.WaitText("1 step")
	k.Gone("button", "Continue")
	if got := k.file("a.txt"); got != "1" {
		t.Errorf("the file holds %q", got)
	}
}

func TestUIAReloadInMidStreamLosesAndDoublesNothing(t *testing.T) {
	var pieces []string
	for n := range 120 {
		pieces = append(pieces, fmt.Sprintf("wort%03d😀 ", n))
	}
	whole := strings.TrimSpace(strings.Join(pieces, ""))
	turn := held(100, pieces...)
	turn.Delay = script.Delay{Between: 20}
	k := newDesk(t, "full", turns(write("a.txt", "1"), turn))
	k.ask("Say a lot")
	k.run("Working")
	for reloads := range 3 {
		k.Reload()
		k.row("Say a lot").Click()
		k.Wait("some of the answer", func() error {
			got := k.answer()
			if !strings.HasPrefix(whole, got) {
				t.Fatalf("after reload %d the answer is %q", reloads+1, got)
			}
			if !strings.Contains(got, fmt.Sprintf("wort%03d", 20*(reloads+1))) {
				return fmt.Errorf("it is %q", got)
			}
			return nil
		})
	}
	k.waitAnswer(strings.TrimSpace(strings.Join(pieces[:100], "")))
	k.Reload() // while nothing moves
	k.row("Say a lot").Click()
	k.waitAnswer(strings.TrimSpace(strings.Join(pieces[:100], "")))
	k.model.Release("gate")
	k.waitAnswer(whole)
	k.run("Done").ByRolePart("button", "1 step").Click()
	if n := strings.Count(k.transcript().Text(), "a.txt"); n != 1 {
		t.Errorf("the step is shown %d times, want once", n)
	}
	k.Reload()
	k.row("Say a lot").Click()
	k.waitAnswer(whole)
	k.wantReplies(2)
}

func TestUITheTourRunsFromTheStartPage(t *testing.T) {
	t.Parallel()
	k := bareDesk(t, "ask")
	k.show()
	k.WaitText("No model is set up yet")
	began := time.Now()
	k.ByRole("button", "Start the tour").Click()
	k.transcript().WaitText("Take the guided tour of")
	k.WaitText("Scripted tour, no model")
	k.WaitText("How long should the summaries be?")
	card := k.needs("How long should the summaries be?")
	ready(card, "Skip")
	card.ByRole("radio", "One sentence").Click()
	ready(card, "Answer").Click()
	k.WaitFor(2*time.Minute, "the end of the tour", func() error {
		s, err := k.engine.Sessions(t.Context(), engine.SessionQuery{})
		if err == nil && (len(s) != 1 || s[0].State != string(event.RunIsCompleted)) {
			err = fmt.Errorf("the sessions are %+v", s)
		}
		return err
	})
	k.run("Done")
	k.WaitText("That was the tour.")
	k.WaitText("Everything was scripted, no model.")
	t.Logf("the tour took %s", time.Since(began).Round(100*time.Millisecond))
}
