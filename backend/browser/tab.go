package browser

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// tab is one page target and all frames in it.
type tab struct {
	id     string // t3, as the model knows it
	s      *Session
	r      *running
	target string

	gone    chan struct{} // closed when the page target ended
	ready   chan struct{} // closed when it is attached
	onceEnd sync.Once

	mu       sync.Mutex
	session  string // protocol session of the page; set before ready closes
	attachEr error
	url      string
	title    string
	crashed  bool
	frames   map[string]*frame
	numbers  int
	changed  chan struct{} // closed and made anew at each change
	dialog   *Dialog
	dialogUp chan struct{} // closed while a dialog is open

	loader   string // document of the main frame
	interact string // loader whose DOMContentLoaded fired
	loaded   string // loader whose load fired
	navs     int    // documents the main frame has shown
	moves    int    // changes of address within a document
	navBusy  map[string]busyNav
	reqs     map[string]request
	reqSeq   int
	status   map[string]document // by loader
	net      netLog
	last     lastView
	record   Record      // of the call under way
	print    Fingerprint // of the page a call arrived at
	seen     sight       // at the last picture of the viewport
	logs     *[]logLine  // where console lines go while somebody asks for them
	files    *fileChooser
	dragged  json.RawMessage    // data of a drag the page began
	failures map[string]failure // by target
	hung     bool               // its script could not be ended

	refused    []string // hosts the page was not let connect to since the mark
	refusedWhy string   // of the first of them
}

type busyNav struct {
	loader string // empty while only asked for
	url    string
	at     time.Time
}

type request struct {
	seq  int
	kind string
}

// document is what the network said about a page.
type document struct {
	answered  bool // with more than a redirect
	status    int
	mime      string
	redirects []string
	failed    string // why there is none
}

type frame struct {
	id, parent string
	session    string
	no         int           // prefix of its refs, 0 for the main frame
	gen        int           // counts documents
	ctx        int           // context id of our world, 0 when unknown
	making     <-chan answer // where it will be, when it was asked for ahead
	next       int           // first free ref
	url        string
	numbered   [2]int // gen and ctx of the parent that knows its number
	heard      listening
}

// Dialog is an open alert, confirm, prompt or leave-this-page question.
type Dialog struct {
	Kind    string // alert, confirm, prompt, beforeunload
	Message string
	Default string
}

type fileChooser struct {
	by      string // the ref whose press opened it
	backend int
	session string
	multi   bool
}

func newTab(s *Session, r *running, target string) *tab {
	return &tab{
		s: s, r: r, target: target, gone: make(chan struct{}), ready: make(chan struct{}), changed: make(chan struct{}),
		dialogUp: make(chan struct{}), frames: map[string]*frame{}, navBusy: map[string]busyNav{}, reqs: map[string]request{}, status: map[string]document{}, failures: map[string]failure{},
	}
}

// attach opens a protocol session on the page and sets it up. A page we made
// ourselves is empty, so nothing of it has to be waited for: its process may
// still be starting when it is told where to go.
func (t *tab) attach(ctx context.Context, ours bool) error {
	var got struct{ SessionID string }
	err := t.r.p.conn.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": t.target, "flatten": true}, &got)
	if err == nil {
		t.mu.Lock()
		t.session = got.SessionID
		t.mu.Unlock()
		t.r.route(got.SessionID, t)
		tree := t.setUp(got.SessionID)
		t.r.p.conn.send(got.SessionID, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true})
		var frames frameTree
		if ours {
			t.mu.Lock()
			t.frame(t.target).session = got.SessionID
			t.mu.Unlock()
			go t.catchUp(got.SessionID, tree)
		} else if err = t.await(ctx, tree, "Page.getFrameTree", &frames); err == nil {
			t.mu.Lock()
			t.take(frames.FrameTree, got.SessionID)
			t.mu.Unlock()
		}
	}
	t.mu.Lock()
	t.attachEr = err
	t.mu.Unlock()
	close(t.ready)
	return err
}

// catchUp notes the document that came before its events were asked for: one
// that takes a process of its own, as the site may demand, leaves behind the
// process that was still to be set up.
func (t *tab) catchUp(session string, tree <-chan answer) {
	var got frameTree
	if t.await(t.s.life, tree, "Page.getFrameTree", &got) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if main := got.FrameTree.Frame; t.navs == 0 && main.URL != "about:blank" {
		t.showing(session, main)
		t.take(got.FrameTree, session)
		t.notify()
	}
}

