package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host/hosttest"
)

func TestThePersonAtTheTerminalIsAsked(t *testing.T) {
	agreement := event.AgreementAsked{
		ID: "w", Goal: "Compare tents\x1b[2J", Spend: 1, Iterations: 30, Why: "It comes after reading text from example.org.",
		Lines: []event.AgreementLine{{ID: "1", Words: "Read all pages of https://a.example."}, {ID: "2", Words: "Write files in /desk."}},
	}
	deed := event.Deed{Class: "run_command", Object: "curl x\x1b[1A | sh", Detail: "/desk"}
	for name, c := range map[string]struct {
		asked event.Data
		typed []string
		want  engine.Answer
		shown string
	}{
		"once":        {event.ApprovalAsked{ID: "w", Deeds: []event.Deed{deed}, Why: "after reading text from example.org"}, []string{"y"}, engine.Answer{Allow: true, Scope: "once"}, "curl x\\u{1B}[1A | sh"},
		"session":     {event.ApprovalAsked{ID: "w", Deeds: []event.Deed{deed}, Session: "curl in /desk"}, []string{"s"}, engine.Answer{Allow: true, Scope: "session"}, "would cover: curl in /desk"},
		"no session":  {event.ApprovalAsked{ID: "w", Deeds: []event.Deed{deed}}, []string{"s", "y"}, engine.Answer{Allow: true, Scope: "once"}, "y once, n no"},
		"no":          {event.ApprovalAsked{ID: "w"}, []string{"n not this one"}, engine.Answer{Note: "not this one"}, "Allow?"},
		"enter":       {event.ApprovalAsked{ID: "w"}, []string{"", "yes please", "n"}, engine.Answer{}, "Allow?"},
		"secrets":     {event.ApprovalAsked{ID: "w", Deeds: []event.Deed{{Class: "send", Fields: []event.DeedField{{Label: "Password", Value: "oops", Secret: true}}}}}, []string{"n"}, engine.Answer{}, "Password: (not shown)"},
		"added":       {event.ApprovalAsked{ID: "w", Extend: "curl in /desk"}, []string{"a"}, engine.Answer{Allow: true, Scope: "run"}, "a add to the agreement"},
		"not added":   {event.ApprovalAsked{ID: "w"}, []string{"a", "n"}, engine.Answer{}, "y once, n no"},
		"agreed":      {agreement, []string{"perhaps", "y"}, engine.Answer{Allow: true, Lines: []string{"1", "2"}}, "2  Write files in /desk."},
		"some of it":  {agreement, []string{"y 7", "y 2"}, engine.Answer{Allow: true, Lines: []string{"2"}}, "Up to $1.00."},
		"not agreed":  {agreement, []string{"n step by step"}, engine.Answer{Note: "step by step"}, "reading text from example.org"},
		"by Enter":    {agreement, []string{""}, engine.Answer{}, "Compare tents\\u{1B}[2J"},
		"unanswered":  {agreement, nil, engine.Answer{By: "nobody"}, "N no:"},
		"choice":      {question("choice", "", "Red", "Blue"), []string{"purple", "2"}, engine.Answer{Text: "v-Blue"}, "2  Blue"},
		"by label":    {question("choice", "", "Red", "Blue"), []string{"red"}, engine.Answer{Text: "v-Red"}, "1  Red"},
		"confirm":     {question("confirm", ""), []string{"perhaps", "y"}, engine.Answer{Text: "yes"}, "Which?"},
		"input":       {question("input", ""), []string{"", "anything"}, engine.Answer{Text: "anything"}, "Which?"},
		"by default":  {question("input", "tea"), []string{""}, engine.Answer{Text: "tea"}, "Enter for tea"},
		"decide":      {question("input", ""), []string{"/decide"}, engine.Answer{Decide: true}, "/decide"},
		"skip":        {question("choice", "", "Red"), []string{"/skip"}, engine.Answer{Skip: true}, "/skip"},
		"end of file": {question("input", ""), nil, engine.Answer{By: "nobody"}, "Which?"},
	} {
		t.Run(name, func(t *testing.T) {
			f := engineWith(event.RunStarted{}, c.asked)
			got := make(chan engine.Answer, 1)
			f.On["Answer"] = func(_ context.Context, args ...any) (any, error) {
				got <- args[1].(engine.Answer)
				publish(f, says("ok"), done())
				return nil, nil
			}
			x := newTerminal(t, f, "run", "do it")
			x.env.IsTerminal = func(any) bool { return true }
			x.env.Getenv = func(string) string { return "dumb" }
			in, typing := io.Pipe()
			x.env.Stdin = in
			go func() {
				x.err.waitFor(t, c.shown)
				for _, text := range c.typed {
					io.WriteString(typing, text+"\n")
				}
				if c.typed == nil {
					typing.Close()
				}
			}()
			x.want(x.run(), ExitDone, "ok\n", c.shown)
			if answer := <-got; !reflect.DeepEqual(answer, c.want) {
				t.Errorf("got %+v, want %+v", answer, c.want)
			}
			if strings.Contains(x.err.String(), "oops") {
				t.Error("a secret was shown")
			}
		})
	}
}

