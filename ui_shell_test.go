//go:build uitest

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/llm/script"
)

// rows are the titles in the sidebar, from the top.
func (k *desk) rows() []string {
	k.t.Helper()
	var rows []string
	k.Eval(`() => [...document.querySelectorAll('[data-session] > .truncate')].map((e) => e.innerText.trim().split('\n')[0])`, &rows)
	return rows
}

func (k *desk) waitRows(want ...string) {
	k.t.Helper()
	k.Wait(fmt.Sprintf("the sessions %q", want), func() error {
		if got := k.rows(); !slices.Equal(got, want) {
			return fmt.Errorf("they are %q", got)
		}
		return nil
	})
}

// menu opens the menu of a session and chooses from it.
func (k *desk) menu(session, item string) {
	k.t.Helper()
	k.ByRole("button", "More for "+session).Click()
	k.ByRole("menuitem", item).Click()
}

func TestUISessionsAreMadeRenamedSearchedDeletedAndBroughtBack(t *testing.T) {
	k := newDesk(t, "full", turns(script.Says("The lamps are lit until midnight."), script.Says("The boat leaves at nine.")))
	k.waitRows()
	k.ask("How long are the lamps lit?")
	k.waitAnswer("The lamps are lit until midnight.")
	k.ByRolePart("button", "New session").Click()
	k.WaitText("What should be done?")
	k.ask("When does the boat leave?")
	k.waitAnswer("The boat leaves at nine.")
	k.waitRows("When does the boat leave?", "How long are the lamps")

	k.menu("When does the boat leave?", "Rename")
	k.ByRole("textbox", "Title of the session").Type("Boat")
	k.Press("Enter")
	k.waitRows("Boat", "How long are the lamps")
	k.ByRole("heading", "Boat")
	k.menu("Boat", "Rename")
	k.ByRole("textbox", "Title of the session").Type("Another")
	k.Press("Escape")
	k.waitRows("Boat", "How long are the lamps")

	k.Press("Control+Shift+KeyF")
	field := k.ByRole("searchbox", "Search sessions")
	field.Type("midnight")
	k.waitRows("How long are the lamps")
	k.WaitText("lit until midnight")
	field.Type("nothing like it")
	k.WaitText("No session holds “nothing like it”.")
	k.Press("Escape")
	k.waitRows("Boat", "How long are the lamps")

	k.menu("Boat", "Delete")
	k.waitRows("How long are the lamps")
	k.ByRole("heading", "How long are the lamps") // its neighbour is shown
	k.WaitText("Deleted “Boat”.")
	k.ByRole("button", "Undo").Click()
	k.waitRows("Boat", "How long are the lamps")
	k.row("Boat").Click()
	k.waitAnswer("The boat leaves at nine.")

	k.Reload()
	k.waitRows("Boat", "How long are the lamps")
	k.Press("Control+KeyN")
	k.WaitText("What should be done?")
}

