package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/host/hosttest"
)

// web is a server over HTTP with a fake engine.
type web struct {
	t       *testing.T
	fake    *hosttest.Fake
	clients Clients
	token   string // of the client lab
	address string
	began   chan struct{}
	ended   chan error
	served  chan error
	stop    context.CancelFunc
}

func serveWeb(t *testing.T, o HTTPOptions) *web {
	t.Helper()
	w := &web{t: t, clients: newClients(t), served: make(chan error, 1)}
	w.fake, w.began, w.ended = newFake()
	callers := make(chan int, 1)
	callers <- 0
	w.fake.On["OpenCaller"] = func(context.Context, ...any) (any, error) {
		n := <-callers
		callers <- n + 1
		return fmt.Sprintf("caller-%d", n+1), nil
	}
	w.token = client(t, w.clients, Client{Name: "lab", Mode: "full"})
	o.Clients = w.clients
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.address = ln.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	go func() { w.served <- ServeHTTP(ctx, w.fake, ln, o) }()
	t.Cleanup(func() {
		stop()
		select {
		case <-w.served:
		case <-time.After(10 * time.Second):
			t.Error("the server did not end")
		}
	})
	return w
}

// end stops the server and waits for it.
func (w *web) end() {
	w.t.Helper()
	w.stop()
	if err := within(w.t, w.served); err != nil {
		w.t.Errorf("serve: %v", err)
	}
	w.served <- nil // for the clean-up
}

type withToken struct{ token string }

func (x withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+x.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (w *web) connect(token string) *mcp.ClientSession {
	w.t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(w.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: "http://" + w.address + Path, HTTPClient: &http.Client{Transport: withToken{token}}, MaxRetries: -1}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

// reply is an answer that was read to its end.
type reply struct {
	status  int
	session string
	text    string
}

// post sends a message as a client with a token would and returns the answer.
func (w *web) post(token, session, body string) reply {
	w.t.Helper()
	return w.exchange(w.request("POST", token, session, body))
}

func (w *web) request(method, token, session, body string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.address+Path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	return r
}

func (w *web) exchange(r *http.Request) reply {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header.Get(sessionHeader), string(raw)}
}

const webHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}`

// open begins a session by hand and returns its id.
func (w *web) open(token string) string {
	w.t.Helper()
	begun := w.post(token, "", webHello)
	if begun.status != http.StatusOK || begun.session == "" {
		w.t.Fatalf("initialize: %+v", begun)
	}
	if got := w.post(token, begun.session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); got.status != http.StatusAccepted {
		w.t.Fatalf("initialized: %+v", got)
	}
	return begun.session
}

func (w *web) list(token, session string) int {
	w.t.Helper()
	return w.post(token, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`).status
}

// closed waits until so many callers were closed.
func (w *web) closed(n int) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); len(w.fake.Calls("CloseCaller")) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%d callers were closed, want %d", len(w.fake.Calls("CloseCaller")), n)
		}
	}
}

func TestEachSessionIsACallerOfItsOwn(t *testing.T) {
	w := serveWeb(t, HTTPOptions{Caller: engine.CallerSpec{Mode: "ask", Workspace: "/w", Allow: []string{"visit: http://a.test"}}})
	other := client(t, w.clients, Client{Name: "other", Allow: []string{"visit: http://b.test"}})
	for _, token := range []string{w.token, other, other} {
		s := w.connect(token)
		if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 2 {
			t.Fatalf("got %+v, %v, want two tools", list, err)
		}
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "a.txt"}})
		if err != nil || r.IsError || len(r.Content) != 2 {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	var got []any
	for _, c := range w.fake.Calls("OpenCaller") {
		got = append(got, c.Args[0])
	}
	others := engine.CallerSpec{Name: "other", Mode: "plan", Workspace: "/w", Allow: []string{"visit: http://a.test", "visit: http://b.test"}}
	want := []any{engine.CallerSpec{Name: "lab", Mode: "ask", Workspace: "/w", Allow: []string{"visit: http://a.test"}}, others, others}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("callers: got %+v, want %+v", got, want)
	}
	for i, c := range w.fake.Calls("CallTool") {
		if want := fmt.Sprintf("caller-%d", i+1); c.Args[0] != want {
			t.Errorf("call %d was made for %v, want %s", i, c.Args[0], want)
		}
	}
	w.end()
	w.closed(3)
}

func TestASessionBelongsToOneClient(t *testing.T) {
	w := serveWeb(t, HTTPOptions{})
	other := client(t, w.clients, Client{Name: "other"})
	id := w.open(w.token)
	for _, c := range []struct {
		token, session string
		want           int
	}{{w.token, id, 200}, {other, id, 404}, {w.token, "nobody", 404}, {w.token, "", 400}, {"", id, 401}, {other, id, 404}, {w.token, id, 200}} {
		if got := w.list(c.token, c.session); got != c.want {
			t.Errorf("token %.4s session %.4s: got %d, want %d", c.token, c.session, got, c.want)
		}
	}
	if got := w.exchange(w.request("DELETE", other, id, "")); got.status != 404 {
		t.Errorf("another client ended the session: %+v", got)
	}
	if got := w.exchange(w.request("DELETE", w.token, id, "")); got.status != 204 {
		t.Errorf("end: %+v", got)
	}
	w.closed(1)
	if got := w.list(w.token, id); got != 404 {
		t.Errorf("after its end: got %d", got)
	}
}

