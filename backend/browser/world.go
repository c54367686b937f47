package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// args are what a deed of the walker gets.
type args map[string]any

// js runs one deed of the walker in the isolated world of a frame.
func (t *tab) js(ctx context.Context, f *frame, deed string, a args, out any) error {
	return t.jsThen(ctx, f, deed, a, out, func() {})
}

// jsThen is js that has something sent right behind the deed, while its answer
// is on the way.
func (t *tab) jsThen(ctx context.Context, f *frame, deed string, a args, out any, then func()) error {
	for try := 0; ; try++ {
		ch, f0, err := t.jsSend(ctx, f, deed, a)
		if err == nil {
			then()
			err = t.jsWait(ctx, f0, ch, out)
		}
		// The world is looked up anew when the document changed before the call
		// reached it; then nothing has been done yet.
		if errors.Is(err, errNoWorld) && try < 3 {
			continue
		}
		if errors.Is(err, errNoWorld) {
			return errNavigated
		}
		return err
	}
}

var (
	errNoWorld = errors.New("no world")
	errWalker  = errors.New("the page could not be worked on") // our script met what it does not know
)

type sentFrame struct {
	f   *frame
	ctx int
}

func (t *tab) jsSend(ctx context.Context, f *frame, deed string, a args) (<-chan answer, sentFrame, error) {
	world, err := t.world(ctx, f)
	if err != nil {
		return nil, sentFrame{}, err
	}
	if a == nil {
		a = args{}
	}
	t.mu.Lock()
	session := f.session
	a["base"] = f.next
	if f.no > 0 {
		a["prefix"] = "f" + strconv.Itoa(f.no)
	}
	t.mu.Unlock()
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, sentFrame{}, fmt.Errorf("%s: %w", deed, err)
	}
	ch := t.r.p.conn.send(session, "Runtime.evaluate", map[string]any{
		"expression": "typeof __gofer==='object'?__gofer.run('" + deed + "'," + string(raw) + "):'!'", "contextId": world,
		"returnByValue": true, "awaitPromise": true,
	})
	return ch, sentFrame{f, world}, nil
}

func (t *tab) jsWait(ctx context.Context, sent sentFrame, ch <-chan answer, out any) error {
	var got struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := t.await(ctx, ch, "Runtime.evaluate", &got); err != nil {
		return t.worldError(sent, err)
	}
	if got.Exception != nil {
		if strings.Contains(got.Exception.Exception.Description, "terminated") {
			return problem(Timeout, "the script was ended")
		}
		return fmt.Errorf("%w: %s %s", errWalker, got.Exception.Text, got.Exception.Exception.Description)
	}
	if got.Result.Value == "!" { // the script has not reached this document
		t.mu.Lock()
		session := sent.f.session
		t.mu.Unlock()
		if err := t.call(ctx, session, "Runtime.evaluate", map[string]any{"expression": walker, "contextId": sent.ctx}, nil); err != nil {
			return t.worldError(sent, err)
		}
		return errNoWorld
	}
	var head struct {
		Code  Code   `json:"code"`
		Error string `json:"error"`
		Next  int    `json:"next"`
		Trail *struct {
			Locators []Locator   `json:"locators"`
			Before   Fingerprint `json:"before"`
		} `json:"trail"`
	}
	if err := json.Unmarshal([]byte(got.Result.Value), &head); err != nil {
		return fmt.Errorf("walker: %w", err)
	}
	t.mu.Lock()
	if head.Next > sent.f.next {
		sent.f.next = head.Next
	}
	if head.Trail != nil {
		t.record.add(sent.f, head.Trail.Locators, head.Trail.Before)
	}
	t.mu.Unlock()
	if head.Code == internal {
		return fmt.Errorf("%w: %s", errWalker, head.Error)
	}
	if head.Code != "" {
		return &Problem{head.Code, head.Error}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(got.Result.Value), out); err != nil {
		return fmt.Errorf("walker: %w", err)
	}
	return nil
}

// worldError tells a context that was not there from one that went away under the call.
func (t *tab) worldError(sent sentFrame, err error) error {
	var p *protocolError
	if !errors.As(err, &p) {
		return err
	}
	switch {
	case strings.Contains(p.Message, "Cannot find context"), strings.Contains(p.Message, "uniqueContextId not found"), strings.Contains(p.Message, "Session with given id not found"):
		t.mu.Lock()
		if sent.f.ctx == sent.ctx {
			sent.f.ctx = 0
		}
		t.mu.Unlock()
		return errNoWorld
	case strings.Contains(p.Message, "context was destroyed"), strings.Contains(p.Message, "navigated or closed"), strings.Contains(p.Message, "Promise was collected"):
		return errNavigated
	}
	return err
}

