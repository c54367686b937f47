package browser_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// openPages holds the tricky pages the tool bench is developed against.
const openPages = "../../bench/browser/pages"

//go:embed testdata/probe.js
var probe string

// wiles are pages that tempt a tool to tell what is not so.
var wiles = map[string]string{
	"gone-on-press":    `<h1>Slippery</h1><button onmousedown="this.remove()">Catch me</button><button>Still here</button>`,
	"swap-on-press":    `<h1>Swap</h1><button id=a onmousedown="this.style.display='none';b.style.display=''">First</button><button id=b style="display:none">Second</button>`,
	"cover-on-hover":   `<h1>Shy</h1><button id=a onmouseenter="c.style.display='block'">Reach me</button><div id=c style="display:none;position:fixed;inset:0;background:#8888" onclick="this.style.display='none'">Cover</div>`,
	"move-on-hover":    `<h1>Runaway</h1><button style="position:relative" onmouseenter="this.style.left='300px'">Run</button>`,
	"takes-back":       `<h1>Vetoes</h1><label><input type=checkbox onclick="event.preventDefault()">Never on</label><input aria-label=Upper oninput="this.value=this.value.toUpperCase()"><input aria-label=Empty oninput="this.value=''"><input aria-label=Locked onbeforeinput="event.preventDefault()">`,
	"moves-focus":      `<h1>Focus</h1><input aria-label=One onfocus="two.focus()"><input id=two aria-label=Two><input aria-label=Away onfocus="this.blur()">`,
	"swallows":         `<h1>Deaf</h1><script>for(const k of ['mousedown','mouseup','click','keydown'])addEventListener(k,e=>{e.stopImmediatePropagation();e.preventDefault()},true)</script><button onclick="this.textContent='heard'">Deaf</button><input aria-label=Deaf field>`,
	"inert-and-deaf":   `<h1>Inert</h1><div inert><button>Inert one</button></div><button style="pointer-events:none">Deaf one</button><fieldset disabled><button>Off one</button><input aria-label=Off></fieldset><button aria-disabled=true>Half off</button>`,
	"kinds-of-fields":  `<h1>Fields</h1><form onsubmit="event.preventDefault();done.textContent='sent'"><input aria-label=Text><input type=number aria-label=Number min=0 max=9><input type=date aria-label=Day><input type=range aria-label=Range><input type=color aria-label=Colour><input type=password aria-label=Secret><textarea aria-label=Long></textarea><input readonly aria-label=Fixed value=x><input type=radio name=r aria-label=Tea><input type=radio name=r aria-label=Coffee><select multiple aria-label=Many><option>A<option>B<option disabled>C</select><button>Send</button></form><p id=done></p>`,
	"scrolls":          `<h1>Long</h1><div style="height:200px;overflow:auto" tabindex=0><p style="height:900px">In</p><button>Deep</button></div><p style="height:2500px"></p><button onclick="this.textContent='low'">Bottom</button>`,
	"closed-shadow":    `<h1>Shadow</h1><x-box></x-box><div id=h></div><script>for(const e of [document.querySelector('x-box'),h]){const r=e.attachShadow({mode:'closed'});r.innerHTML='<button>Idle</button><button>Add</button><input aria-label=In>';r.querySelectorAll('button')[1].onclick=()=>r.append('more ')}</script>`,
	"own-label-over":   `<h1>Label over its box</h1><label style="position:relative;display:inline-block"><input type=checkbox><span style="position:absolute;inset:0;background:#eee">On top</span></label>`,
	"asks-to-stay":     `<h1>Stay</h1><input aria-label=Draft><a href="gone-on-press">Leave</a><script>addEventListener('beforeunload',e=>{if(document.querySelector('input').value)e.preventDefault()})</script>`,
	"renames-itself":   `<h1>Names</h1><button onclick="this.textContent='Pressed '+(window.n=(window.n||0)+1)">Press</button><ul id=l></ul><button onclick="l.innerHTML='<li><button>Row '+Math.random()+'</button>'">Refill</button>`,
	"late-cover":       `<h1>Late</h1><button onclick="setTimeout(()=>{c.hidden=false},5)">Go</button><div id=c hidden style="position:fixed;inset:0;background:#999a"><button onclick="c.hidden=true">Close</button></div>`,
	"labels-far-away":  `<h1>Labels</h1><label for=x>Accept</label><p>text</p><input type=checkbox id=x style="position:absolute;opacity:0;width:1px;height:1px"><label>Wrapped <input type=checkbox></label><label for=none>Of nothing</label>`,
	"frame-in-a-frame": `<h1>Outer</h1><iframe title=in src="renames-itself" style="transform:scale(.8)" width=400 height=200></iframe><iframe title=other src="{{XORIGIN}}/wile/takes-back" width=400 height=200></iframe>`,
}

// witnessed serves the open pages and the wiles, all with the probe in them,
// from two origins, and lists their addresses.
func witnessed(t *testing.T) []string {
	t.Helper()
	var one, other *httptest.Server
	expand := func(s string) string {
		return strings.NewReplacer("{{ORIGIN}}", one.URL+"/r/fuzz", "{{XORIGIN}}", strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/r/fuzz", "{{RUN}}", "fuzz").Replace(s)
	}
	html := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		body = expand(body)
		fmt.Fprint(w, `<!doctype html><script src="/probe.js"></script>`+strings.TrimPrefix(body, "<!doctype html>"))
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		path := strings.TrimPrefix(r.URL.Path, "/r/fuzz/")
		wile, isWile := strings.CutPrefix(path, "wile/")
		switch {
		case r.URL.Path == "/probe.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, probe)
		case isWile && wiles[wile] != "":
			html(w, wiles[wile])
		case path == "report":
			w.WriteHeader(http.StatusNoContent)
		case path == "download/7":
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			fmt.Fprint(w, "a,b\n1,2\n")
		case path == "ok":
			html(w, `<title>Fine</title><h1>Fine</h1><button onclick="this.textContent='Done'">Do</button>`)
		default:
			file := filepath.Join(openPages, filepath.Clean("/"+path))
			body, err := os.ReadFile(file)
			if err != nil || strings.HasSuffix(file, ".json") {
				w.WriteHeader(http.StatusNotFound)
				html(w, "<title>Gone</title><h1>Nothing here</h1><a href='ok'>Home page</a>")
				return
			}
			var headers map[string]string
			if raw, err := os.ReadFile(filepath.Join(filepath.Dir(file), "headers.json")); err == nil && json.Unmarshal(raw, &headers) == nil {
				for k, v := range headers {
					w.Header().Set(k, expand(v))
				}
			}
			switch filepath.Ext(file) {
			case ".html":
				html(w, string(body))
			case ".js":
				w.Header().Set("Content-Type", "text/javascript")
				_, _ = w.Write(body)
			}
		}
	})
	one, other = httptest.NewServer(answer), httptest.NewServer(answer)
	t.Cleanup(one.Close)
	t.Cleanup(other.Close)
	files, err := filepath.Glob(filepath.Join(openPages, "open", "*", "index.html"))
	if err != nil || len(files) < 20 {
		t.Fatalf("the open pages are not at %s: %v", openPages, err)
	}
	list := []string{one.URL + "/r/fuzz/missing"}
	for _, f := range files {
		list = append(list, one.URL+"/r/fuzz/open/"+filepath.Base(filepath.Dir(f))+"/index.html")
	}
	for name := range wiles {
		list = append(list, one.URL+"/r/fuzz/wile/"+name)
	}
	slices.Sort(list)
	return list
}
