package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/id"
	"gofer/backend/llm"
	"gofer/backend/tool"
)

// turns is a model that gives one reply after another and keeps the requests.
type turns struct {
	replies []llm.Reply
	asked   []llm.Request
}

func (m *turns) Stream(_ context.Context, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	m.asked = append(m.asked, req)
	if len(m.asked) > len(m.replies) {
		return llm.Reply{}, &llm.Error{Kind: llm.BadRequest, Message: "the script is over"}
	}
	r := m.replies[len(m.asked)-1]
	for _, p := range r.Parts {
		emit(llm.Delta{Kind: llm.DeltaText, Text: p.Text})
	}
	return r, nil
}

func says(text string) llm.Reply {
	return llm.Reply{Parts: []chat.Part{{Type: chat.Text, Text: text}}, Finish: llm.Stop}
}

func calls(names ...string) llm.Reply {
	r := llm.Reply{Finish: llm.ToolCalls}
	for _, n := range names {
		name, args, _ := strings.Cut(n, " ")
		if args == "" {
			args = "{}"
		}
		r.Calls = append(r.Calls, chat.ToolCall{ID: id.New(), Name: name, Arguments: json.RawMessage(args)})
	}
	return r
}

// book is a journal in memory.
type book struct {
	mu      sync.Mutex
	lines   []string
	results []chat.ToolResult
	next    []int
	replies []llm.Reply
}

func (b *book) write(format string, args ...any) {
	b.mu.Lock()
	b.lines = append(b.lines, fmt.Sprintf(format, args...))
	b.mu.Unlock()
}

func (b *book) Iteration(_ context.Context, n int) error { b.write("iteration %d", n); return nil }
func (b *book) Delta(llm.Delta)                          {}
func (b *book) Progress(string, string)                  {}
func (b *book) Notice(_ context.Context, text string) error {
	b.write("notice %s", text)
	return nil
}

func (b *book) Reply(_ context.Context, r llm.Reply) (chat.Message, error) {
	b.write("reply with %d calls", len(r.Calls))
	b.replies = append(b.replies, r)
	return chat.Message{ID: id.New(), Role: chat.Assistant, Parts: r.Parts, Calls: r.Calls, Finish: string(r.Finish)}, nil
}

func (b *book) Started(_ context.Context, _ string, calls []Call) error {
	for _, c := range calls {
		b.write("started %s", c.Name)
	}
	return nil
}

func (b *book) Finished(ctx context.Context, c chat.ToolCall, state chat.CallState, r tool.Result, _ time.Duration, next int) (chat.Message, error) {
	if err := ctx.Err(); err != nil {
		return chat.Message{}, err
	}
	b.write("finished %s %s", c.Name, state)
	b.next = append(b.next, next)
	result := chat.ToolResult{CallID: c.ID, Name: c.Name, State: state, Text: r.Text}
	b.results = append(b.results, result)
	return chat.Message{ID: id.New(), Role: chat.ToolRole, Result: &result}, nil
}

// open lets everything pass but what is named.
type open struct{ refused map[string]string }

func (g open) Check(_ context.Context, c chat.ToolCall, _ tool.Tool) (string, error) {
	return g.refused[c.Name], nil
}

type person struct{ answer, by string }

func (p person) Ask(context.Context, event.Question) (string, string, error) {
	return p.answer, p.by, nil
}

type none struct{}

func act(name string, effect tool.Effect, run func(context.Context) (tool.Result, error), options ...tool.Option) tool.Tool {
	return tool.New(name, "", effect, func(ctx context.Context, _ none) (tool.Result, error) { return run(ctx) }, options...)
}

func gives(text string) func(context.Context) (tool.Result, error) {
	return func(context.Context) (tool.Result, error) { return tool.Text("%s", text), nil }
}

func runner(m llm.Model, b *book, tools ...tool.Tool) *Runner {
	return &Runner{Model: m, Tools: tool.NewBox(tools...), Guard: open{}, Asker: person{}, Journal: b, MaxIterations: 100, Now: time.Now}
}

func prompted() Start {
	return Start{Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{{Type: chat.Text, Text: "go"}}}}}
}

func (b *book) String() string { return strings.Join(b.lines, "; ") }

