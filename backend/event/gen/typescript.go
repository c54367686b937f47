package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"gofer/backend/chat"
	"gofer/backend/event"
)

// words are the values of the named string types; reflection cannot list the
// constants of a type.
var words = map[reflect.Type][]string{
	reflect.TypeFor[event.State]():    texts(event.Idle, event.Thinking, event.ToolCall, event.AwaitingUser, event.Complete, event.Error, event.Cancelled),
	reflect.TypeFor[event.RunState](): texts(event.RunIsQueued, event.RunIsRunning, event.RunIsAwaiting, event.RunIsInterrupted, event.RunIsCompleted, event.RunIsFailed, event.RunIsCancelled),
	reflect.TypeFor[chat.Role]():      texts(chat.System, chat.User, chat.Assistant, chat.ToolRole),
	reflect.TypeFor[chat.PartType]():  texts(chat.Text, chat.Reasoning, chat.Image, chat.File),
	reflect.TypeFor[chat.CallState](): texts(chat.CallStarted, chat.CallSucceeded, chat.CallFailed, chat.CallCancelled, chat.CallUnknown),
}

func texts[T ~string](values ...T) []string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

var raw = reflect.TypeFor[json.RawMessage]()

// typescript returns the whole file.
func typescript() string {
	w := writer{done: map[reflect.Type]bool{}}
	var union strings.Builder
	for _, d := range event.Types() {
		t := reflect.TypeOf(d)
		w.declare(t)
		fmt.Fprintf(&union, "  | Envelope<'%s', %s>\n", d.EventType(), t.Name())
	}
	return "// Written by go generate ./backend/event. Do not edit.\n\n" +
		"/** Any JSON value, as tools take and models send it. */\nexport type Json = null | boolean | number | string | Json[] | { [key: string]: Json }\n\n" +
		w.out.String() +
		"/** One event on its way. */\nexport interface Envelope<T extends string, D> {\n" +
		"  seq: number\n  type: T\n  sessionId: string\n  runId?: string\n  lane?: string\n  at: number\n  data: D\n}\n\n" +
		"/** Every event the product tells. */\nexport type AppEvent =\n" + strings.TrimSuffix(union.String(), "\n") + "\n"
}

// writer declares types, those they use first, each once.
type writer struct {
	out  strings.Builder
	done map[reflect.Type]bool
}

func (w *writer) declare(t reflect.Type) {
	if w.done[t] {
		return
	}
	w.done[t] = true
	if values, ok := words[t]; ok {
		fmt.Fprintf(&w.out, "export type %s = '%s'\n\n", t.Name(), strings.Join(values, "' | '"))
		return
	}
	var body strings.Builder
	for f := range fields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		mark := ""
		if strings.Contains(options, "omitempty") {
			mark = "?"
		}
		fmt.Fprintf(&body, "  %s%s: %s\n", name, mark, w.name(f.Type))
	}
	if body.Len() == 0 {
		fmt.Fprintf(&w.out, "export type %s = Record<string, never>\n\n", t.Name())
		return
	}
	fmt.Fprintf(&w.out, "export interface %s {\n%s}\n\n", t.Name(), body.String())
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// name returns how a field of type t is written, declaring what it names.
// A nil slice arrives as null unless the field is left out when empty; the
// front end's loader turns both into an empty list.
func (w *writer) name(t reflect.Type) string {
	switch {
	case t == raw:
		return "Json"
	case words[t] != nil:
		w.declare(t)
		return t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.name(t.Elem())
	case reflect.Slice:
		return w.name(t.Elem()) + "[]"
	case reflect.Struct:
		w.declare(t)
		return t.Name()
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	}
	panic("no TypeScript for " + t.String())
}
