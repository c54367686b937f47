package browser

import (
	"context"
	"time"
)

// Bounds of asking which nodes listen. The answer of the browser grows with
// every listener of the page, buttons included.
const (
	mostListeners = 1000        // a page with more is asked once only
	mostListening = 200         // nodes handed over at a time
	listenAgain   = time.Second // a page that looks the same may have come alive since
	listenYoung   = 3000        // milliseconds of age in which it does so
)

// listening is what is known of the nodes of a document that listen.
type listening struct {
	gen, ctx int // document the rest is about
	elements int // it had at the last asking
	age      int // it had then, in milliseconds
	at       time.Time
	known    map[int]bool // by backend id
	flood    bool
}

// pressed are the events that make a node one to act on: true for those of a
// press, false for those of a mouse that only passes.
var pressed = map[string]bool{
	"click": true, "dblclick": true, "auxclick": true, "contextmenu": true, "mousedown": true, "mouseup": true, "pointerdown": true,
	"pointerup": true, "touchstart": true, "touchend": true, "dragstart": true, "drop": true,
	"mouseover": false, "mouseenter": false, "mousemove": false, "pointerover": false, "pointerenter": false, "pointermove": false,
}

// hear asks the browser which nodes of a frame listen to the mouse, which no
// script can see, and tells the walker. It is true if there were new ones, so
// that a walk without them has to be made again. It costs nothing while the
// page looks as it did, once its scripts have had the time to bring it alive.
func (t *tab) hear(ctx context.Context, f *frame, elements, age int) bool {
	t.mu.Lock()
	h := &f.heard
	if h.gen != f.gen || h.ctx != f.ctx {
		*h = listening{gen: f.gen, ctx: f.ctx, known: map[int]bool{}}
	}
	same := h.elements == elements
	if h.flood || same && (h.age >= listenYoung || time.Since(h.at) < listenAgain) {
		t.mu.Unlock()
		return false
	}
	h.elements, h.age, h.at = elements, age, time.Now()
	world, session, known := f.ctx, f.session, h.known
	t.mu.Unlock()

	const group = "listening"
	defer t.r.p.conn.send(session, "Runtime.releaseObjectGroup", map[string]any{"objectGroup": group})
	listeners := t.listeners(ctx, session, t.objects(ctx, session, world, "__gofer.roots()", group), group)
	kinds := map[int]bool{} // node -> whether it listens for a press
	var order []int
	for _, l := range listeners {
		press, ok := pressed[l.Type]
		if !ok || known[l.BackendNodeID] {
			continue
		}
		if _, ok := kinds[l.BackendNodeID]; !ok {
			order = append(order, l.BackendNodeID)
		}
		kinds[l.BackendNodeID] = kinds[l.BackendNodeID] || press
	}
	order = order[:min(len(order), mostListening)]
	answers := make([]<-chan answer, len(order))
	for i, id := range order {
		answers[i] = t.r.p.conn.send(session, "DOM.resolveNode", map[string]any{"backendNodeId": id, "executionContextId": world, "objectGroup": group})
	}
	type arg map[string]any
	objects, flags := []arg{}, []arg{}
	t.mu.Lock()
	h.flood = len(listeners) > mostListeners
	t.mu.Unlock()
	for i, id := range order {
		var node struct{ Object struct{ ObjectID string } }
		err := t.await(ctx, answers[i], "DOM.resolveNode", &node)
		known[id] = true // also one of another frame, which is not ours to tell
		if err == nil {
			objects = append(objects, arg{"objectId": node.Object.ObjectID})
			flags = append(flags, arg{"value": kinds[id]})
		}
	}
	if len(objects) == 0 {
		return false
	}
	var told struct{ Result struct{ Value int } }
	err := t.call(ctx, session, "Runtime.callFunctionOn", map[string]any{
		"executionContextId": world, "functionDeclaration": "function(...a){return __gofer.listens(a)}",
		"arguments": append(objects, flags...), "returnByValue": true,
	}, &told)
	return err == nil && told.Result.Value > 0
}

type listener struct {
	Type          string
	BackendNodeID int
}

// listeners asks for those of the page's own scripts below some roots. Asked
// through our world the renderer has to report every world's, with pierce, and
// has been seen to crash doing so; so each root is handed to the page's world
// first, without the page noticing.
func (t *tab) listeners(ctx context.Context, session string, roots []string, group string) []listener {
	send := t.r.p.conn.send
	chs := make([]<-chan answer, len(roots))
	for i, root := range roots {
		chs[i] = send(session, "DOM.describeNode", map[string]any{"objectId": root})
	}
	for i, ch := range chs {
		var got struct{ Node struct{ BackendNodeID int } }
		if chs[i] = nil; t.await(ctx, ch, "DOM.describeNode", &got) == nil {
			chs[i] = send(session, "DOM.resolveNode", map[string]any{"backendNodeId": got.Node.BackendNodeID, "objectGroup": group})
		}
	}
	var out []listener
	for i, ch := range chs {
		var got struct{ Object struct{ ObjectID string } }
		if chs[i] = nil; ch != nil && t.await(ctx, ch, "DOM.resolveNode", &got) == nil {
			chs[i] = send(session, "DOMDebugger.getEventListeners", map[string]any{"objectId": got.Object.ObjectID, "depth": -1})
		}
	}
	for _, ch := range chs {
		var got struct{ Listeners []listener }
		if ch != nil && t.await(ctx, ch, "DOMDebugger.getEventListeners", &got) == nil {
			out = append(out, got.Listeners...)
		}
	}
	return out
}
