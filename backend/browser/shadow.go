package browser

import (
	"context"
	"strconv"
)

// openRoots hands the closed shadow roots of the last walk's suspects to our
// world, which cannot see them by itself. It returns how many there were.
func (t *tab) openRoots(ctx context.Context, f *frame) int {
	world, err := t.world(ctx, f)
	if err != nil {
		return 0
	}
	var list struct {
		Result struct{ ObjectID string }
	}
	if t.call(ctx, f.session, "Runtime.evaluate", map[string]any{"expression": "__gofer.suspects()", "contextId": world, "objectGroup": "suspects"}, &list) != nil {
		return 0
	}
	defer t.r.p.conn.send(f.session, "Runtime.releaseObjectGroup", map[string]any{"objectGroup": "suspects"})
	var items struct {
		Result []struct {
			Name  string
			Value struct{ ObjectID string }
		}
	}
	if t.call(ctx, f.session, "Runtime.getProperties", map[string]any{"objectId": list.Result.ObjectID, "ownProperties": true}, &items) != nil {
		return 0
	}
	type job struct {
		host string
		ch   <-chan answer
	}
	send := t.r.p.conn.send
	var jobs []job
	for _, it := range items.Result {
		if _, err := strconv.Atoi(it.Name); err == nil && it.Value.ObjectID != "" {
			jobs = append(jobs, job{it.Value.ObjectID, send(f.session, "DOM.describeNode", map[string]any{"objectId": it.Value.ObjectID})})
		}
	}
	for i, j := range jobs {
		var got struct {
			Node struct {
				ShadowRoots []struct {
					BackendNodeID  int
					ShadowRootType string
				}
			}
		}
		jobs[i].ch = nil
		if t.await(ctx, j.ch, "DOM.describeNode", &got) != nil {
			continue
		}
		for _, r := range got.Node.ShadowRoots {
			if r.ShadowRootType == "closed" {
				jobs[i].ch = send(f.session, "DOM.resolveNode", map[string]any{"backendNodeId": r.BackendNodeID, "executionContextId": world, "objectGroup": "suspects"})
			}
		}
	}
	n := 0
	for _, j := range jobs {
		var got struct{ Object struct{ ObjectID string } }
		if j.ch == nil || t.await(ctx, j.ch, "DOM.resolveNode", &got) != nil {
			continue
		}
		err := t.call(ctx, f.session, "Runtime.callFunctionOn", map[string]any{
			"objectId": j.host, "functionDeclaration": "function(r){__gofer.root(this,r)}",
			"arguments": []map[string]any{{"objectId": got.Object.ObjectID}},
		}, nil)
		if err == nil {
			n++
		}
	}
	return n
}
