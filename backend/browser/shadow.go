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
	const group = "suspects"
	defer t.r.p.conn.send(f.session, "Runtime.releaseObjectGroup", map[string]any{"objectGroup": group})
	type job struct {
		host string
		ch   <-chan answer
	}
	send := t.r.p.conn.send
	var jobs []job
	for _, host := range t.objects(ctx, f.session, world, "__gofer.suspects()", group) {
		jobs = append(jobs, job{host, send(f.session, "DOM.describeNode", map[string]any{"objectId": host})})
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
				jobs[i].ch = send(f.session, "DOM.resolveNode", map[string]any{"backendNodeId": r.BackendNodeID, "executionContextId": world, "objectGroup": group})
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

// objects returns handles of the elements of a list in our world, for calls
// that take one; they live until their group is released.
func (t *tab) objects(ctx context.Context, session string, world int, list, group string) []string {
	var got struct {
		Result struct{ ObjectID string }
	}
	if t.call(ctx, session, "Runtime.evaluate", map[string]any{"expression": list, "contextId": world, "objectGroup": group}, &got) != nil {
		return nil
	}
	var items struct {
		Result []struct {
			Name  string
			Value struct{ ObjectID string }
		}
	}
	if t.call(ctx, session, "Runtime.getProperties", map[string]any{"objectId": got.Result.ObjectID, "ownProperties": true}, &items) != nil {
		return nil
	}
	var out []string
	for _, it := range items.Result {
		if _, err := strconv.Atoi(it.Name); err == nil && it.Value.ObjectID != "" {
			out = append(out, it.Value.ObjectID)
		}
	}
	return out
}
