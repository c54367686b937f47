package host_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/home"
	"gofer/backend/host"
	"gofer/backend/host/hosttest"
)

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

func TestAHostWithGuestsStaysUntilTheyHaveLeftOrItIsToldToQuit(t *testing.T) {
	for _, hurried := range []bool{false, true} {
		h, err := home.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		quit, told := make(chan struct{}), make(chan int, 1)
		build := func(*home.Home) (host.Service, func(), error) { return &hosttest.Fake{}, func() {}, nil }
		_, end, err := host.Open(t.Context(), h, build, host.Options{Quit: quit, Lingering: func(n int) { told <- n }})
		if err != nil {
			t.Fatal(err)
		}
		guest, err := host.Dial(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := guest.Settings(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { end(); close(ended) }()
		if n := <-told; n != 1 {
			t.Fatalf("told of %d guests, want 1", n)
		}
		if _, err := guest.Settings(t.Context()); err != nil {
			t.Fatalf("a guest is not served any more: %v", err)
		}
		if hurried {
			close(quit)
		} else {
			guest.Close()
		}
		<-ended
		guest.Close()
	}
}