func TestARunThinksActsAndFinishes(t *testing.T) {
	m, b := &turns{replies: []llm.Reply{calls("look"), says("done")}}, &book{}
	got := runner(m, b, act("look", tool.Reads, gives("seen"))).Run(t.Context(), prompted())
	if got != (Outcome{State: event.RunIsCompleted}) {
		t.Fatalf("outcome %+v", got)
	}
	want := "iteration 1; reply with 1 calls; started look; finished look succeeded; iteration 2; reply with 0 calls"
	if b.String() != want {
		t.Fatalf("got  %s\nwant %s", b, want)
	}
	if last := m.asked[1].Messages; last[len(last)-1].Result.Text != "seen" {
		t.Fatalf("the model did not get the result: %+v", last)
	}
}

func TestTheLastIterationSumsUpWithoutTools(t *testing.T) {
	m, b := &turns{replies: []llm.Reply{calls("look {\"n\":1}"), says("summary")}}, &book{}
	r := runner(m, b, act("look", tool.Reads, gives("seen")))
	r.MaxIterations = 2
	if got := r.Run(t.Context(), prompted()); got.State != event.RunIsCompleted || got.Reason != "limit" {
		t.Fatalf("outcome %+v", got)
	}
	if last := m.asked[1]; len(last.Tools) != 0 || last.Tail == "" || m.asked[0].Tail != "" {
		t.Fatalf("the last request offers %d tools, tail %q", len(last.Tools), last.Tail)
	}
}

func TestAModelWhoseCallsCannotBeReadGetsOneMoreTry(t *testing.T) {
	bad := func() llm.Reply {
		r := calls("look", "look")
		r.Calls[0].Invalid, r.Calls[1].Invalid = "no brace", "unexpected end"
		return r
	}
	half := bad()
	half.Calls[0].Invalid = ""
	for name, c := range map[string]struct {
		replies []llm.Reply
		state   event.RunState
		reason  string
		asked   int
	}{
		"two running":        {[]llm.Reply{bad(), bad(), says("done")}, event.RunIsFailed, "protocol", 2},
		"one between others": {[]llm.Reply{bad(), calls("look"), bad(), half, bad(), says("done")}, event.RunIsCompleted, "", 6},
	} {
		m, b := &turns{replies: c.replies}, &book{}
		got := runner(m, b, act("look", tool.Reads, gives("seen"))).Run(t.Context(), prompted())
		if got.State != c.state || got.Reason != c.reason || len(m.asked) != c.asked {
			t.Errorf("%s: %+v after %d requests", name, got, len(m.asked))
		}
		if got.Err != nil && !strings.Contains(got.Err.Error(), "unexpected end") {
			t.Errorf("%s: %v lacks the parser's words", name, got.Err)
		}
		if len(b.results) < 2 || !strings.Contains(b.results[1].Text, "unexpected end") {
			t.Errorf("%s: not every call was answered: %+v", name, b.results)
		}
	}
}

func TestCallsThatCannotBeMadeAreAnswered(t *testing.T) {
	bad := calls("look")
	bad.Calls[0].Invalid = "unexpected end"
	m := &turns{replies: []llm.Reply{bad, calls("nothing"), calls("secret"), calls("breaks"), says("done")}}
	b := &book{}
	r := runner(m, b, act("look", tool.Reads, gives("seen")), act("secret", tool.Acts, gives("told")),
		act("breaks", tool.Reads, func(context.Context) (tool.Result, error) { panic("oh") }))
	r.Guard = open{map[string]string{"secret": "Refused: no."}}
	if got := r.Run(t.Context(), prompted()); got.State != event.RunIsCompleted {
		t.Fatalf("outcome %+v", got)
	}
	for i, want := range []string{"arguments were not a readable JSON", "There is no tool \"nothing\"", "Refused: no.", "broke down inside Gofer"} {
		if b.results[i].State != chat.CallFailed || !strings.Contains(b.results[i].Text, want) {
			t.Errorf("answer %d = %s %q, want %q", i, b.results[i].State, b.results[i].Text, want)
		}
	}
	if strings.Contains(b.String(), "started secret") || strings.Contains(b.String(), "started look") {
		t.Errorf("a refused call was started: %s", b)
	}
}

func TestReadsRunSideBySideAndActsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at, most, acting atomic.Int32
		slow := func(ctx context.Context) (tool.Result, error) {
			n := at.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(100 * time.Millisecond)
			at.Add(-1)
			return tool.Text("%s", "x"), nil
		}
		alone := func(ctx context.Context) (tool.Result, error) {
			acting.Store(at.Load())
			time.Sleep(100 * time.Millisecond)
			return tool.Text("y"), nil
		}
		m, b := &turns{replies: []llm.Reply{calls("read", "read", "read", "read", "act", "read"), says("done")}}, &book{}
		start := time.Now()
		runner(m, b, act("read", tool.Reads, slow), act("act", tool.Acts, alone)).Run(t.Context(), prompted())
		if most.Load() != 3 || acting.Load() != 0 {
			t.Fatalf("%d reads at once, %d beside the act; want 3 and 0", most.Load(), acting.Load())
		}
		if took := time.Since(start); took != 400*time.Millisecond {
			t.Fatalf("took %s, want 400ms", took)
		}
		if len(b.results) != 6 {
			t.Fatalf("%d answers, want 6", len(b.results))
		}
	})
}

func TestACallPastItsDeadlineIsAnsweredEvenIfItHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		stuck := func(context.Context) (tool.Result, error) { <-hang; return tool.Result{}, nil }
		m, b := &turns{replies: []llm.Reply{calls("stuck"), says("done")}}, &book{}
		start := time.Now()
		got := runner(m, b, act("stuck", tool.Acts, stuck, tool.Within(2*time.Second))).Run(t.Context(), prompted())
		if got.State != event.RunIsCompleted || !strings.Contains(b.results[0].Text, "did not finish within 2s") {
			t.Fatalf("%+v, %+v", got, b.results)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Fatalf("took %s", took)
		}
	})
}

func TestTheLastAnswerToAReplySaysThatTheNextModelCallBegins(t *testing.T) {
	m, b := &turns{replies: []llm.Reply{calls("look", "look", "secret"), calls("look"), says("done")}}, &book{}
	r := runner(m, b, act("look", tool.Reads, gives("seen")), act("secret", tool.Acts, gives("told")))
	r.Guard = open{map[string]string{"secret": "Refused: no."}}
	r.Run(t.Context(), prompted())
	if got, want := fmt.Sprint(b.next), "[0 0 2 3]"; got != want {
		t.Fatalf("next %s, want %s", got, want)
	}
}

func TestStopEndsARunInAStuckCallWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		ctx, stop := context.WithCancel(t.Context())
		stuck := func(context.Context) (tool.Result, error) { stop(); <-hang; return tool.Result{}, nil }
		m, b := &turns{replies: []llm.Reply{calls("stuck"), says("never")}}, &book{}
		start := time.Now()
		got := runner(m, b, act("stuck", tool.Acts, stuck)).Run(ctx, prompted())
		if got.State != event.RunIsCancelled || time.Since(start) >= time.Second || len(b.results) != 0 {
			t.Fatalf("%+v after %s, answers %v", got, time.Since(start), b.results)
		}
	})
}

func TestARunThatBrokeOffGoesOnWithItsOpenCalls(t *testing.T) {
	broken := calls("first", "second")
	start := prompted()
	start.Iteration = 4
	start.Messages = append(start.Messages, chat.Message{ID: "r", Role: chat.Assistant, Calls: broken.Calls},
		chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{CallID: broken.Calls[0].ID, State: chat.CallUnknown, Text: "unknown"}})
	m, b := &turns{replies: []llm.Reply{says("done")}}, &book{}
	runner(m, b, act("first", tool.Acts, gives("1")), act("second", tool.Acts, gives("2"))).Run(t.Context(), start)
	if want := "started second; finished second succeeded; iteration 5; reply with 0 calls"; b.String() != want {
		t.Fatalf("got %s\nwant %s", b, want)
	}
}

func TestTheSameCallWithTheSameResultIsToldAndThenAsked(t *testing.T) {
	for _, c := range []struct {
		who  person
		want string
	}{{person{"", "nobody"}, "repeated"}, {person{"yes", "person"}, ""}, {person{"no", "person"}, "repeated"}} {
		m, b := &turns{replies: []llm.Reply{calls("look"), calls("look"), calls("look"), calls("look"), calls("look"), says("done")}}, &book{}
		r := runner(m, b, act("look", tool.Reads, gives("same")))
		r.Asker = c.who
		got := r.Run(t.Context(), prompted())
		if got.Reason != c.want {
			t.Errorf("%+v: reason %q (%v), want %q", c.who, got.Reason, got.Err, c.want)
		}
		if strings.Contains(b.results[1].Text, "times in a row") || !strings.Contains(b.results[2].Text, "3 times in a row") {
			t.Errorf("answers %+v", b.results)
		}
	}
}

