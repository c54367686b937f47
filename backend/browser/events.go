package browser

import (
	"encoding/json"
	"time"
)

// handlers update a tab from the events of its sessions. They run in the
// reader with the tab's lock held.
var handlers = map[string]func(t *tab, session string, raw json.RawMessage){
	"Page.frameAttached": on(func(t *tab, session string, e struct{ FrameID, ParentFrameID string }) {
		f := t.frame(e.FrameID)
		f.parent, f.session, f.ctx = e.ParentFrameID, session, 0
	}),
	"Page.frameDetached": on(func(t *tab, session string, e struct{ FrameID, Reason string }) {
		if e.Reason != "swap" {
			t.forget(e.FrameID)
		}
	}),
	"Page.frameNavigated": on(func(t *tab, session string, e struct{ Frame frameInfo }) { t.showing(session, e.Frame) }),
	"Page.navigatedWithinDocument": on(func(t *tab, session string, e struct{ FrameID, URL string }) {
		f := t.frame(e.FrameID)
		f.url = plainURL(e.URL)
		delete(t.navBusy, f.id)
		if f.id == t.target {
			t.url = f.url
			t.moves++
			t.s.poke()
		}
	}),
	"Page.frameStartedNavigating": on(func(t *tab, session string, e struct{ FrameID, LoaderID, NavigationType, URL string }) {
		switch e.NavigationType {
		case "sameDocument", "historySameDocument":
		default:
			t.navBusy[e.FrameID] = busyNav{e.LoaderID, plainURL(e.URL), time.Now()}
		}
	}),
	"Page.frameRequestedNavigation": on(func(t *tab, session string, e struct{ FrameID, Disposition, URL string }) {
		if _, ok := t.navBusy[e.FrameID]; !ok && e.Disposition == "currentTab" {
			t.navBusy[e.FrameID] = busyNav{"", plainURL(e.URL), time.Now()}
		}
	}),
	"Page.frameStoppedLoading": on(func(t *tab, session string, e struct{ FrameID string }) {
		if n, ok := t.navBusy[e.FrameID]; ok && n.loader != "" {
			delete(t.navBusy, e.FrameID)
		}
	}),
	"Page.lifecycleEvent": on(func(t *tab, session string, e struct{ FrameID, LoaderID, Name string }) {
		if e.FrameID != t.target {
			return
		}
		switch e.Name {
		case "DOMContentLoaded":
			t.interact = e.LoaderID
			delete(t.reqs, e.LoaderID) // whose end is not told when the page was set up meanwhile
		case "load":
			t.interact, t.loaded = e.LoaderID, e.LoaderID
		}
	}),
	"Page.javascriptDialogOpening": on(func(t *tab, session string, e struct{ Type, Message, DefaultPrompt string }) {
		if t.dialog == nil {
			close(t.dialogUp)
		}
		t.dialog = &Dialog{Kind: e.Type, Message: e.Message, Default: e.DefaultPrompt}
	}),
	"Page.javascriptDialogClosed": on(func(t *tab, session string, e struct{}) {
		if t.dialog != nil {
			t.dialog = nil
			t.dialogUp = make(chan struct{})
		}
	}),
	"Page.fileChooserOpened": on(func(t *tab, session string, e struct {
		Mode          string
		BackendNodeID int
	},
	) {
		t.files = &fileChooser{backend: e.BackendNodeID, session: session, multi: e.Mode == "selectMultiple"}
	}),
	"Input.dragIntercepted": on(func(t *tab, session string, e struct{ Data json.RawMessage }) {
		t.dragged = e.Data
	}),
	"Inspector.targetCrashed": on(func(t *tab, session string, e struct{}) {
		if session == t.session {
			go t.crash()
		}
	}),
	"Network.requestWillBeSent": on(func(t *tab, session string, e struct {
		RequestID, LoaderID, Type, FrameID string
		Timestamp                          float64
		Request                            struct{ URL, Method string }
		RedirectResponse                   *struct {
			URL    string
			Status int
		}
	},
	) {
		if e.RedirectResponse != nil {
			t.net.answer(e.RequestID, e.RedirectResponse.Status, "redirect")
			t.net.end(e.RequestID, e.Timestamp, 0, "")
		}
		t.net.begin(e.RequestID, e.LoaderID, e.Type, e.Request.Method, e.Request.URL, e.Timestamp)
		if e.Type == "Document" && e.RedirectResponse != nil {
			d := t.status[e.RequestID]
			d.redirects = append(d.redirects, e.RedirectResponse.URL)
			t.status[e.RequestID] = d
		}
		switch e.Type {
		case "Fetch", "XHR", "Script", "Stylesheet", "Document":
			t.reqSeq++
			t.reqs[e.RequestID] = request{t.reqSeq, e.Type}
		}
	}),
	"Network.responseReceived": on(func(t *tab, session string, e struct {
		RequestID, LoaderID, Type, FrameID string
		Response                           struct {
			Status   int
			MimeType string
		}
	},
	) {
		t.net.answer(e.RequestID, e.Response.Status, "")
		if e.Type == "Document" && e.FrameID == t.target {
			d := t.status[e.LoaderID]
			d.answered, d.status, d.mime = true, e.Response.Status, e.Response.MimeType
			t.status[e.LoaderID] = d
		}
		if e.Response.MimeType == "text/event-stream" {
			delete(t.reqs, e.RequestID)
		}
	}),
	"Network.loadingFinished": on(func(t *tab, session string, e struct {
		RequestID                    string
		Timestamp, EncodedDataLength float64
	},
	) {
		delete(t.reqs, e.RequestID)
		t.net.end(e.RequestID, e.Timestamp, int64(e.EncodedDataLength), "")
	}),
	"Network.loadingFailed": on(func(t *tab, session string, e struct {
		RequestID, ErrorText, BlockedReason string
		Timestamp                           float64
		Canceled                            bool
	},
	) {
		if t.reqs[e.RequestID].kind == "Document" {
			d := t.status[e.RequestID]
			d.failed = e.ErrorText
			t.status[e.RequestID] = d
		}
		delete(t.reqs, e.RequestID)
		why := e.ErrorText
		if e.Canceled {
			why = "canceled" // also a body that nobody read
		}
		if e.BlockedReason != "" {
			why += " (" + e.BlockedReason + ")"
		}
		t.failed(e.RequestID, e.Timestamp, why)
	}),
	"Network.webSocketCreated": on(func(t *tab, session string, e struct{ RequestID, URL string }) {
		t.net.begin(e.RequestID, t.loader, "WebSocket", "GET", e.URL, 0)
	}),
	"Network.webSocketHandshakeResponseReceived": on(func(t *tab, session string, e struct {
		RequestID string
		Response  struct{ Status int }
	},
	) {
		t.net.answer(e.RequestID, e.Response.Status, "")
	}),
	"Network.webSocketFrameError": on(func(t *tab, session string, e struct{ RequestID, ErrorMessage string }) {
		t.failed(e.RequestID, 0, e.ErrorMessage)
	}),
	"Network.webSocketClosed":  on(func(t *tab, session string, e struct{ RequestID string }) { t.net.end(e.RequestID, 0, 0, "") }),
	"Runtime.consoleAPICalled": on(func(t *tab, session string, e consoleCall) { t.logged(e.line(session)) }),
	"Runtime.exceptionThrown":  on(func(t *tab, session string, e exceptionThrown) { t.logged(e.line()) }),
	"Log.entryAdded":           on(func(t *tab, session string, e logEntry) { t.logged(e.line()) }),
	"Target.attachedToTarget": on(func(t *tab, session string, e struct {
		SessionID  string
		TargetInfo targetInfo
	},
	) {
		if e.TargetInfo.Type == "worker" {
			t.r.p.conn.send(e.SessionID, "Runtime.runIfWaitingForDebugger", nil)
			t.net.came(e.TargetInfo.URL, t.reqs)
			return
		}
		t.r.route(e.SessionID, t)
		f := t.frame(e.TargetInfo.ID)
		f.session, f.ctx = e.SessionID, 0
		f.gen++
		if e.TargetInfo.Parent != "" {
			f.parent = e.TargetInfo.Parent
		}
		tree := t.setUp(e.SessionID)
		t.r.p.conn.send(e.SessionID, "Runtime.runIfWaitingForDebugger", nil)
		go func() {
			var got frameTree
			if t.await(t.s.life, tree, "Page.getFrameTree", &got) == nil {
				t.mu.Lock()
				t.take(got.FrameTree, e.SessionID)
				t.notify()
				t.mu.Unlock()
			}
		}()
	}),
	"Target.detachedFromTarget": on(func(t *tab, session string, e struct{ SessionID string }) {
		t.r.unroute(e.SessionID)
		for id, f := range t.frames {
			if f.session == e.SessionID && id != t.target {
				f.session, f.ctx = "", 0
			}
		}
	}),
}

