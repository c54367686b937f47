//go:build uitest

package uitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"sync"
)

var errorType = reflect.TypeFor[error]()

// call makes one bound call and answers {result} or {error}.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	result, err := invoke(s.options.App, name, json.NewDecoder(r.Body))
	if err != nil {
		answer(w, map[string]any{"error": s.options.FormatError(err)})
		return
	}
	answer(w, map[string]any{"result": result})
}

// invoke calls a method of app by name, the way Wails does: arguments from a
// JSON list, at most one value and an error back.
func invoke(app any, name string, args *json.Decoder) (any, error) {
	method := reflect.ValueOf(app).MethodByName(name)
	if !method.IsValid() {
		return nil, fmt.Errorf("%T has no method %s", app, name)
	}
	var raw []json.RawMessage
	if err := args.Decode(&raw); err != nil {
		return nil, fmt.Errorf("%s: read the arguments: %w", name, err)
	}
	if len(raw) != method.Type().NumIn() {
		return nil, fmt.Errorf("%s takes %d arguments, got %d", name, method.Type().NumIn(), len(raw))
	}
	in := make([]reflect.Value, len(raw))
	for i := range raw {
		v := reflect.New(method.Type().In(i))
		if err := json.Unmarshal(raw[i], v.Interface()); err != nil {
			return nil, fmt.Errorf("%s: argument %d: %w", name, i+1, err)
		}
		in[i] = v.Elem()
	}
	var result any
	for _, out := range method.Call(in) {
		if out.Type() != errorType {
			result = out.Interface()
		} else if err, failed := out.Interface().(error); failed {
			return nil, err
		}
	}
	return result, nil
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// emitted takes an event from the page.
func (s *Server) emitted(w http.ResponseWriter, r *http.Request) {
	var e Emitted
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if s.options.On != nil {
		s.options.On(e)
	}
	answer(w, map[string]any{"result": nil})
}

// stream is the way to one page. It never makes the sender wait.
type stream struct {
	mu    sync.Mutex
	queue [][]byte
	wake  chan struct{}
}

func (st *stream) push(raw []byte) {
	st.mu.Lock()
	st.queue = append(st.queue, raw)
	st.mu.Unlock()
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

func (st *stream) take() [][]byte {
	st.mu.Lock()
	defer st.mu.Unlock()
	batch := st.queue
	st.queue = nil
	return batch
}

// events streams to one page until it goes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	st := &stream{wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.streams[st] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.streams, st)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	for {
		for _, raw := range st.take() {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", raw); err != nil {
				return
			}
		}
		if err := out.Flush(); err != nil {
			return
		}
		select {
		case <-st.wake:
		case <-r.Context().Done():
			return
		}
	}
}