func question(kind, preset string, labels ...string) event.ClarificationAsked {
	q := event.ClarificationAsked{ID: "w", Question: event.Question{Kind: kind, Title: "Which?", Default: preset}}
	for _, l := range labels {
		q.Question.Options = append(q.Question.Options, event.Option{Label: l, Value: "v-" + l})
	}
	return q
}

func TestAnAnswerFromElsewhereTakesTheQuestionAway(t *testing.T) {
	f := engineWith(event.RunStarted{}, question("input", ""))
	x := newTerminal(t, f, "run", "do it")
	x.env.IsTerminal = func(any) bool { return true }
	in, typing := io.Pipe()
	defer typing.Close()
	x.env.Stdin = in
	go func() {
		x.err.waitFor(t, "Which?")
		publish(f, event.ClarificationAnswered{ID: "w", Answer: "tea", By: "person"}, says("ok"), done())
	}()
	x.want(x.run(), ExitDone, "ok\n", "answered elsewhere")
	if n := len(f.Calls("Answer")); n != 0 {
		t.Errorf("answers: got %d, want 0", n)
	}
}

func TestSessionsAreListedShownAndDeleted(t *testing.T) {
	list := []engine.Session{{ID: session, Title: "Buy\x1b tea", State: "completed", Reason: "limit"}}
	f := &hosttest.Fake{On: on{
		"Sessions": func(context.Context, ...any) (any, error) { return list, nil },
		"Snapshot": func(_ context.Context, args ...any) (any, error) {
			if args[0] != session {
				return nil, fault.New(fault.NotFound, "There is no session "+args[0].(string)+".", "List them.")
			}
			return engine.Snapshot{Session: list[0], Messages: []chat.Message{
				{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: "buy tea"}}},
				{Role: chat.Assistant, Model: "m", Parts: []chat.Part{{Type: chat.Text, Text: "looking"}}, Calls: []chat.ToolCall{{ID: "c", Name: "browser_open", Arguments: []byte(`{"url":"https://example.org"}`)}}},
				{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: "c", Name: "browser_open", State: chat.CallUnknown}},
			}}, nil
		},
	}}
	x := newTerminal(t, f, "sessions", "list")
	if code := x.run(); code != ExitDone || !strings.Contains(x.out.String(), "limit reached") || strings.Contains(x.out.String(), "\x1b") {
		t.Errorf("list: got %d and %q", code, x.out.String())
	}
	x = newTerminal(t, f, "sessions", "show", "last")
	code := x.run()
	for _, want := range []string{"You", "  buy tea\n", "Agent  m\n", `? browser_open {"url":"https://example.org"}  outcome unknown`} {
		if code != ExitDone || !strings.Contains(x.out.String(), want) {
			t.Errorf("show: got %d, and no %q in\n%s", code, want, x.out.String())
		}
	}
	x = newTerminal(t, f, "sessions", "show", "nope")
	x.want(x.run(), ExitFailed, "", "There is no session nope. List them.")
	x = newTerminal(t, f, "sessions", "delete", session)
	x.want(x.run(), ExitDone, "", "Deleted")
	x = newTerminal(t, f, "sessions", "delete", session)
	x.env.IsTerminal = func(any) bool { return true }
	x.env.Stdin = strings.NewReader("n\n")
	x.want(x.run(), ExitDone, "", "Kept.")
	if n := len(f.Calls("DeleteSession")); n != 1 {
		t.Errorf("deletions: got %d, want 1", n)
	}
}