func TestUIAProviderIsAddedTestedAndRemoved(t *testing.T) {
	t.Parallel()
	const key = "sk-test-0123456789abcdefghij"
	k := bareDesk(t, "full")
	k.serve(script.Script{
		Model: "painter", Turns: []script.Turn{script.Calls(script.Tool("say_word", map[string]any{"word": "gofer"})), script.Says("Painted.")},
		Side: []script.Side{{Match: "colour", Text: "Red."}, {Match: "numbers", Text: "one two three"}, {Text: "ready"}},
	})
	k.show()
	k.WaitText("No model is set up yet")
	k.ByRole("button", "Set up a model").Click()
	k.ByRolePart("button", "Other address").Click()
	form := k.ByRole("form", "Other address")
	form.ByRole("textbox", "Name").Type("Studio")
	form.ByRole("textbox", "Address").Type(k.model.URL)
	form.ByRole("textbox", "Key").Type(key)
	form.ByRole("button", "Test").Click()
	form.WaitText("Answered in")
	form.WaitText("1 model found")
	if got := form.ByRole("textbox", "Model").Eval(`function () { return this.value }`); got != "painter" {
		t.Errorf("the model is %q, want the one that was found", got)
	}
	form.ByRole("button", "Save").Click()
	form = k.ByRole("form", "Studio")
	form.WaitText("•••• •••• ghij")
	form.WaitText("Kept encrypted in a file")
	form.WaitText("In use for new sessions")
	var html string
	k.Eval(`() => document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((i) => i.value)`, &html)
	settings, err := os.ReadFile(k.home.Settings())
	if err != nil || strings.Contains(html, key) || strings.Contains(string(settings), key) {
		t.Errorf("the key is shown or in the settings file (%v)", err)
	}
	if got := k.model.Requests()[0].Header.Get("Authorization"); got == "" {
		t.Error("the test came without a key")
	}
	k.ByRole("button", "Back to sessions").Click()
	k.Gone("region", "No model is set up yet")
	k.ask("Paint")
	k.waitAnswer("Painted.")

	k.Press("Control+Comma")
	k.ByRole("button", "Providers").Click()
	k.ByRole("form", "Studio").ByRole("button", "Remove").Click()
	k.WaitText("Removed Studio.")
	k.Gone("form", "Studio")
	k.Gone("button", "Remove")
	if p, err := k.engine.Providers(t.Context()); err != nil || len(p) != 0 {
		t.Errorf("the providers are %+v, %v; want none", p, err)
	}
}

func TestUITheThemeAndTheOtherSettingsHoldAtOnceAndAfterAReload(t *testing.T) {
	k := newDesk(t, "ask", turns(script.Says("Hello.")))
	ground := func() (colour string) {
		k.Eval(`() => getComputedStyle(document.querySelector('main')).backgroundColor`, &colour)
		return colour
	}
	k.Press("Control+Comma")
	k.ByRole("radio", "Dark").Click()
	dark := func() error {
		if theme, _ := k.window.seen(); theme != "dark" || ground() != "rgb(19, 19, 18)" {
			return fmt.Errorf("the frame is %q, the ground %s", theme, ground())
		}
		return nil
	}
	k.Wait("the dark theme", dark)
	k.ByRole("textbox", "Iteration limit").Type("7")
	k.Press("Tab")
	k.ByRole("button", "Reset Iteration limit")
	k.ByRole("textbox", "Iteration limit").Type("0")
	k.Press("Tab")
	k.WaitText("A whole number from 1 to 1000.")
	k.ByRole("searchbox", "Search settings").Type("browser")
	k.ByRole("textbox", "Browser program")
	k.Gone("textbox", "Iteration limit")
	k.Press("Escape")
	k.Reload()
	k.ByRole("textbox", "Prompt")
	k.Wait("the dark theme after a reload", dark)
	s, err := k.engine.Settings(t.Context())
	if err != nil || s.Theme != "dark" || s.MaxIterations != 7 {
		t.Errorf("the settings are %+v, %v", s, err)
	}

	// Full mode is dangerous, so the computer it is for is named.
	name := (&App{}).Machine()
	k.ByRole("button", "Mode: Ask").Click()
	k.ByRolePart("menuitemradio", "Asks before").WaitIs("aria-checked", "true")
	k.ByRolePart("menuitemradio", "Never asks").Click()
	k.ByRole("textbox", "Type the name of this computer, “"+name+"”, to confirm").Type(name)
	k.ByRole("button", "Switch to Full").Click()
	k.ByRole("button", "Mode: Full")
}

// payloads are the Markdown texts of the front end's own tests, pointed at a sink.
func payloads(t *testing.T, sink string) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"markdown-payloads", "markdown-kinds"} {
		raw, err := os.ReadFile("frontend/src/testing/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Payloads []struct{ Markdown string }
		}
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		for _, p := range file.Payloads {
			out = append(out, strings.ReplaceAll(p.Markdown, "${SINK}", sink))
		}
	}
	if len(out) < 48 {
		t.Fatalf("there are only %d texts", len(out))
	}
	return out
}