func TestAModelErrorEndsTheRunWithItsKind(t *testing.T) {
	got := runner(&turns{}, &book{}).Run(t.Context(), prompted())
	var failed *llm.Error
	if got.State != event.RunIsFailed || got.Reason != "bad_request" || !errors.As(got.Err, &failed) {
		t.Fatalf("outcome %+v", got)
	}
}

func TestOldToolBodiesAreLeftOutNewestFirst(t *testing.T) {
	body := func(n int, r rune) chat.Message {
		return chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{Name: "fs_read", Text: strings.Repeat(string(r), n)}}
	}
	in := []chat.Message{body(30_000, 'a'), body(10, 'b'), body(30_000, 'c'), body(10_000, 'd')}
	got := fit(in)
	if got[0].Result.Text != "[omitted due to context limit: 30000 characters of fs_read]" || got[1].Result.Text != in[1].Result.Text || len(got[2].Result.Text) != 30_000 {
		t.Fatalf("got %.60q %.20q %d", got[0].Result.Text, got[1].Result.Text, len(got[2].Result.Text))
	}
	if len(in[0].Result.Text) != 30_000 {
		t.Fatal("the stored message was changed")
	}
	huge := fit([]chat.Message{body(90_000, 'z')})
	if len(huge[0].Result.Text) != 90_000 {
		t.Fatal("the newest result was left out")
	}
}

func TestAnEndlessResultIsCut(t *testing.T) {
	got := capped(strings.Repeat("ä", 100_000), textLimit)
	if len(got) > textLimit+64 || !strings.Contains(got, "bytes left out") || strings.Contains(got, "\ufffd") {
		t.Fatalf("%d bytes", len(got))
	}
}

func TestOldPicturesLeaveTheContextSeveralAtATime(t *testing.T) {
	shown := func(n int) int {
		var list []chat.Message
		for i := range n {
			list = append(list, chat.Message{Role: chat.ToolRole, Result: &chat.ToolResult{Text: fmt.Sprint(i), Artifacts: []chat.Artifact{{Media: "image/jpeg"}, {Media: "text/plain"}}}})
		}
		out, count := fit(list), 0
		for i, m := range out {
			if len(m.Pictures()) > 0 {
				count++
			} else if count > 0 || m.Result.Text != fmt.Sprint(i) || len(list[i].Result.Artifacts) != 2 {
				t.Errorf("%d pictures: number %d is out of order or its text is gone", n, i)
			}
		}
		return count
	}
	for n, want := range map[int]int{3: 3, 20: 20, 21: 16, 25: 20, 26: 16, 100: 20} {
		if got := shown(n); got != want {
			t.Errorf("of %d pictures %d are shown, want %d", n, got, want)
		}
	}
}

// breaking is a model that says something and then fails.
type breaking struct{ err *llm.Error }

func (b breaking) Stream(_ context.Context, _ llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	emit(llm.Delta{Kind: llm.DeltaText, Text: "half"})
	r := says("half")
	r.Calls, r.Replay = calls("look").Calls, json.RawMessage(`{}`)
	return r, b.err
}

func TestWhatArrivedOfAFailedReplyIsKeptWithoutItsCalls(t *testing.T) {
	b := &book{}
	out := runner(breaking{&llm.Error{Kind: llm.StreamBroken, Message: "cut"}}, b).Run(t.Context(), prompted())
	if out.State != event.RunIsFailed || out.Reason != "stream_broken" || len(b.replies) != 1 || b.replies[0].Finish != llm.Broken || b.replies[0].Calls != nil || b.replies[0].Replay != nil {
		t.Errorf("the run ended %+v and kept %+v", out, b.replies)
	}
}

func TestANoticeIsGivenOnce(t *testing.T) {
	b := &book{}
	noted := func(r llm.Reply) llm.Reply { r.Notes = []string{"no pictures"}; return r }
	m := &turns{replies: []llm.Reply{noted(calls("look")), noted(calls("look")), noted(says("done"))}}
	runner(m, b, act("look", tool.Reads, gives("seen"))).Run(t.Context(), prompted())
	if n := strings.Count(b.String(), "notice no pictures"); n != 1 {
		t.Errorf("%d notices in %s, want one", n, b)
	}
}