func TestACallEndsWhenItIsCancelledOrItsClientIsGone(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shell_exec","arguments":{}}}`
	for name, leave := range map[string]func(w *web, id string, gone context.CancelFunc){
		"the client cancels": func(w *web, id string, _ context.CancelFunc) {
			w.post(w.token, id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		},
		"the connection breaks": func(_ *web, _ string, gone context.CancelFunc) { gone() },
		"the session is ended":  func(w *web, id string, _ context.CancelFunc) { w.exchange(w.request("DELETE", w.token, id, "")) },
		"the server ends":       func(w *web, _ string, _ context.CancelFunc) { w.end() },
		"the token is taken back": func(w *web, _ string, _ context.CancelFunc) {
			if err := w.clients.Remove("lab"); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := serveWeb(t, HTTPOptions{Idle: 400 * time.Millisecond})
			id := w.open(w.token)
			ctx, gone := context.WithCancel(t.Context())
			answered := make(chan error, 1)
			go func() {
				resp, err := http.DefaultClient.Do(w.request("POST", w.token, id, call).WithContext(ctx))
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					err = errors.Join(err, resp.Body.Close())
				}
				answered <- err
			}()
			<-w.began
			time.Sleep(600 * time.Millisecond) // a session with a call at work is not idle
			select {
			case err := <-w.ended:
				t.Fatalf("the call ended by itself: %v", err)
			default:
			}
			leave(w, id, gone)
			within(t, w.ended)
			<-answered
			gone()
			w.closed(1) // nobody uses the session any more
		})
	}
}

func TestASessionNobodyUsesIsEnded(t *testing.T) {
	w := serveWeb(t, HTTPOptions{Idle: 800 * time.Millisecond})
	id := w.open(w.token)
	if got := w.list(w.token, id); got != 200 {
		t.Fatalf("list: %d", got)
	}
	stream := w.connect(w.token) // keeps an event stream open
	if _, err := stream.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.closed(1)
	time.Sleep(1200 * time.Millisecond)
	if _, err := stream.ListTools(t.Context(), nil); err != nil {
		t.Errorf("the session with an open stream: %v", err)
	}
	if got := w.list(w.token, id); got != 404 {
		t.Errorf("the idle session: got %d", got)
	}
}

func TestALeaveThatIsChangedCountsAtOnce(t *testing.T) {
	w := serveWeb(t, HTTPOptions{Caller: engine.CallerSpec{Mode: "full"}})
	id := w.open(w.token)
	w.list(w.token, id)
	client(t, w.clients, Client{Name: "lab", Mode: "plan"})
	if got := w.list(w.token, id); got != 404 {
		t.Errorf("the old session: got %d", got)
	}
	w.list(w.token, w.open(w.token))
	opened := w.fake.Calls("OpenCaller")
	if got := opened[len(opened)-1].Args[0].(engine.CallerSpec).Mode; got != "plan" {
		t.Errorf("the new session has the mode %s", got)
	}
}

func TestTheSessionsOfAClientAreBounded(t *testing.T) {
	w := serveWeb(t, HTTPOptions{})
	first := w.open(w.token)
	w.list(w.token, first)
	for range maxOfOne {
		w.open(w.token)
	}
	w.closed(1)
	if got := w.list(w.token, first); got != 404 {
		t.Errorf("the session unused for longest: got %d", got)
	}
}

func TestRequestsAtWorkAreBounded(t *testing.T) {
	w := serveWeb(t, HTTPOptions{})
	w.began = make(chan struct{}, maxRequests)
	w.fake.On["CallTool"] = func(ctx context.Context, _ ...any) (any, error) {
		w.began <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	id := w.open(w.token)
	w.list(w.token, id)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range maxRequests {
		r := w.request("POST", w.token, id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"shell_exec"}}`, i+10)).WithContext(ctx)
		go func() {
			if resp, err := http.DefaultClient.Do(r); err == nil {
				resp.Body.Close()
			}
		}()
	}
	for range maxRequests {
		<-w.began
	}
	if got := w.list(w.token, id); got != 503 {
		t.Errorf("one more: got %d", got)
	}
	cancel()
	for end := time.Now().Add(10 * time.Second); w.list(w.token, id) != 200; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("there is no room after the others have ended")
		}
	}
}

func TestOverHTTPApprovalsAreRefusedWithoutAWindow(t *testing.T) {
	w := serveWeb(t, HTTPOptions{Alone: true})
	w.open(w.token)
	answered := make(chan error, 1)
	w.fake.On["Answer"] = func(context.Context, ...any) (any, error) {
		answered <- nil
		return nil, nil
	}
	w.fake.Bus.Publish(event.Of("", "", event.ApprovalAsked{ID: "w1", Client: "lab"}))
	within(t, answered)
}

func TestABodyThatDoesNotComeHoldsNothingUp(t *testing.T) {
	w := serveWeb(t, HTTPOptions{})
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", w.address, w.token)
	_ = conn.SetReadDeadline(time.Now().Add(bodyLimit + 5*time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 400 {
		t.Errorf("got %s", resp.Status)
	}
}

func TestDepthIsCountedOutsideOfTexts(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `{}`: 1, `[{"a":[]}]`: 3, `"[[["`: 0, `{"a\"[":"{[\\"}`: 1, `[],[],[]`: 1, `]]][`: 0, `"\`: 0,
	} {
		if got := depth([]byte(text)); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}