// setUp readies a session for reading and acting; it sends and does not wait.
func (t *tab) setUp(session string) <-chan answer {
	send := t.r.p.conn.send
	send(session, "Page.enable", nil)
	send(session, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": walker, "worldName": worldName, "runImmediately": true})
	send(session, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": noPrint, "runImmediately": true})
	send(session, "Page.setLifecycleEventsEnabled", map[string]any{"enabled": true})
	send(session, "Network.enable", map[string]any{"maxTotalBufferSize": 1 << 16, "maxResourceBufferSize": 1 << 14})
	send(session, "Target.setAutoAttach", map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
		// Workers wait for us even where they are filtered out; then nobody would start them.
		"filter": []map[string]any{{"type": "iframe", "exclude": false}, {"type": "worker", "exclude": false}},
	})
	return send(session, "Page.getFrameTree", nil)
}

type frameInfo struct {
	ID       string `json:"id"`
	ParentID string `json:"parentId"`
	LoaderID string `json:"loaderId"`
	URL      string `json:"url"`
	Failed   string `json:"unreachableUrl"` // the address that an error page stands for
}

func (i frameInfo) address() string {
	if i.Failed != "" {
		return plainURL(i.Failed)
	}
	return plainURL(i.URL)
}

type frameNode struct {
	Frame       frameInfo   `json:"frame"`
	ChildFrames []frameNode `json:"childFrames"`
}
type frameTree struct {
	FrameTree frameNode `json:"frameTree"`
}

// take files a frame tree; the lock is held.
func (t *tab) take(n frameNode, session string) {
	f := t.frame(n.Frame.ID)
	if f.session == "" || f.url == "" {
		f.session = session
	}
	if n.Frame.ParentID != "" {
		f.parent = n.Frame.ParentID
	}
	f.url = n.Frame.address()
	if n.Frame.ID == t.target && t.loader == "" {
		t.loader, t.url = n.Frame.LoaderID, f.url
	}
	for _, k := range n.ChildFrames {
		t.take(k, session)
	}
}

// frame returns the frame of that id, making it; the lock is held.
func (t *tab) frame(id string) *frame {
	f := t.frames[id]
	if f == nil {
		f = &frame{id: id, next: 1}
		if id != t.target {
			t.numbers++
			f.no = t.numbers
		}
		t.frames[id] = f
	}
	return f
}

func (t *tab) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// until waits for a condition over the tab's state.
func (t *tab) until(ctx context.Context, holds func() bool) error {
	for {
		t.mu.Lock()
		ok, ch, dialog := holds(), t.changed, t.dialog
		t.mu.Unlock()
		if ok {
			return nil
		}
		if dialog != nil {
			return errDialog
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return ctx.Err()
		case <-t.gone:
			return gone()
		}
	}
}

var (
	errDialog    = errors.New("a dialog is open")
	errNavigated = errors.New("the page went to another document")
)

func (t *tab) call(ctx context.Context, session, method string, params, out any) error {
	return t.await(ctx, t.r.p.conn.send(session, method, params), method, out)
}

// await waits for an answer, but no longer than the page can give one.
func (t *tab) await(ctx context.Context, ch <-chan answer, method string, out any) error {
	t.mu.Lock()
	dialog := t.dialogUp
	t.mu.Unlock()
	var a answer
	select {
	case a = <-ch:
	default:
		select {
		case a = <-ch:
		case <-ctx.Done():
			return ctx.Err()
		case <-t.gone:
			return gone()
		case <-dialog:
			return errDialog
		}
	}
	err := a.into(method, out)
	if err != nil && (errors.Is(err, errConnEnded) || strings.Contains(err.Error(), "Session with given id not found") && t.isGone()) {
		return gone()
	}
	return err
}

// noDialog forgets a dialog whose end the browser did not tell, as happens when
// its page was left meanwhile.
func (t *tab) noDialog(d *Dialog) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dialog == d && d != nil {
		t.dialog = nil
		t.dialogUp = make(chan struct{})
		t.notify()
	}
}

func (t *tab) isGone() bool {
	select {
	case <-t.gone:
		return true
	default:
		return false
	}
}

// closed is true when the tab alone ended, and not by a crash. It may be nil.
func (t *tab) closed() bool {
	if t == nil || !t.isGone() || t.r.dead() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.crashed
}

// end is called when the page target is no more.
func (t *tab) end() {
	t.onceEnd.Do(func() {
		t.s.lose(t) // first, so that who sees it gone sees it lost too
		close(t.gone)
	})
}

func (t *tab) crash() {
	t.mu.Lock()
	t.crashed = true
	t.notify()
	t.mu.Unlock()
	t.end()
	t.r.p.conn.send("", "Target.closeTarget", map[string]any{"targetId": t.target})
}

func (t *tab) info(i targetInfo) {
	t.mu.Lock()
	t.title = titleOf(i)
	if i.URL != "" && !strings.HasPrefix(i.URL, "chrome-error:") {
		t.url = plainURL(i.URL)
	}
	t.mu.Unlock()
	t.s.poke()
}

// called notes the title the page itself gives. The browser tells of a new
// title late or, at first, tells the address instead.
func (t *tab) called(title string) {
	t.mu.Lock()
	t.title = title
	t.mu.Unlock()
	t.s.poke()
}

// titleOf is the title of a page; until a page has named itself, the browser
// puts its address there.
func titleOf(i targetInfo) string {
	if i.Title != "" && strings.HasSuffix(i.URL, i.Title) {
		return ""
	}
	return i.Title
}

// event runs in the reader.
func (t *tab) event(session, method string, params json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := handlers[method]; h != nil {
		h(t, session, params)
		t.notify()
	}
}
