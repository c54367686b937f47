//go:build uitest

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/script"
)

// provider adds a scripted model under a name, and returns the server and the id.
func (k *desk) provider(name, model string, list ...script.Turn) (*script.Server, string) {
	k.t.Helper()
	s, err := script.Serve(script.Script{Model: model, Turns: list})
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		_ = s.Close()
		for _, problem := range s.Problems() {
			k.t.Errorf("the scripted model %s objects: %s", name, problem)
		}
	})
	p, err := k.engine.SaveProvider(k.t.Context(), engine.ProviderSpec{Preset: "custom", Name: name, BaseURL: s.URL, Model: model})
	if err != nil {
		k.t.Fatal(err)
	}
	return s, p.ID
}

// settings opens a page of the settings.
func (k *desk) settings(page string) {
	k.t.Helper()
	k.Press("Control+Comma")
	k.ByRole("button", page).Click()
	k.ByRole("heading", page)
}

// wantFits fails when something is cut off at the side of a small window.
func (k *desk) wantFits(what string) {
	k.t.Helper()
	k.Resize(640, 560)
	var wide []string
	k.Eval(`() => {
  const out = []
  for (const e of document.querySelectorAll('main *')) {
    const r = e.getBoundingClientRect()
    if (r.width > 1 && r.right > innerWidth + 1 && !e.closest('.overflow-x-auto')) out.push(e.tagName + ' ' + e.textContent.slice(0, 40))
  }
  return out
}`, &wide)
	if len(wide) > 0 {
		k.t.Errorf("%s at 640 px: cut off are %q", what, wide)
	}
	k.Resize(1200, 800)
}

// alwaysRefuses is a turn that no attempt gets an answer from.
func alwaysRefuses(status int, message string) script.Turn {
	turn := script.Says("never")
	turn.Fail = []script.Failure{{Times: 99, Status: status, Message: message}}
	return turn
}

func TestUIAProviderHasSeveralKeysATestInWordsAndNumbersOfItsModels(t *testing.T) {
	t.Parallel()
	k := bareDesk(t, "full")
	k.serve(script.Script{
		Model: "painter", Turns: []script.Turn{script.Calls(script.Tool("say_word", map[string]any{"word": "gofer"}))},
		Side: []script.Side{{Match: "colour", Text: "Blue."}, {Match: "numbers", Text: "one two three"}, {Text: "ready"}},
	})
	first := "sk-first-0123456789ab1111"
	if _, err := k.engine.SaveProvider(t.Context(), engine.ProviderSpec{Preset: "custom", Name: "Studio", BaseURL: k.model.URL, Model: "painter", Key: &first}); err != nil {
		t.Fatal(err)
	}
	k.show()
	k.settings("Providers")
	form := k.ByRole("form", "Studio")
	form.WaitText("•••• •••• 1111")

	form.ByRole("button", "Add a key").Click()
	adding := form.ByRole("group", "Add a key")
	adding.ByRole("textbox", "Key").Type("sk-second-0123456789ab2222")
	adding.ByRole("textbox", "Alias").Type("work")
	k.Press("Enter")
	form.WaitText("•••• •••• 2222")
	k.Gone("group", "Add a key")
	form.ByRole("button", "Use: work").Click()
	k.ByRole("button", "Use: the key ending in 1111")
	form.ByRole("button", "Change work").Click()
	expires := form.ByRole("group", "Change work").ByRole("textbox", "Expires")
	expires.Type("soon")
	form.WaitText("Write a day such as 2027-01-31.")
	expires.Type("2020-02-03")
	form.ByRole("button", "Save key").Click()
	form.WaitText("Expired Feb 3, 2020")
	k.wantFits("the keys")
	form.ByRole("button", "Remove work").Click()
	k.WaitText("Removed work.")
	k.Gone("button", "Remove work")
	p, err := k.engine.Providers(t.Context())
	if err != nil || len(p) != 1 || len(p[0].Keys) != 1 || p[0].KeyHint != "1111" {
		t.Errorf("the provider is %+v, %v; want the first key alone", p, err)
	}

	form.ByRole("button", "Test").Click()
	form.WaitText("Works: text, tools. Does not work: streaming, pictures.")
	form.WaitText("The model took the picture and did not see it")
	k.wantFits("the test")

	form.ByRole("button", "Change painter").Click()
	numbers := k.ByRole("form", "Numbers for painter")
	numbers.ByRole("textbox", "Window, tokens").Type("many")
	numbers.WaitText("Write a number such as 128000 or 128k.")
	numbers.ByRole("textbox", "Window, tokens").Type("128k")
	numbers.ByRole("textbox", "Price in, $ per M tokens").Type("0.25")
	numbers.ByRole("textbox", "Price out, $ per M tokens").Type("2")
	k.wantFits("the numbers")
	numbers.ByRole("button", "Save").Click()
	k.Gone("form", "Numbers for painter")
	table := k.ByRole("table", "")
	for _, want := range []string{"Your numbers", "128k", "$0.25", "$2.00", "Text only"} {
		table.WaitText(want)
	}
	models, err := k.engine.Models(t.Context(), p[0].ID)
	if err != nil || len(models) != 1 || models[0].Own.Input != 128_000 || *models[0].PriceInput != 0.25 {
		t.Errorf("the models are %+v, %v", models, err)
	}

	form.ByRole("button", "Limits and traits of the server").Click()
	form.ByRole("textbox", "First words within, s").Type("soon")
	form.WaitText("Write whole seconds such as 300.")
	form.ByRole("textbox", "First words within, s").Type("600")
	form.ByRole("textbox", "Traits, as JSON").Type(`{"strictRole": true}`)
	form.ByRole("button", "Save").Click()
	form.WaitText("A server has no trait")
	k.wantFits("the limits")
	form.ByRole("textbox", "Traits, as JSON").Type(`{"strictRoles": true}`)
	form.ByRole("button", "Save").Click()
	k.Wait("the limits", func() error {
		p, err := k.engine.Providers(t.Context())
		if err != nil || p[0].Limits == nil || p[0].Limits.FirstByte != 600 || p[0].Profile["strictRoles"] != true {
			return errors.Join(err, fmt.Errorf("the provider is %+v", p))
		}
		return nil
	})
}

