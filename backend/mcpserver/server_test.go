package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/host/hosttest"
)

// newFake is an engine with three tools: one that answers, one that waits for
// its end, and one that fails.
func newFake() (f *hosttest.Fake, began chan struct{}, ended chan error) {
	began, ended = make(chan struct{}, 10), make(chan error, 10)
	schema := []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)
	return &hosttest.Fake{On: map[string]func(context.Context, ...any) (any, error){
		"OpenCaller": func(context.Context, ...any) (any, error) { return "caller-1", nil },
		"Tools": func(context.Context, ...any) (any, error) {
			return []engine.ToolInfo{{Name: "fs_read", About: "Reads a file.", Schema: schema, Reads: true}, {Name: "shell_exec", About: "Runs.", Schema: schema}}, nil
		},
		"CallTool": func(ctx context.Context, args ...any) (any, error) {
			switch args[1] {
			case "shell_exec":
				began <- struct{}{}
				<-ctx.Done()
				ended <- ctx.Err()
				return nil, ctx.Err()
			}
			if strings.Contains(string(args[2].(json.RawMessage)), "secret") {
				return nil, fault.New(fault.Denied, "Reading that file was refused.", "Ask the user for leave.")
			}
			return engine.ToolOutput{Text: "<outside from=\"a.txt\">\nhi\n</outside>", Files: []engine.Bytes{{Name: "p.png", Media: "image/png", Data: []byte("png")}}}, nil
		},
	}}, began, ended
}