// world returns the context id of our world in a frame.
func (t *tab) world(ctx context.Context, f *frame) (int, error) {
	t.mu.Lock()
	id, gen, session, making := f.ctx, f.gen, f.session, f.making
	f.making = nil
	t.mu.Unlock()
	if id != 0 {
		return id, nil
	}
	if session == "" {
		return 0, problem(Detached, "the frame is no longer on the page")
	}
	const method = "Page.createIsolatedWorld"
	var got struct{ ExecutionContextID int }
	err := errNoWorld
	if making != nil {
		err = t.await(ctx, making, method, &got)
	}
	if err != nil {
		err = t.call(ctx, session, method, map[string]any{"frameId": f.id, "worldName": worldName}, &got)
	}
	if err != nil {
		var p *protocolError
		if errors.As(err, &p) {
			return 0, problem(Detached, "the frame is no longer on the page")
		}
		return 0, err
	}
	t.mu.Lock()
	if f.gen == gen {
		f.ctx = got.ExecutionContextID
	}
	t.mu.Unlock()
	return got.ExecutionContextID, nil
}

// root returns the main frame.
func (t *tab) root() *frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frame(t.target)
}

var refForm = regexp.MustCompile(`^(?:f(\d+))?e([1-9]\d*)$`)

// locate splits a ref into its frame and the id in it.
func (t *tab) locate(ref string) (*frame, int, error) {
	m := refForm.FindStringSubmatch(strings.TrimSpace(strings.Trim(ref, "[]@\"' ")))
	if m == nil {
		if _, after, ok := strings.Cut(ref, "ref="); ok {
			return t.locate(strings.TrimRight(after, "]) "))
		}
		return nil, 0, problem(InvalidRequest, "%q is no ref; refs look like e12 or f2e7 and come from a snapshot", short(ref, 40))
	}
	id, _ := strconv.Atoi(m[2])
	if m[1] == "" {
		return t.root(), id, nil
	}
	no, _ := strconv.Atoi(m[1])
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.frames {
		if f.no == no {
			return f, id, nil
		}
	}
	return nil, 0, problem(Detached, "the frame of %s is no longer on the page", ref)
}

// number tells the parent documents which number each frame has, so that a
// parent's walk can say where a frame's text belongs.
func (t *tab) number(ctx context.Context) {
	type job struct{ f, parent *frame }
	t.mu.Lock()
	var jobs []job
	for _, f := range t.frames {
		p := t.frames[f.parent]
		if p != nil && f.session != "" && p.session != "" && (f.numbered != [2]int{p.gen, p.ctx} || p.ctx == 0) {
			jobs = append(jobs, job{f, p})
		}
	}
	t.mu.Unlock()
	type owner struct {
		job
		world int
		ch    <-chan answer
	}
	var owners []owner
	for _, j := range jobs {
		w, err := t.world(ctx, j.parent)
		if err != nil {
			continue
		}
		owners = append(owners, owner{j, w, t.r.p.conn.send(j.parent.session, "DOM.getFrameOwner", map[string]any{"frameId": j.f.id})})
	}
	for i, o := range owners {
		var got struct{ BackendNodeID int }
		if t.await(ctx, o.ch, "DOM.getFrameOwner", &got) != nil {
			owners[i].ch = nil
			continue
		}
		owners[i].ch = t.r.p.conn.send(o.parent.session, "DOM.resolveNode", map[string]any{"backendNodeId": got.BackendNodeID, "executionContextId": o.world})
	}
	for i, o := range owners {
		var got struct{ Object struct{ ObjectID string } }
		if o.ch == nil || t.await(ctx, o.ch, "DOM.resolveNode", &got) != nil {
			owners[i].ch = nil
			continue
		}
		owners[i].ch = t.r.p.conn.send(o.parent.session, "Runtime.callFunctionOn", map[string]any{
			"objectId":            got.Object.ObjectID,
			"functionDeclaration": "function(n){__gofer.number(this,n)}", "arguments": []map[string]any{{"value": o.f.no}},
		})
	}
	for _, o := range owners {
		if o.ch != nil && t.await(ctx, o.ch, "Runtime.callFunctionOn", nil) == nil {
			t.mu.Lock()
			o.f.numbered = [2]int{o.parent.gen, o.world}
			t.mu.Unlock()
		}
	}
}

// object returns the page-world object of a ref, for calls that need one.
func (t *tab) object(ctx context.Context, f *frame, id int, pageWorld bool) (object string, backend int, err error) {
	world, err := t.world(ctx, f)
	if err != nil {
		return "", 0, err
	}
	var got struct {
		Result struct{ ObjectID string }
	}
	if err := t.call(ctx, f.session, "Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("__gofer.node(%d)", id), "contextId": world}, &got); err != nil {
		return "", 0, err
	}
	var node struct{ Node struct{ BackendNodeID int } }
	if err := t.call(ctx, f.session, "DOM.describeNode", map[string]any{"objectId": got.Result.ObjectID}, &node); err != nil {
		return "", 0, err
	}
	if !pageWorld {
		return got.Result.ObjectID, node.Node.BackendNodeID, nil
	}
	var there struct{ Object struct{ ObjectID string } }
	if err := t.call(ctx, f.session, "DOM.resolveNode", map[string]any{"backendNodeId": node.Node.BackendNodeID}, &there); err != nil {
		return "", 0, err
	}
	return there.Object.ObjectID, node.Node.BackendNodeID, nil
}
