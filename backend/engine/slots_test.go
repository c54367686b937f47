package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestSlotsArePassedInOrderAndTheReturningStandAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.take(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		var order []string
		wait := func(name string, ahead bool) {
			go func() {
				if s.take(t.Context(), ahead) == nil {
					order = append(order, name)
					s.give()
				}
			}()
			synctest.Wait()
		}
		wait("first", false)
		wait("second", false)
		wait("returning", true)
		s.give()
		synctest.Wait()
		if len(order) != 3 || order[0] != "returning" || order[1] != "first" {
			t.Fatalf("order %v", order)
		}
	})
}

func TestASlotIsNotLostWithOneWhoGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		_ = s.take(t.Context(), false)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- s.take(ctx, false) }()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		s.give()
		if err := s.take(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	})
}

func TestResizingLetsMoreInAndFewerLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		_ = s.take(t.Context(), false)
		var in atomic.Int32
		for range 3 {
			go func() {
				if s.take(t.Context(), false) == nil {
					in.Add(1)
				}
			}()
		}
		synctest.Wait()
		s.resize(3)
		synctest.Wait()
		if in.Load() != 2 {
			t.Fatalf("%d got in, want 2", in.Load())
		}
		s.resize(1)
		s.give()
		s.give()
		synctest.Wait()
		if in.Load() != 2 {
			t.Fatalf("%d got in after shrinking, want 2", in.Load())
		}
		s.give()
		synctest.Wait()
		if in.Load() != 3 {
			t.Fatalf("%d got in, want 3", in.Load())
		}
	})
}