// order is the order in which the models of the only route are tried.
func (k *desk) waitOrder(want ...string) {
	k.t.Helper()
	k.Wait(fmt.Sprintf("the order %q", want), func() error {
		routes, err := k.engine.Routes(k.t.Context())
		if err != nil || len(routes) != 1 || !slices.Equal(routes[0].Order, want) {
			return errors.Join(err, fmt.Errorf("the routes are %+v", routes))
		}
		return nil
	})
}

func TestUIARouteIsMadeOrderedByKeyAndPointerAndSaysWhyItSwitched(t *testing.T) {
	t.Parallel()
	k := bareDesk(t, "full")
	alder, _ := k.provider("Alder", "a", alwaysRefuses(402, "no credits"))
	birch, _ := k.provider("Birch", "b", script.Says("The boat leaves at nine."))
	k.show()
	k.settings("Routes")
	k.ByRole("button", "New route").Click()
	k.waitOrder("Alder a")
	k.ByRole("button", "Add a model: Everyday").Click()
	form := k.ByRole("form", "Add a model")
	form.ByRole("combobox", "Provider").Eval(`function () {
  this.value = [...this.options].find((o) => o.text === 'Birch').value
  this.dispatchEvent(new Event('change', { bubbles: true }))
}`)
	form.ByRole("button", "Add").Click()
	k.waitOrder("Alder a", "Birch b")

	k.ByRole("button", "Move b")
	k.ByRole("button", "Move a").Focus()
	k.Press("Alt+ArrowDown")
	k.waitOrder("Birch b", "Alder a")
	k.WaitText("a is now 2 of 2.")
	k.Press("Alt+ArrowUp") // the focus went with it
	k.waitOrder("Alder a", "Birch b")
	k.WaitText("a is now 1 of 2.")
	k.ByRole("button", "Move b").DragTo(k.ByRole("button", "Move a"))
	k.waitOrder("Birch b", "Alder a")
	k.ByRole("button", "Limits of a").Click()
	k.ByRole("textbox", "Weight").Type("200")
	k.Press("Tab")
	k.waitOrder("Alder a", "Birch b")
	k.ByRole("textbox", "Most tokens out").Type("4k")
	k.Press("Tab")
	k.WaitText("out ≤ 4k")
	k.wantFits("the route")

	k.ByRole("button", "Back to sessions").Click()
	k.ByRole("button", "Model: Everyday")
	k.ask("When does the boat leave?")
	k.waitAnswer("The boat leaves at nine.")
	const switched = "Switched to Birch b, because Alder"
	k.run("Done").WaitText(switched)
	k.run("Done").ByRolePart("button", "Done").Click()
	k.ByRole("list", "Steps of this run").WaitText(switched)
	k.Reload()
	k.row("When does the boat leave?").Click()
	k.run("Done").WaitText(switched)
	if a, b := len(alder.Requests()), len(birch.Requests()); a != 1 || b != 1 {
		t.Errorf("the models were asked %d and %d times, want once each", a, b)
	}
}

