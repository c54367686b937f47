package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/home"
	"gofer/backend/host"
	"gofer/backend/host/hosttest"
)

func TestEveryMethodGoesThroughTheSocketAndBack(t *testing.T) {
	service := reflect.TypeFor[host.Service]()
	fake := &hosttest.Fake{On: map[string]func(context.Context, ...any) (any, error){}}
	want := map[string]any{}
	for m := range service.Methods() {
		if m.Name == "Events" {
			continue
		}
		if m.Type.NumOut() == 2 {
			result := filled(m.Type.Out(0)).Interface()
			want[m.Name] = result
			fake.On[m.Name] = func(context.Context, ...any) (any, error) { return result, nil }
		}
	}
	client := connect(t, fake, host.Options{})
	for m := range service.Methods() {
		if m.Name == "Events" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			in := []reflect.Value{reflect.ValueOf(t.Context())}
			var args []any
			for i := 1; i < m.Type.NumIn(); i++ {
				v := filled(m.Type.In(i))
				in = append(in, v)
				args = append(args, v.Interface())
			}
			out := reflect.ValueOf(client).MethodByName(m.Name).Call(in)
			if err := out[len(out)-1].Interface(); err != nil {
				t.Fatal(err)
			}
			if len(out) == 2 && !reflect.DeepEqual(out[0].Interface(), want[m.Name]) {
				t.Errorf("result: got %+v, want %+v", out[0].Interface(), want[m.Name])
			}
			calls := fake.Calls(m.Name)
			if len(calls) != 1 || len(args) > 0 && !reflect.DeepEqual(calls[0].Args, args) {
				t.Errorf("arguments: got %+v, want one call with %+v", calls, args)
			}
		})
	}
}

