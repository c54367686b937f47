package event

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestEventsArriveInOrderAndOnlyThoseAskedFor(t *testing.T) {
	var bus Bus
	all, one := bus.Subscribe(""), bus.Subscribe("a")
	defer all.Close()
	defer one.Close()
	for i := range 100 {
		bus.Publish(Of([]string{"a", "b"}[i%2], "", IterationStarted{N: i}))
	}
	for i := range 100 {
		if got := (<-all.C()).Data.(IterationStarted).N; got != i {
			t.Fatalf("event %d came as %d", i, got)
		}
	}
	for i := 0; i < 100; i += 2 {
		if got := (<-one.C()).Data.(IterationStarted).N; got != i {
			t.Fatalf("event %d of one session came as %d", i, got)
		}
	}
}

func TestASlowReaderGetsItsDeltasMergedAndNothingLost(t *testing.T) {
	var bus Bus
	sub := bus.Subscribe("")
	defer sub.Close()
	bus.Publish(Of("s", "r", MessageStarted{MessageID: "m"}))
	want := ""
	for i := range 1000 {
		text := string(rune('a' + i%26))
		bus.Publish(Of("s", "r", MessageDelta{MessageID: "m", Kind: "text", Offset: i, Text: text}))
		want += text
	}
	bus.Publish(Of("s", "r", MessageFinished{}))
	got, events := "", 0
	for e := range sub.C() {
		events++
		if d, ok := e.Data.(MessageDelta); ok {
			if d.Offset != len(got) {
				t.Fatalf("delta at %d, want %d", d.Offset, len(got))
			}
			got += d.Text
		}
		if e.Type == "message.finished" {
			break
		}
	}
	if got != want || events > 900 {
		t.Fatalf("%d characters in %d events, want %d in far fewer", len(got), events, len(want))
	}
}

func TestDeltasOfDifferentTextsStayApart(t *testing.T) {
	for _, e := range []Data{MessageDelta{MessageID: "n", Kind: "text"}, MessageDelta{MessageID: "m", Kind: "reasoning"}, MessageDelta{MessageID: "m", Kind: "text", Call: 1}, ToolProgress{}} {
		last := Of("", "", MessageDelta{MessageID: "m", Kind: "text", Text: "a"})
		if merge(&last, Of("", "", e)) {
			t.Errorf("%+v was merged", e)
		}
	}
}

func TestEveryTypeComesBackFromTheWireTheSame(t *testing.T) {
	for _, d := range Types() {
		v := reflect.New(reflect.TypeOf(d))
		fill(v.Elem())
		in := Envelope{Seq: 7, Type: d.EventType(), SessionID: "s", RunID: "r", At: 9, Data: v.Elem().Interface().(Data)}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out Envelope
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("%s: %v", in.Type, err)
		}
		if !reflect.DeepEqual(in, out) {
			t.Errorf("%s: got %+v\nwant %+v", in.Type, out, in)
		}
		if noun, verb, ok := strings.Cut(in.Type, "."); !ok || noun == "" || verb == "" {
			t.Errorf("%q is no noun.verb", in.Type)
		}
	}
	if _, err := Decode("run.exploded", nil); err == nil {
		t.Error("an unknown type was read")
	}
}

// fill puts something into every field.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}