func TestUIWhatTheModelSaysRunsNothingLoadsNothingAndLeadsNowhere(t *testing.T) {
	var hits atomic.Int64
	sink := serveHandler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	texts := append(payloads(t, sink),
		"<a href=\""+sink+"/raw\">raw</a> [away]("+sink+"/away) <"+sink+"/auto> [mail](mailto:a@b.example) [here](/settings) [up](#prompt)",
		"| a |\n| - |\n| ![x]("+sink+"/cell) |\n\n> ![y]("+sink+"/quote)\n\n[ref]: "+sink+"/ref\n\n![ref] [ref]")
	var list []script.Turn
	for _, text := range texts {
		// In thirds, so that half-written marks are drawn too; once as thinking as well.
		a, b := len(text)/3, 2*len(text)/3
		turn := script.Says(text[:a], text[a:b], text[b:]+"\n\n.")
		turn.Reasoning = []string{text}
		list = append(list, turn)
	}
	k := newDesk(t, "full", turns(list...))
	k.Eval(`() => {
  window.violations = []
  document.addEventListener('securitypolicyviolation', (e) => window.violations.push(e.blockedURI + ' ' + e.violatedDirective))
}`, nil)
	k.ask("Say 1")
	k.run("Done")
	sessions, err := k.engine.Sessions(t.Context(), engine.SessionQuery{})
	if err != nil || len(sessions) != 1 {
		t.Fatalf("the sessions are %+v, %v", sessions, err)
	}
	for n := 2; n <= len(texts); n++ {
		if _, err := k.engine.SendPrompt(t.Context(), sessions[0].ID, chat.Prompt{Text: fmt.Sprintf("Say %d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	k.Wait("all answers", func() error {
		var done int
		k.Eval(`() => document.querySelectorAll('[aria-label="Run, Done"]').length`, &done)
		if done != len(texts) {
			return fmt.Errorf("there are %d of %d", done, len(texts))
		}
		return nil
	})
	// Every thought is unfolded, everything is hovered and pressed.
	k.Eval(`() => {
  for (const b of document.querySelectorAll('article button[aria-expanded=false]')) if (b.innerText.includes('Thought')) b.click()
  for (const e of document.querySelectorAll('.md *')) for (const kind of ['mouseover', 'mouseenter', 'focus', 'error', 'load']) e.dispatchEvent(new Event(kind))
  for (const a of document.querySelectorAll('.md a')) for (const kind of ['click', 'auxclick']) a.dispatchEvent(new MouseEvent(kind, { bubbles: true, cancelable: true, button: kind === 'click' ? 0 : 1 }))
}`, nil)
	k.ByRole("button", "Cancel").Click()
	k.Gone("button", "Cancel")

	var found struct {
		Pwned      bool
		Violations []string
		Strange    []string
		Apps       int
		Links      []string
	}
	k.Eval(`() => ({
  pwned: '__pwned' in window,
  violations: window.violations,
  strange: [...document.querySelectorAll('.md :is(script, style, iframe, img, svg, form, input, object, embed, link, base, meta, marquee, [style], [id], [srcset])')].filter((e) => !e.closest('button')).map((e) => e.outerHTML),
  apps: document.querySelectorAll('#app').length,
  links: [...document.querySelectorAll('.md a')].map((a) => a.getAttribute('href')),
})`, &found)
	if found.Pwned || len(found.Violations) != 0 || len(found.Strange) != 0 || found.Apps != 1 {
		t.Errorf("the page was reached: %+v", found)
	}
	for _, link := range found.Links {
		if clean, err := externalAddress(link); err != nil || clean == "" {
			t.Errorf("there is a link to %q", link)
		}
	}
	if len(found.Links) < 4 {
		t.Errorf("the links are %q, want the harmless ones to be there", found.Links)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the sink was asked %d times", n)
	}
	if _, opened := k.window.seen(); len(opened) != 0 {
		t.Errorf("%q left without a yes", opened)
	}
	if n := k.Loads(); n != 1 {
		t.Errorf("the page was loaded %d times, want once", n)
	}

	// After a yes the address goes to the person's own browser, and only there.
	k.Eval(`(href) => [...document.querySelectorAll('.md a')].find((a) => a.getAttribute('href') === href).click()`, nil, sink+"/away")
	k.WaitText(sink + "/away")
	k.ByRole("button", "Open").Click()
	k.Wait("the address to leave", func() error {
		if _, opened := k.window.seen(); !slices.Equal(opened, []string{sink + "/away"}) {
			return fmt.Errorf("%q left", opened)
		}
		return nil
	})
	if n := hits.Load(); n != 0 {
		t.Errorf("the sink was asked %d times by the page", n)
	}
}

// TestUIEvenAScriptInThePageLoadsNothingFromOutside is the second wall alone:
// whatever got past the first one is put into the page by the test itself.
func TestUIEvenAScriptInThePageLoadsNothingFromOutside(t *testing.T) {
	var hits atomic.Int64
	sink := serveHandler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	k := newDesk(t, "full", turns())
	var tried int
	k.Eval(`async (sink) => {
  window.refused = new Set()
  document.addEventListener('securitypolicyviolation', (e) => window.refused.add(e.effectiveDirective + ' ' + e.blockedURI))
  const ways = {
    image: () => add('img', { src: sink + '/img' }),
    frame: () => add('iframe', { src: sink + '/frame' }),
    script: () => add('script', { src: sink + '/script' }),
    inline: () => add('script', { textContent: 'window.__pwned = 1' }),
    style: () => add('link', { rel: 'stylesheet', href: sink + '/style' }),
    object: () => add('object', { data: sink + '/object' }),
    embed: () => add('embed', { src: sink + '/embed' }),
    audio: () => add('audio', { src: sink + '/audio', autoplay: true }),
    form: () => add('form', { action: sink + '/form', method: 'post' }).submit(),
    fetch: () => fetch(sink + '/fetch', { mode: 'no-cors' }).catch(() => {}),
    beacon: () => navigator.sendBeacon(sink + '/beacon', 'x'),
    socket: () => new WebSocket(sink.replace('http', 'ws') + '/socket'),
    stream: () => new EventSource(sink + '/stream'),
    handler: () => document.body.insertAdjacentHTML('beforeend', '<a id=trap onclick="window.__pwned = 1">x</a>') ?? document.getElementById('trap').click(),
    base: () => add('base', { href: sink + '/' }),
  }
  function add(name, properties) {
    return document.body.appendChild(Object.assign(document.createElement(name), properties))
  }
  for (const way of Object.values(ways)) try { way() } catch {}
  return Object.keys(ways).length
}`, &tried, sink)
	var refused []string
	k.Wait("the page to refuse", func() error {
		k.Eval(`() => [...window.refused].sort()`, &refused)
		if len(refused) < tried-1 { // the handler and the script in the page count as one place each
			return fmt.Errorf("%d of %d ways were refused: %q", len(refused), tried, refused)
		}
		return nil
	})
	var pwned bool
	var at string
	k.Eval(`() => '__pwned' in window`, &pwned)
	k.Eval(`() => location.pathname + ' ' + document.baseURI.startsWith(location.origin)`, &at)
	if pwned || at != "/ true" || hits.Load() != 0 || k.Loads() != 1 {
		t.Errorf("script ran: %v; the page is at %q; the sink was asked %d times; loads %d", pwned, at, hits.Load(), k.Loads())
	}
	k.Problems() // the refusals themselves
	t.Logf("%d ways tried, refused as %q", tried, refused)
}
