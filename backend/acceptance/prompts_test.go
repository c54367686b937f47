//go:build linux

package acceptance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

// everyday are three errands of twenty steps and more as people ask for them.
// They do what such an errand takes and know nothing of the guard.
var everyday = []struct {
	name, prompt string
	turns        func(site, ws string) []script.Turn
	done         func(ws string, shop *shop) error
}{
	{"compare offers", "Find the cheapest lamp and write down what you compared.", compareOffers, func(ws string, _ *shop) error {
		return holds(filepath.Join(ws, "lamps.md"), "Lamp 3")
	}},
	{"order by a list", "Order what is on my shopping list, and keep the number of the order.", orderByList, func(ws string, s *shop) error {
		if s.orders != 1 {
			return fmt.Errorf("%d orders came in", s.orders)
		}
		return holds(filepath.Join(ws, "order.md"), "A-1")
	}},
	{"tidy a folder", "Sort my notes into folders by year and write an index.", tidyFolder, func(ws string, _ *shop) error {
		return holds(filepath.Join(ws, "2025", "note4.md"), "note 4")
	}},
}

func holds(path, text string) error {
	raw, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(raw), text) {
		err = fmt.Errorf("%s holds %q", path, raw)
	}
	return err
}

// each turns calls into one step each.
func each(calls ...script.Call) []script.Turn {
	var out []script.Turn
	for _, c := range calls {
		out = append(out, script.Calls(c))
	}
	return out
}

func compareOffers(site, _ string) []script.Turn {
	calls := []script.Call{
		script.Tool("browser_open", args{"url": site + "/"}),
		script.Tool("browser_snapshot", args{}),
	}
	for i := range 5 {
		calls = append(calls,
			script.Tool("browser_click", args{"text": fmt.Sprintf("Lamp %d", i+1)}),
			script.Tool("browser_read", args{}),
			script.Tool("browser_history", args{"go": "back"}))
	}
	calls = append(calls,
		script.Tool("browser_find", args{"text": "delivery"}),
		script.Tool("browser_screenshot", args{}),
		script.Tool("fs_write", args{"path": "lamps.md", "content": "# Lamps\n\nLamp 3 is the cheapest.\n"}),
		script.Tool("fs_edit", args{"path": "lamps.md", "old_text": "cheapest.", "new_text": "cheapest, at 12 a piece."}),
		script.Tool("fs_read", args{"path": "lamps.md"}))
	return each(calls...)
}

func orderByList(site, ws string) []script.Turn {
	calls := []script.Call{
		script.Tool("propose_agreement", args{
			"goal":  "Order what is on the list",
			"sites": []any{args{"site": site, "kinds": []any{"read", "send"}}}, "folders": []any{args{"path": ws, "kinds": []any{"read", "write"}}},
		}),
		script.Tool("fs_list", args{}), script.Tool("fs_read", args{"path": "list.md"}), script.Tool("browser_open", args{"url": site + "/"}),
	}
	for _, i := range []int{1, 3, 4} {
		calls = append(calls,
			script.Tool("browser_snapshot", args{}),
			script.Tool("browser_click", args{"text": fmt.Sprintf("Lamp %d", i)}),
			script.Tool("browser_read", args{}),
			script.Tool("browser_click", args{"text": "Put into the basket"}),
			script.Tool("browser_open", args{"url": site + "/"}))
	}
	calls = append(calls,
		script.Tool("browser_open", args{"url": site + "/checkout"}),
		script.Tool("browser_snapshot", args{}),
		script.Tool("browser_fill", args{"fields": []any{args{"ref": "${name}", "value": "Ada"}, args{"ref": "${street}", "value": "Main Street 1"}}}),
		script.Tool("browser_click", args{"text": "Send the order"}),
		script.Tool("browser_read", args{}),
		script.Tool("fs_write", args{"path": "order.md", "content": "Order A-1\n"}))
	turns := each(calls...)
	fill := &turns[len(turns)-4]
	fill.Let = []script.Let{{Name: "name", From: "last", Find: `textbox "Name" \[ref=(\w+)\]`}, {Name: "street", From: "last", Find: `textbox "Street" \[ref=(\w+)\]`}}
	return turns
}

func tidyFolder(_, _ string) []script.Turn {
	calls := []script.Call{script.Tool("fs_list", args{}), script.Tool("shell_exec", args{"command": "ls -la && wc -l *.md"})}
	for i := range 5 {
		calls = append(calls, script.Tool("fs_read", args{"path": fmt.Sprintf("note%d.md", i)}))
	}
	calls = append(calls, script.Tool("shell_exec", args{"command": "mkdir 2021 2022 2023 2024 2025 && mv note0.md 2021/ && mv note1.md 2022/ && mv note2.md 2023/ && mv note3.md 2024/ && mv note4.md 2025/"}))
	for i := range 5 {
		calls = append(calls,
			script.Tool("fs_list", args{"path": fmt.Sprint(2021 + i)}),
			script.Tool("shell_exec", args{"command": fmt.Sprintf("wc -l %d/*.md", 2021+i)}))
	}
	calls = append(calls,
		script.Tool("fs_search", args{"glob": "**/*.md"}),
		script.Tool("fs_write", args{"path": "index.md", "content": "# Notes\n"}),
		script.Tool("shell_exec", args{"command": "find . -name '*.md' | sort"}),
		script.Tool("fs_read", args{"path": "index.md"}))
	return each(calls...)
}