func TestFaultsKeepTheirWords(t *testing.T) {
	want := fault.New(fault.NotFound, "There is no session x.", "List them with gofer sessions list.")
	fake := &hosttest.Fake{On: map[string]func(context.Context, ...any) (any, error){
		"Snapshot": func(context.Context, ...any) (any, error) { return nil, fmt.Errorf("engine: %w", want) },
	}}
	client := connect(t, fake, host.Options{})
	_, err := client.Snapshot(t.Context(), "x", engine.SnapshotQuery{})
	if got := fault.From(err); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCancellingACallEndsItInTheHost(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	fake := blocking("CallTool", began, ended)
	client := connect(t, fake, host.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, err := client.CallTool(ctx, "c", "shell_exec", json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	within(t, ended)
	if _, err := client.Presets(t.Context()); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestADisconnectEndsCallsAndClosesCallers(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	fake := blocking("CallTool", began, ended)
	closed := make(chan error, 1)
	fake.On["OpenCaller"] = func(context.Context, ...any) (any, error) { return "caller-1", nil }
	fake.On["CloseCaller"] = func(_ context.Context, args ...any) (any, error) {
		closed <- fmt.Errorf("%v", args[0])
		return nil, nil
	}
	client := connect(t, fake, host.Options{})
	if _, err := client.OpenCaller(t.Context(), engine.CallerSpec{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-began
		client.Close()
	}()
	if _, err := client.CallTool(t.Context(), "caller-1", "shell_exec", nil); err == nil {
		t.Error("got no error for a call whose connection was closed")
	}
	within(t, ended)
	if got := within(t, closed).Error(); got != "caller-1" {
		t.Errorf("closed caller: got %s, want caller-1", got)
	}
}

func TestEventsArriveInOrder(t *testing.T) {
	fake := &hosttest.Fake{}
	client := connect(t, fake, host.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	mine, err := client.Events(ctx, "s1")
	if err != nil {
		t.Fatal(err)
	}
	all, err := client.Events(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	for i := range n {
		e := event.Of(fmt.Sprintf("s%d", i%2), "r", event.IterationStarted{N: i})
		e.Seq = int64(i + 1)
		fake.Bus.Publish(e)
	}
	// Other calls are answered while nobody reads the events.
	if _, err := client.Presets(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < n; i += 2 {
		if got := next(t, mine); got.Data != (event.IterationStarted{N: i}) {
			t.Fatalf("session: got %+v, want number %d", got, i)
		}
	}
	for i := range n {
		if got := next(t, all); got.Seq != int64(i+1) {
			t.Fatalf("all: got seq %d, want %d", got.Seq, i+1)
		}
	}
	cancel()
	if e, open := <-mine; open {
		t.Errorf("after its end: got %+v, want a closed channel", e)
	}
}

func TestWhenTheHostEndsClientsAreTold(t *testing.T) {
	h := newHome(t)
	began := make(chan struct{})
	fake := blocking("CallTool", began, nil)
	_, end, err := host.Open(t.Context(), h, building(fake), host.Options{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := host.Dial(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	events, err := client.Events(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := client.CallTool(t.Context(), "c", "shell_exec", nil)
		failed <- err
	}()
	<-began
	fake.Bus.Publish(event.Of("s", "r", event.Notice{Text: "last words"}))
	if got := next(t, events); got.Data != (event.Notice{Text: "last words"}) {
		t.Errorf("got %+v, want the last words", got)
	}
	end()
	if f := fault.From(within(t, failed)); f.Code != fault.Unavailable || f.Hint == "" {
		t.Errorf("call: got %+v, want an unavailable fault with a hint", f)
	}
	if e, open := <-events; open {
		t.Errorf("events: got %+v, want a closed channel", e)
	}
	if _, err := client.Presets(t.Context()); fault.From(err) == nil || fault.From(err).Code != fault.Unavailable {
		t.Errorf("a later call: got %v, want an unavailable fault", err)
	}
	if _, err := host.Dial(t.Context(), h); !errors.Is(err, host.ErrNoHost) {
		t.Errorf("dial: got %v, want ErrNoHost", err)
	}
	lock, err := h.TryLock()
	if err != nil {
		t.Fatalf("the lock was not given back: %v", err)
	}
	_ = lock.Unlock()
}

func TestOfManyStartersOneBecomesHost(t *testing.T) {
	h := newHome(t)
	fake := &hosttest.Fake{}
	var built atomic.Int32
	build := func(*home.Home) (host.Service, func(), error) {
		built.Add(1)
		return fake, func() {}, nil
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var ends []func()
	for range 8 {
		wg.Go(func() {
			s, end, err := host.Open(t.Context(), h, build, host.Options{})
			if err == nil {
				_, err = s.Presets(t.Context())
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if _, remote := host.Remote(s); remote {
				end()
			} else {
				ends = append(ends, end)
			}
		})
	}
	wg.Wait()
	if built.Load() != 1 || len(ends) != 1 {
		t.Fatalf("hosts: got %d, want 1", built.Load())
	}
	ends[0]()
}

func TestCallsWaitWhileTheEngineIsBuilt(t *testing.T) {
	h := newHome(t)
	building, build := make(chan struct{}), make(chan struct{})
	fake := &hosttest.Fake{}
	opened := make(chan func(), 1)
	go func() {
		_, end, err := host.Open(context.Background(), h, func(*home.Home) (host.Service, func(), error) {
			close(building)
			<-build
			return fake, func() {}, nil
		}, host.Options{})
		if err != nil {
			t.Error(err)
		}
		opened <- end
	}()
	<-building
	client, err := host.Dial(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.Presets(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is built: got %v, want the deadline", err)
	}
	close(build)
	if _, err := client.Presets(t.Context()); err != nil {
		t.Errorf("once it is built: %v", err)
	}
	(<-opened)()
}

func TestAnEngineThatCannotBeBuiltGivesTheHomeBack(t *testing.T) {
	h := newHome(t)
	want := fault.New(fault.Broken, "The database is broken.", "Restore a backup.")
	_, _, err := host.Open(t.Context(), h, func(*home.Home) (host.Service, func(), error) { return nil, nil, want }, host.Options{})
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	lock, err := h.TryLock()
	if err != nil {
		t.Fatalf("the lock was not given back: %v", err)
	}
	_ = lock.Unlock()
}

func TestASecondWindowHandsItsArgumentsOver(t *testing.T) {
	h := newHome(t)
	got := make(chan host.Raise, 1)
	o := host.Options{Kind: host.Window, OnRaise: func(r host.Raise) { got <- r }}
	_, end, err := host.Own(t.Context(), h, building(&hosttest.Fake{}), o, host.Raise{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	want := host.Raise{Args: []string{"quick", "; hello"}, Dir: "/somewhere"}
	if _, _, err := host.Own(t.Context(), h, nil, o, want); !errors.Is(err, host.ErrWindow) {
		t.Fatalf("got %v, want ErrWindow", err)
	}
	if r := <-got; !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, want %+v", r, want)
	}
}

func TestAWindowWaitsForATerminalCommand(t *testing.T) {
	h := newHome(t)
	_, endFirst, err := host.Open(t.Context(), h, building(&hosttest.Fake{}), host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan host.Hello, 1)
	owned := make(chan func(), 1)
	go func() {
		_, end, err := host.Own(context.Background(), h, building(&hosttest.Fake{}),
			host.Options{Kind: host.Window, OnRaise: func(host.Raise) {}, Waiting: func(x host.Hello) { waiting <- x }}, host.Raise{})
		if err != nil {
			t.Error(err)
		}
		owned <- end
	}()
	if x := <-waiting; x.PID != os.Getpid() || x.Kind != host.Terminal {
		t.Errorf("holder: got %+v, want this process", x)
	}
	endFirst()
	(<-owned)()
}

func TestAStaleSocketIsNoHindrance(t *testing.T) {
	h := newHome(t)
	address, err := h.Address()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.WriteFile(address, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, end, err := host.Open(t.Context(), h, building(&hosttest.Fake{}), host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	info, err := os.Stat(address)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode().Perm(), os.FileMode(0o600); got != want {
		t.Errorf("socket: got %o, want %o", got, want)
	}
}

func TestAClientWithAnotherRuntimeFolderFindsTheHost(t *testing.T) {
	h := newHome(t)
	_, end, err := host.Open(t.Context(), h, building(&hosttest.Fake{}), host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	t.Setenv("XDG_RUNTIME_DIR", "")
	client, err := host.Dial(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
}

func TestGarbageOnTheSocketHarmsNobody(t *testing.T) {
	h := newHome(t)
	_, end, err := host.Open(t.Context(), h, building(&hosttest.Fake{}), host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	address, _ := h.Address()
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "\n\n\n", `{"id":1,"method":"Nonsense"}` + "\n", `{"id":1,"method":"Snapshot","body":3}` + "\n", strings.Repeat("x", 1<<20)} {
		conn, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	client, err := host.Dial(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Presets(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatIsTooLongIsAFault(t *testing.T) {
	fake := &hosttest.Fake{On: map[string]func(context.Context, ...any) (any, error){
		"Blob": func(context.Context, ...any) (any, error) {
			return engine.Bytes{Data: make([]byte, 60<<20)}, nil
		},
	}}
	client := connect(t, fake, host.Options{})
	if _, err := client.Blob(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "64 MB") {
		t.Errorf("got %v, want a fault about its size", err)
	}
	if _, err := client.SendPrompt(t.Context(), "s", chat.Prompt{Text: strings.Repeat("x", 65<<20)}); err == nil {
		t.Error("a request over 64 MB: got no error")
	}
	if _, err := client.Presets(t.Context()); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// filled makes a value in which nothing is zero.
func filled(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":1}`))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(filled(t.Field(i).Type))
		}
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem())))
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem()))
	case t.Kind() == reflect.String:
		v.SetString("wörd <&> \"" + t.Name())
	case v.CanInt():
		v.SetInt(7)
	case v.CanUint():
		v.SetUint(7)
	case v.CanFloat():
		v.SetFloat(0.5)
	case t.Kind() == reflect.Bool:
		v.SetBool(true)
	default:
		panic("cannot fill " + t.String())
	}
	return v
}

func building(s host.Service) host.Build {
	return func(*home.Home) (host.Service, func(), error) { return s, func() {}, nil }
}

// connect makes this process host of a new home and returns a client of it.
func connect(t *testing.T, s host.Service, o host.Options) *host.Client {
	t.Helper()
	h := newHome(t)
	_, end, err := host.Open(t.Context(), h, building(s), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	client, err := host.Dial(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// blocking is a fake whose method waits until its context ends.
func blocking(name string, began chan struct{}, ended chan error) *hosttest.Fake {
	return &hosttest.Fake{On: map[string]func(context.Context, ...any) (any, error){
		name: func(ctx context.Context, _ ...any) (any, error) {
			close(began)
			<-ctx.Done()
			if ended != nil {
				ended <- ctx.Err()
			}
			return nil, ctx.Err()
		},
	}}
}

func within(t *testing.T, c <-chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(5 * time.Second):
		t.Fatal("nothing came within 5 s")
		return nil
	}
}

func next(t *testing.T, c <-chan event.Envelope) event.Envelope {
	t.Helper()
	select {
	case e, open := <-c:
		if !open {
			t.Fatal("the events ended")
		}
		return e
	case <-time.After(5 * time.Second):
		t.Fatal("no event within 5 s")
	}
	return event.Envelope{}
}

func newHome(t *testing.T) *home.Home {
	t.Helper()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