func TestAnMCPClientUsesTheTools(t *testing.T) {
	fake, _, _ := newFake()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.Background(), fake, Options{In: inR, Out: outW, Version: "1", Caller: engine.CallerSpec{Mode: "ask", Workspace: "/w"}})
		outW.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "2"}, nil)
	client.AddRoots(&mcp.Root{URI: "file:///w", Name: "work"}) //nolint:staticcheck // clients of today still have them
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list.Tools {
		names = append(names, x.Name)
	}
	if want := []string{"fs_read", "shell_exec"}; !slices.Equal(names, want) {
		t.Errorf("tools: got %v, want %v", names, want)
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "a.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	text, isText := r.Content[0].(*mcp.TextContent)
	picture, isPicture := r.Content[1].(*mcp.ImageContent)
	if r.IsError || !isText || !strings.HasPrefix(text.Text, "<outside") || !isPicture || string(picture.Data) != "png" || picture.MIMEType != "image/png" {
		t.Errorf("got %+v, want text in its fence and a picture", r)
	}
	r, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "secret"}})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "Ask the user") {
		t.Errorf("refused call: got %+v, %v, want a result with the way on", r, err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if err := within(t, served); err != nil {
		t.Errorf("serve: %v", err)
	}
	opened := fake.Calls("OpenCaller")
	want := engine.CallerSpec{Name: "tester", Mode: "ask", Workspace: "/w"}
	if len(opened) != 1 || !reflect.DeepEqual(opened[0].Args[0], want) {
		t.Errorf("caller: got %+v, want one of %+v", opened, want)
	}
	if closed := fake.Calls("CloseCaller"); len(closed) != 1 {
		t.Errorf("closed: got %d, want 1", len(closed))
	}
}

func TestACancelledCallEndsItsTool(t *testing.T) {
	c := start(t, Options{})
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shell_exec","arguments":{}}}`)
	<-c.began
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	within(t, c.ended)
	c.send(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	for r := c.next(); r.ID != 8.0; r = c.next() {
		if r.ID != 7.0 {
			t.Errorf("got an answer to %v", r.ID)
		}
	}
}

func TestBadLinesEndNothing(t *testing.T) {
	c := start(t, Options{})
	for _, bad := range []struct {
		line string
		code float64
		id   any
	}{
		{`{"jsonrpc":"2.0","id":`, -32700, nil},
		{`hello there`, -32700, nil},
		{`{"jsonrpc":"2.0","id":3}`, -32600, 3.0},
		{`{"id":"x","method":"ping"}`, -32600, "x"},
		{`42`, -32600, nil},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, nil},
		{"\xff\xfe{}", -32700, nil},
		{strings.Repeat("[", 200_000), -32700, nil},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":"` + strings.Repeat("x", maxLine) + `"}`, -32600, nil},
	} {
		c.send(bad.line)
		r := c.next()
		if r.Error.Code != bad.code || r.ID != bad.id {
			t.Errorf("%.40q: got %+v, want code %v for id %v", bad.line, r, bad.code, bad.id)
		}
		c.send(`{"jsonrpc":"2.0","id":99,"method":"ping"}`)
		if r := c.next(); r.ID != 99.0 || r.Error.Code != 0 {
			t.Fatalf("ping after %.40q: got %+v", bad.line, r)
		}
	}
}

func TestTwoMessagesInOneLineAreBothAnswered(t *testing.T) {
	c := start(t, Options{})
	c.send(`{"jsonrpc":"2.0","id":4,"method":"ping"} {"jsonrpc":"2.0","id":5,"method":"ping"} junk`)
	got := map[any]float64{}
	for range 3 {
		r := c.next()
		got[r.ID] = r.Error.Code
	}
	if got[4.0] != 0 || got[5.0] != 0 || got[nil] != -32700 || len(got) != 3 {
		t.Errorf("got %v, want answers to 4 and 5 and one parse error", got)
	}
}

func TestAnIDInUseIsRefused(t *testing.T) {
	c := start(t, Options{})
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shell_exec"}}`)
	<-c.began
	c.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	if r := c.next(); r.Error.Code != -32600 || r.ID != nil {
		t.Errorf("got %+v, want a refusal", r)
	}
}

func TestEndOfInputEndsCallsAndThenTheServer(t *testing.T) {
	c := start(t, Options{})
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shell_exec"}}`)
	<-c.began
	c.in.Close()
	within(t, c.ended)
	if err := within(t, c.served); err != nil {
		t.Errorf("serve: %v", err)
	}
	if r := c.next(); r.ID != 7.0 || !strings.Contains(fmt.Sprint(r.Result), "cancelled") {
		t.Errorf("got %+v, want the cancelled call answered", r)
	}
	if closed := c.fake.Calls("CloseCaller"); len(closed) != 1 {
		t.Errorf("callers closed: got %d, want 1", len(closed))
	}
}

func TestCallsOnTheBrowserBeginInTheOrderTheyCame(t *testing.T) {
	c := start(t, Options{})
	c.fake.On["Tools"] = func(context.Context, ...any) (any, error) {
		return []engine.ToolInfo{{Name: "browser_click", Schema: []byte(`{"type":"object"}`)}}, nil
	}
	var mu sync.Mutex
	var got []int
	c.fake.On["CallTool"] = func(ctx context.Context, args ...any) (any, error) {
		var a struct{ N int }
		_ = json.Unmarshal(args[2].(json.RawMessage), &a)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, a.N)
		return engine.ToolOutput{Text: "done"}, nil
	}
	const many = 200
	for i := range many {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"browser_click","arguments":{"n":%d}}}`, i+100, i))
	}
	for range many {
		c.next()
	}
	if !slices.IsSorted(got) {
		t.Errorf("begun in the order %v", got)
	}
}

func TestACallInLineCanBeCancelledAndHoldsUpNobodyElse(t *testing.T) {
	c := start(t, Options{})
	c.fake.On["Tools"] = func(context.Context, ...any) (any, error) {
		schema := []byte(`{"type":"object"}`)
		return []engine.ToolInfo{{Name: "browser_wait", Schema: schema}, {Name: "browser_click", Schema: schema}, {Name: "fs_read", Schema: schema}}, nil
	}
	release, began := make(chan struct{}), make(chan string, 10)
	c.fake.On["CallTool"] = func(ctx context.Context, args ...any) (any, error) {
		began <- args[1].(string)
		if args[1] == "browser_wait" {
			<-release
		}
		return engine.ToolOutput{Text: args[1].(string)}, ctx.Err()
	}
	call := func(id int, name string) {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, name))
	}
	call(11, "browser_wait")
	call(12, "browser_click")
	call(13, "browser_click")
	call(14, "fs_read")
	if r := c.next(); r.ID != 14.0 || !strings.Contains(fmt.Sprint(r.Result), "fs_read") {
		t.Errorf("got %+v: a file does not wait for a page", r)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12}}`)
	if r := c.next(); r.ID != 12.0 {
		t.Fatalf("got %+v, want the cancelled call answered", r)
	}
	close(release)
	if a, b := c.next(), c.next(); a.ID == b.ID || a.ID != 11.0 && a.ID != 13.0 || b.ID != 11.0 && b.ID != 13.0 {
		t.Errorf("got %+v and %+v, want answers to 11 and 13", a, b)
	}
	close(began)
	var got []string
	for name := range began {
		if name != "fs_read" {
			got = append(got, name)
		}
	}
	if want := []string{"browser_wait", "browser_click"}; !slices.Equal(got, want) {
		t.Errorf("begun: %v, want %v", got, want)
	}
}

