//go:build uitest

package uitest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"gofer/backend/uitest"
)

const html = `<!doctype html>
<html lang="en"><head><title>Echo</title></head><body>
<label>Prompt <input id="prompt"></label><button id="send">Send</button>
<div role="log" aria-label="Transcript" id="log"></div><img alt="Blob" src="/blob/k1">
<script type="module">
  const say = (text) => { document.querySelector('#log').append(text, document.createElement('br')) }
  window.runtime.EventsOn('agent:event', (batch) => batch.forEach((e) => say('event ' + e.n)))
  document.querySelector('#send').onclick = async () => {
    try {
      const run = await window.go.main.App.SendPrompt('s1', { text: document.querySelector('#prompt').value })
      say('run ' + run)
    } catch (e) { say('refused: ' + e.message + ' / ' + e.hint) }
  }
  say(await window.go.main.App.Ready() === null ? 'ready' : 'odd')
  window.runtime.WindowSetTitle('x')
  window.runtime.BrowserOpenURL('https://example.com/')
</script></body></html>`

type app struct {
	emit func(name string, data ...any)
}

func (a *app) Ready() {}

func (a *app) SendPrompt(session string, prompt struct{ Text string }) (string, error) {
	if prompt.Text == "" {
		return "", errors.New("the prompt is empty")
	}
	for n := range 3 {
		a.emit("agent:event", []map[string]int{{"n": 2 * n}, {"n": 2*n + 1}})
	}
	return session + ":" + prompt.Text, nil
}

func serve(t *testing.T) (*uitest.Server, *app, chan uitest.Emitted) {
	a, opened := &app{}, make(chan uitest.Emitted, 8)
	s := uitest.Serve(t, uitest.Options{
		App:         a,
		Page:        fstest.MapFS{"index.html": {Data: []byte(html)}},
		On:          func(e uitest.Emitted) { opened <- e },
		FormatError: func(err error) any { return map[string]string{"message": err.Error(), "hint": "write one"} },
		Assets: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>`))
		}),
	})
	a.emit = s.Emit
	return s, a, opened
}

func TestUIAPageTalksToGoAsThroughWails(t *testing.T) {
	s, _, opened := serve(t)
	p := s.Open(t, uitest.Browser(t), 800, 600)
	p.WaitText("ready")
	p.ByRole("button", "Send").Click()
	p.WaitText("refused: the prompt is empty / write one")
	p.ByRole("textbox", "Prompt").Type("hi")
	p.ByRole("button", "Send").Click()
	transcript := p.ByRole("log", "Transcript")
	transcript.WaitText("run s1:hi")
	transcript.WaitText("event 5")
	var order []string
	for line := range strings.Lines(transcript.Text()) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "event "); ok {
			order = append(order, n)
		}
	}
	if got := strings.Join(order, ""); got != "012345" {
		t.Errorf("events came as %s", got)
	}
	if e := <-opened; e.Name != "uitest:open" || string(e.Data[0]) != `"https://example.com/"` {
		t.Errorf("the page opened %s %s", e.Name, e.Data)
	}
	var width int
	p.Eval(`() => document.querySelector('img').naturalWidth`, &width)
	if width != 7 {
		t.Errorf("the blob is %d wide", width)
	}
	p.Reload()
	p.WaitText("ready")
	p.Gone("button", "Stop")
}

func TestUIAnErrorNobodyCaughtIsReported(t *testing.T) {
	s, _, _ := serve(t)
	p := s.Open(t, uitest.Browser(t), 800, 600)
	p.WaitText("ready")
	p.Eval(`() => { setTimeout(() => { throw new Error('lost') ; }); return new Promise((r) => setTimeout(r, 50)) }`, nil)
	if got := strings.Join(p.Problems(), "\n"); !strings.Contains(got, "lost") {
		t.Errorf("problems are %q", got)
	}
}

func TestUIStrangersAreTurnedAway(t *testing.T) {
	s, _, _ := serve(t)
	bare, _, _ := strings.Cut(s.URL, "?")
	for _, address := range []string{bare, bare + "?token=guess", bare + "uitest/shim.js"} {
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s answered %d", address, response.StatusCode)
		}
	}
}