func TestUIWhenNoModelOfARouteAnswersEachReasonIsShownWithWaysOn(t *testing.T) {
	t.Parallel()
	k := bareDesk(t, "full")
	_, a := k.provider("Alder", "a", alwaysRefuses(401, "no such key"))
	_, b := k.provider("Birch", "b", alwaysRefuses(404, "no such model"))
	if _, err := k.engine.SaveRoute(t.Context(), engine.RouteSpec{Name: "Everyday", Legs: []config.Leg{{Provider: a}, {Provider: b}}, Default: true}); err != nil {
		t.Fatal(err)
	}
	k.show()
	k.ask("When does the boat leave?")
	k.run("Failed")
	k.WaitText("No model in Everyday answered.")
	reasons := k.ByRole("list", "Why each model failed")
	reasons.WaitText("Alder a")
	reasons.WaitText("Birch b")
	k.wantFits("the card")
	k.ByRole("button", "Fix key")
	k.ByRole("button", "Try again")
	k.ByRole("button", "Edit route").Click()
	k.ByRole("heading", "Routes")
	k.ByRole("button", "Remove: Everyday").Click()
	k.WaitText("Removed Everyday.")
	k.Gone("button", "Remove: Everyday")
	k.ByRole("button", "Undo").Click()
	k.waitOrder("Alder a", "Birch b")
}

func TestUIWhatWasUsedIsShownWithItsCostAndABudgetIsAskedAbout(t *testing.T) {
	priced := script.Says("The boat leaves at nine.")
	priced.Usage = &script.Usage{Input: 200_000, Output: 50_000}
	dear := call("fs_list", map[string]any{})
	dear.Usage = &script.Usage{Input: 400_000, Output: 50_000}
	k := newDesk(t, "full", turns(priced, dear, script.Says("never")))
	p, err := k.engine.Providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in, out := 1.0, 4.0
	if _, err := k.engine.SaveModel(t.Context(), p[0].ID, config.Model{Name: "m", PriceInput: &in, PriceOutput: &out}); err != nil {
		t.Fatal(err)
	}
	k.ask("When does the boat leave?")
	k.waitAnswer("The boat leaves at nine.")
	k.run("Done").WaitText("$0.40")
	k.settings("Usage and budget")
	k.ByRole("table", "By day").WaitText("$0.40")
	k.ByRole("table", "By model").WaitText("200k")
	k.ByRole("textbox", "Budget of a day").Type("0.50")
	k.Press("Tab")
	k.ByRole("meter", "Budget of a day").WaitIs("aria-valuetext", "$0.40 of $0.50 a day")
	k.wantFits("the usage")
	k.ByRole("button", "Back to sessions").Click()
	k.ask("And the train?")
	list := k.needs("The budget for today is used up: $1.00 of $0.50. Go on?")
	ready(list, "Skip")
	list.ByRole("radio", "Stop here").Click()
	ready(list, "Answer").Click()
	k.WaitText("Stopped: the budget for today is used up")
	k.ByRole("button", "Raise budget").Click()
	k.ByRole("heading", "Usage and budget")
	if s, err := k.engine.Settings(t.Context()); err != nil || s.Budget.Day != 0.5 {
		t.Errorf("the budget is %+v, %v", s.Budget, err)
	}
}

func TestUIAModelThatSaysNothingForLongIsToldOf(t *testing.T) {
	k := newDesk(t, "full", turns(held(1, "One ", "two.")))
	k.ask("Count")
	k.WaitFor(40*time.Second, "the notice", func() error {
		snapshots, err := k.engine.Sessions(t.Context(), engine.SessionQuery{})
		if err != nil || len(snapshots) != 1 {
			return errors.Join(err, fmt.Errorf("%d sessions", len(snapshots)))
		}
		s, err := k.engine.Snapshot(t.Context(), snapshots[0].ID, engine.SnapshotQuery{})
		if err != nil || !slices.ContainsFunc(s.Notes, func(n engine.Note) bool { return n.Notice != nil && strings.Contains(n.Notice.Text, "said nothing") }) {
			return errors.Join(err, fmt.Errorf("the notes are %+v", s.Notes))
		}
		return nil
	})
	k.ByRole("list", "Steps of this run").WaitText("has said nothing for 15 seconds; still waiting.")
	k.run("Working").ByRole("button", "Stop").Click()
	k.run("Stopped")
	k.Wait("the end", func() error {
		s, err := k.engine.Sessions(t.Context(), engine.SessionQuery{})
		if err != nil || s[0].State != string(event.RunIsCancelled) {
			return errors.Join(err, fmt.Errorf("%+v", s))
		}
		return nil
	})
}