func TestWhatTheServerDoesNotKnowEndsNothing(t *testing.T) {
	c := start(t, Options{})
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/never/heard/of","params":{"a":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`,
		`{"jsonrpc":"2.0","id":"nobody","result":{}}`,
	} {
		c.send(line)
	}
	c.send(`{"jsonrpc":"2.0","id":21,"method":"never/heard/of"}`)
	if r := c.next(); r.ID != 21.0 || r.Error.Code != -32601 {
		t.Errorf("a method that is not there: %+v", r)
	}
	c.send(`{"jsonrpc":"2.0","id":24,"method":"tools/call","params":{"name":"nothing"}}`)
	if r := c.next(); r.ID != 24.0 || r.Error.Code == 0 {
		t.Errorf("a tool that is not there: %+v", r)
	}
	c.send(`{"jsonrpc":"2.0","id":25,"method":"ping"}`)
	if r := c.next(); r.ID != 25.0 || r.Error.Code != 0 {
		t.Errorf("ping: %+v", r)
	}
}

func TestPipedRequestsAreAnsweredBeforeTheEnd(t *testing.T) {
	fake, _, _ := newFake()
	var out strings.Builder
	in := strings.NewReader(hello + `
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"a"}}}`)
	if err := Serve(t.Context(), fake, Options{In: in, Out: &out}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":1`, `"id":2`, `"id":3`, `outside`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %s:\n%s", want, out.String())
		}
	}
}

func TestASignalEndsTheServerAndItsCalls(t *testing.T) {
	fake, began, ended := newFake()
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	defer inW.Close()
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, fake, Options{In: inR, Out: io.Discard}) }()
	io.WriteString(inW, hello+"\n"+`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shell_exec"}}`+"\n")
	<-began
	cancel()
	within(t, ended)
	if err := within(t, served); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

func TestWithoutAWindowApprovalsAreRefused(t *testing.T) {
	c := start(t, Options{Alone: true})
	answered := make(chan error, 2)
	c.fake.On["Answer"] = func(context.Context, ...any) (any, error) {
		answered <- nil
		return nil, nil
	}
	c.fake.Bus.Publish(
		event.Of("s", "r", event.ApprovalAsked{ID: "of a session"}),
		event.Of("", "", event.ApprovalAsked{ID: "w1", Client: "raw"}),
	)
	within(t, answered)
	calls := c.fake.Calls("Answer")
	if len(calls) != 1 || calls[0].Args[0] != "w1" || !reflect.DeepEqual(calls[0].Args[1], engine.Answer{By: "nobody"}) {
		t.Errorf("got %+v, want w1 refused and nothing else", calls)
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}`

// raw is a client that writes lines as they are.
type raw struct {
	t      *testing.T
	fake   *hosttest.Fake
	in     io.WriteCloser
	out    chan answer
	began  chan struct{}
	ended  chan error
	served chan error
}

type answer struct {
	ID     any
	Result any
	Error  struct {
		Code    float64
		Message string
	}
}

func start(t *testing.T, o Options) *raw {
	fake, began, ended := newFake()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &raw{t: t, fake: fake, in: inW, out: make(chan answer, 100), began: began, ended: ended, served: make(chan error, 1)}
	o.In, o.Out = inR, outW
	go func() {
		err := Serve(context.Background(), fake, o)
		outW.Close()
		c.served <- err
	}()
	go func() {
		defer close(c.out)
		lines := bufio.NewScanner(outR)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			var a answer
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				t.Errorf("the server wrote %q", lines.Text())
			}
			c.out <- a
		}
	}()
	t.Cleanup(func() { inW.Close() })
	c.send(hello)
	c.next()
	return c
}

func (c *raw) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *raw) next() answer {
	c.t.Helper()
	select {
	case a, open := <-c.out:
		if !open {
			c.t.Fatal("the server has ended")
		}
		return a
	case <-time.After(10 * time.Second):
		c.t.Fatal("no answer within 10 s")
	}
	return answer{}
}

func within(t *testing.T, c <-chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came within 10 s")
		return nil
	}
}