func TestProvidersAreAddedWithKeysFromSafePlaces(t *testing.T) {
	f := &hosttest.Fake{On: on{
		"Presets": func(context.Context, ...any) (any, error) {
			return []engine.Preset{{ID: "openai", NeedsKey: true}, {ID: "ollama"}}, nil
		},
		"SaveProvider": func(_ context.Context, args ...any) (any, error) {
			return engine.Provider{ID: "p", Name: "P", KeyPlace: "file"}, nil
		},
	}}
	key := "sk-lab-0123456789"
	for name, c := range map[string]struct {
		args  string
		stdin string
		want  engine.ProviderSpec
	}{
		"environment": {"openai --key-env LAB_KEY --default", "", engine.ProviderSpec{Preset: "openai", Key: &key, Default: true}},
		"input":       {"openai --key-stdin", key + "\n", engine.ProviderSpec{Preset: "openai", Key: &key}},
		"no key":      {"ollama --model qwen3", "", engine.ProviderSpec{Preset: "ollama", Model: "qwen3"}},
		"own address": {"--name Lab --base-url http://127.0.0.1:1/v1", "", engine.ProviderSpec{Name: "Lab", BaseURL: "http://127.0.0.1:1/v1"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTerminal(t, f, append([]string{"providers", "add"}, strings.Fields(c.args)...)...)
			x.env.Stdin = strings.NewReader(c.stdin)
			x.want(x.run(), ExitDone, "", "Saved P (p).", "In an encrypted file")
			calls := f.Calls("SaveProvider")
			if got := calls[len(calls)-1].Args[0]; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	x := newTerminal(t, f, "providers", "add", "openai")
	x.env.IsTerminal = func(any) bool { return true }
	x.env.ReadSecret = func() (string, error) { return key, nil }
	x.want(x.run(), ExitDone, "", "Key (not shown")
}

func TestAProviderIsTested(t *testing.T) {
	answer := engine.ProviderTest{OK: true, ElapsedMS: 420, Answer: "Hello"}
	f := &hosttest.Fake{On: on{
		"Providers": func(context.Context, ...any) (any, error) {
			return []engine.Provider{{ID: "a"}, {ID: "b", IsDefault: true}}, nil
		},
		"TestProvider": func(context.Context, ...any) (any, error) { return answer, nil },
	}}
	x := newTerminal(t, f, "providers", "test")
	x.want(x.run(), ExitDone, "b answered in 0.4 s: Hello\n")
	answer = engine.ProviderTest{URL: "http://127.0.0.1:1", Problem: &event.Problem{Message: "Nobody answers there.", Hint: "Start the server."}}
	x = newTerminal(t, f, "providers", "test", "a")
	x.want(x.run(), ExitFailed, "", "gofer: Nobody answers there. (http://127.0.0.1:1) Start the server.")
}

func TestDoctorSaysWhatIsWrong(t *testing.T) {
	t.Setenv("GOFER_HOME", t.TempDir())
	t.Setenv("GOFER_KEYRING", "off")
	f := &hosttest.Fake{On: on{
		"Providers": func(context.Context, ...any) (any, error) {
			return []engine.Provider{{ID: "b", Name: "B", Model: "m", IsDefault: true}}, nil
		},
		"TestProvider": func(context.Context, ...any) (any, error) { return engine.ProviderTest{OK: true}, nil },
	}}
	x := newTerminal(t, f, "doctor")
	x.env.FindBrowser = func(context.Context, string) (string, error) { return "/usr/bin/chromium", nil }
	code := x.run()
	for _, want := range []string{"✓ home", "✓ settings", "! keyring", "✓ browser   /usr/bin/chromium", "✓ filter    on", "✓ display", " sandbox ", "✓ engine", "✓ provider  B, m"} {
		if !strings.Contains(x.out.String(), want) {
			t.Errorf("no %q in\n%s", want, x.out.String())
		}
	}
	if code != ExitDone {
		t.Errorf("exit code: got %d, want 0", code)
	}
	f.On["Providers"] = func(context.Context, ...any) (any, error) { return nil, nil }
	if err := os.WriteFile(filepath.Join(os.Getenv("GOFER_HOME"), "settings.json"), []byte(`{"browserFilter":"off"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x = newTerminal(t, f, "doctor")
	x.env.FindBrowser = func(context.Context, string) (string, error) {
		return "", fault.New(fault.NoBrowser, "No browser was found.", "Install Chromium.")
	}
	code = x.run()
	for _, want := range []string{"✗ browser   No browser was found.\n            → Install Chromium.", "! filter    It is off", "✗ provider  No model provider is set up."} {
		if !strings.Contains(x.out.String(), want) {
			t.Errorf("no %q in\n%s", want, x.out.String())
		}
	}
	if code != ExitFailed {
		t.Errorf("exit code: got %d, want 1", code)
	}
}

func TestKeysAreListedAddedChosenAndRemoved(t *testing.T) {
	until := time.Date(2027, 1, 31, 0, 0, 0, 0, time.Local).UnixMilli()
	keys := []engine.KeyInfo{{ID: "k1", Alias: "home", Hint: "1111", Place: "file", Active: true}, {ID: "k2", Alias: "work", Hint: "2222", Place: "keychain", Expires: 1, Expired: true}}
	p := engine.Provider{ID: "p", Name: "P", Keys: keys}
	f := &hosttest.Fake{On: on{
		"Providers": func(context.Context, ...any) (any, error) { return []engine.Provider{p}, nil },
		"SaveKey":   func(context.Context, ...any) (any, error) { return p, nil },
		"RemoveKey": func(context.Context, ...any) (any, error) { return p, nil },
	}}
	x := newTerminal(t, f, "providers", "key", "P")
	x.want(x.run(), ExitDone, "k1  …1111  home  key in file   in use\nk2  …2222  work  key in keychain  expired\n")
	x = newTerminal(t, f, "providers", "key", "p", "--key-stdin", "--alias", "work", "--expires", "2027-01-31")
	x.env.Stdin = strings.NewReader("sk-lab-0123456789\n")
	x.run()
	alias, key := "work", "sk-lab-0123456789"
	calls := f.Calls("SaveKey")
	if want := (engine.KeySpec{Provider: "p", Alias: &alias, Expires: &until, Key: &key}); len(calls) != 1 || !reflect.DeepEqual(calls[0].Args[0], want) {
		t.Errorf("got %+v", calls)
	}
	x = newTerminal(t, f, "providers", "key", "p", "--use", "k2")
	x.run()
	if calls := f.Calls("SaveKey"); len(calls) != 2 || !reflect.DeepEqual(calls[1].Args[0], engine.KeySpec{Provider: "p", ID: "k2", Active: true}) {
		t.Errorf("got %+v", calls)
	}
	x = newTerminal(t, f, "providers", "key", "p", "--remove", "k1")
	x.run()
	if calls := f.Calls("RemoveKey"); len(calls) != 1 || calls[0].Args[1] != "k1" {
		t.Errorf("got %+v", calls)
	}
	x = newTerminal(t, f, "providers", "key", "p", "--use", "k1", "--expires", "soon")
	x.want(x.run(), ExitUsage, "", "2027-01-31")
}

func TestRoutesAreAddedListedAndRemoved(t *testing.T) {
	r := engine.Route{ID: "r", Name: "Everyday", Order: []string{"A x", "B y"}, IsDefault: true}
	f := &hosttest.Fake{On: on{
		"Routes":    func(context.Context, ...any) (any, error) { return []engine.Route{r}, nil },
		"SaveRoute": func(context.Context, ...any) (any, error) { return r, nil },
	}}
	x := newTerminal(t, f, "routes", "add", "Everyday", "A=x", "B", "--default")
	x.want(x.run(), ExitDone, "", "Saved the route Everyday (r): A x → B y.")
	want := engine.RouteSpec{Name: "Everyday", Legs: []config.Leg{{Provider: "A", Model: "x"}, {Provider: "B"}}, Default: true}
	if calls := f.Calls("SaveRoute"); len(calls) != 1 || !reflect.DeepEqual(calls[0].Args[0], want) {
		t.Errorf("got %+v", calls)
	}
	x = newTerminal(t, f, "routes", "list")
	x.want(x.run(), ExitDone, "r  Everyday  A x → B y  default\n")
	x = newTerminal(t, f, "routes", "remove", "Everyday")
	x.want(x.run(), ExitDone, "", "Removed Everyday.")
	x = newTerminal(t, f, "routes", "add", "Everyday")
	x.want(x.run(), ExitUsage, "", "at least one provider")
}

func TestATestPrintsWhatWasTried(t *testing.T) {
	answer := engine.ProviderTest{OK: true, ElapsedMS: 420, Answer: "ready", Model: "m", Learned: []string{"This server refuses stream_options; it is left out."}, Checks: []engine.Check{
		{What: "tools", OK: true, ElapsedMS: 100, Text: "called as asked"},
		{What: "pictures", ElapsedMS: 100, Problem: &event.Problem{Message: "This model takes no pictures.", Hint: "It works with text."}},
	}}
	f := &hosttest.Fake{On: on{"TestProvider": func(context.Context, ...any) (any, error) { return answer, nil }}}
	x := newTerminal(t, f, "providers", "test", "a")
	x.want(x.run(), ExitDone, "a answered in 0.4 s: ready\n✓ tools    called as asked  0.1 s\n! pictures This model takes no pictures. It works with text.  0.1 s\n· This server refuses stream_options; it is left out.\n")
	x = newTerminal(t, f, "providers", "test", "a", "--json")
	code := x.run()
	var got engine.ProviderTest
	if err := json.Unmarshal([]byte(x.out.String()), &got); err != nil || code != ExitDone || !reflect.DeepEqual(got, answer) {
		t.Errorf("got %d, %+v, %v", code, got, err)
	}
	answer.OK = false
	x = newTerminal(t, f, "providers", "test", "a", "--json")
	if code := x.run(); code != ExitFailed {
		t.Errorf("a test that failed: got %d, want 1", code)
	}
}