// showing notes that a frame shows another document; the lock is held.
func (t *tab) showing(session string, i frameInfo) {
	f := t.frame(i.ID)
	f.session, f.ctx, f.url, f.making = session, 0, i.address(), nil
	f.gen++
	if i.ParentID != "" {
		f.parent = i.ParentID
	}
	delete(t.navBusy, f.id)
	if f.id != t.target {
		return
	}
	// It takes a while beside the loading, and something will want it.
	f.making = t.r.p.conn.send(session, "Page.createIsolatedWorld", map[string]any{"frameId": f.id, "worldName": worldName})
	t.loader, t.url = i.LoaderID, f.url
	if t.dialog != nil { // of the page that was left; its end is not always told
		t.dialog = nil
		t.dialogUp = make(chan struct{})
	}
	t.navs++
	t.net.keep(t.loader)
	clear(t.failures)
	for id, q := range t.reqs {
		if id != t.loader && q.kind != "" {
			delete(t.reqs, id)
		}
	}
	for loader := range t.status {
		if loader != t.loader && len(t.status) > 4 {
			delete(t.status, loader)
		}
	}
	t.s.poke()
}

// on decodes the parameters of an event for its handler.
func on[E any](do func(t *tab, session string, e E)) func(*tab, string, json.RawMessage) {
	return func(t *tab, session string, raw json.RawMessage) {
		var e E
		if json.Unmarshal(raw, &e) == nil {
			do(t, session, e)
		}
	}
}

// forget drops a frame and those in it; the lock is held.
func (t *tab) forget(id string) {
	delete(t.frames, id)
	delete(t.navBusy, id)
	for k, f := range t.frames {
		if f.parent == id {
			t.forget(k)
		}
	}
}