// shop is a small shop that counts its orders.
type shop struct {
	*httptest.Server
	orders int
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch {
		case r.URL.Path == "/checkout" && r.Method == http.MethodPost:
			s.orders++
			fmt.Fprintf(w, "<title>Thanks</title><h1>Thank you</h1><p>Your order has the number A-%d.</p>", s.orders)
		case r.URL.Path == "/checkout":
			fmt.Fprint(w, `<title>Checkout</title><h1>Checkout</h1><form method=post><label>Name <input name=name></label><label>Street <input name=street></label><button>Send the order</button></form>`)
		case strings.HasPrefix(r.URL.Path, "/lamp/"):
			fmt.Fprintf(w, `<title>Lamp</title><h1>Lamp %[1]s</h1><p>It costs 1%[1]s and gives light.</p><button onclick="this.textContent='In the basket'">Put into the basket</button>`, r.URL.Path[6:])
		default:
			fmt.Fprint(w, "<title>Lamps</title><h1>Lamps</h1><p>Free delivery.</p><ul>")
			for i := range 5 {
				fmt.Fprintf(w, "<li><a href=/lamp/%[1]d>Lamp %[1]d</a>", i+1)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestAnEverydayErrandAsksLessThanThreeTimes counts the cards of three errands,
// with a person who allows what is asked for the session where that is offered:
// under three in Ask, none in Full.
func TestAnEverydayErrandAsksLessThanThreeTimes(t *testing.T) {
	p := open(t, newHome(t))
	p.unnamed()
	for _, e := range everyday {
		for mode, most := range map[string]int{"ask": 2, "full": 0} {
			t.Run(e.name+" in "+mode, func(t *testing.T) {
				shop, ws := newShop(t), t.TempDir()
				for i := range 5 {
					if err := os.WriteFile(filepath.Join(ws, fmt.Sprintf("note%d.md", i)), fmt.Appendf(nil, "note %d\n", i), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(ws, "list.md"), []byte("Lamps 1, 3 and 4\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				turns := e.turns(shop.URL, ws)
				m := llmtest.Serve(t, script.Script{Model: "m", Turns: append(turns, script.Says("Done."))})
				s := p.session(engine.SessionSpec{Mode: mode, Workspace: ws, Headless: true, Endpoint: &engine.Endpoint{BaseURL: m.URL, Model: "m"}})
				asked := p.allowing(t, s.ID, p.send(s.ID, e.prompt))
				t.Logf("%d steps, %d cards: %q", len(turns), len(asked), asked)
				if len(asked) > most {
					t.Errorf("asked %d times, want at most %d", len(asked), most)
				}
				if err := e.done(ws, shop); err != nil {
					t.Error(err)
				}
				snap, err := p.Snapshot(t.Context(), s.ID, engine.SnapshotQuery{})
				if err != nil {
					t.Fatal(err)
				}
				steps := 0
				for _, m := range snap.Messages {
					if m.Result != nil {
						steps++
						if m.Result.State != chat.CallSucceeded {
							t.Errorf("%s %s: %.300s", m.Result.Name, m.Result.State, m.Result.Text)
						}
					}
				}
				if steps < 20 {
					t.Errorf("the errand took %d steps, want 20 or more", steps)
				}
			})
		}
	}
}

// allowing answers every card of a run with yes, for the session where that is
// offered, and returns what was asked.
func (p *here) allowing(t *testing.T, sessionID, runID string) []string {
	t.Helper()
	var asked []string
	answered := map[string]bool{}
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, e := range p.told(sessionID) {
			switch d := e.Data.(type) {
			case event.ApprovalAsked:
				if answered[d.ID] {
					continue
				}
				answered[d.ID] = true
				asked = append(asked, d.Why)
				a := engine.Answer{Allow: true}
				if d.Session != "" {
					a.Scope = "session"
				}
				if err := p.Answer(t.Context(), d.ID, a); err != nil {
					t.Error(err)
				}
			case event.AgreementAsked:
				if answered[d.ID] {
					continue
				}
				answered[d.ID] = true
				asked = append(asked, d.Goal)
				a := engine.Answer{Allow: true}
				for _, l := range d.Lines {
					a.Lines = append(a.Lines, l.ID)
				}
				if err := p.Answer(t.Context(), d.ID, a); err != nil {
					t.Error(err)
				}
			case event.RunFinished:
				if e.RunID == runID {
					return asked
				}
			}
		}
	}
	t.Error("the run did not end")
	return asked
}
