package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"reflect"
	"strings"
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

func TestAMessageThatIsTooLongIsAFault(t *testing.T) {
	t.Cleanup(host.SetMaxLine(1 << 20)) // runs after the connection was closed
	fake := &hosttest.Fake{On: map[string]func(context.Context, ...any) (any, error){
		"Blob": func(context.Context, ...any) (any, error) {
			return engine.Bytes{Data: make([]byte, 900<<10)}, nil
		},
	}}
	client := connect(t, fake, host.Options{})
	if _, err := client.Blob(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "64 MB") {
		t.Errorf("got %v, want a fault about its size", err)
	}
	if _, err := client.SendPrompt(t.Context(), "s", chat.Prompt{Text: strings.Repeat("x", 2<<20)}); err == nil {
		t.Error("a request that is too long: got no error")
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
	case t.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(filled(t.Key()), reflect.ValueOf("held").Convert(t.Elem()))
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
