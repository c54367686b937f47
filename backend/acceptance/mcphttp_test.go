//go:build linux

package acceptance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpWeb is a running gofer-cli mcp --http.
type mcpWeb struct {
	*child
	t       *testing.T
	url     string
	address string
	token   string
	file    string // that holds the token
}

func serveMCP(t *testing.T, home string, args ...string) *mcpWeb {
	t.Helper()
	c := start(t, spec{home: home}, append([]string{"mcp", "--http=0", "--headless"}, args...)...)
	until(t, 30*time.Second, "the address is printed", func() bool { return strings.HasSuffix(c.stdout(), "/mcp\n") })
	w := &mcpWeb{child: c, t: t, url: strings.TrimSpace(c.stdout()), file: filepath.Join(home, "mcp", "client-default.token")}
	w.address = strings.TrimSuffix(strings.TrimPrefix(w.url, "http://"), "/mcp")
	w.token = w.tokenOf("default")
	return w
}

func (w *mcpWeb) tokenOf(client string) string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, "mcp", "client-"+client+".token"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}

// client connects as the client a token belongs to.
func (w *mcpWeb) client(token string) *mcpClient {
	w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(w.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: w.url, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { session.Close() })
	return &mcpClient{t: w.t, session: session, cmd: w.cmd}
}

type bearer string

func (token bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// answer is what came back on a connection, "" and 0 when it was closed.
type answer struct {
	status int
	header http.Header
	body   string
}

// say writes a request as it stands and reads the answer. Of a body the server
// does not want to hear it writes what it can.
func (w *mcpWeb) say(head, body string) answer {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Errorf("the server cannot be reached: %v", err)
		return answer{}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = io.WriteString(conn, head+"\r\n"+body) }()
	return hear(conn)
}

func hear(conn net.Conn) answer {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{}
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // it may be cut off
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

const mcpHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"dev","version":"1"}}}`

// head is a request that would be served, with fields put in place of others;
// an empty value takes the field out.
func (w *mcpWeb) head(line string, body string, changes ...string) string {
	fields := []string{
		"Host", w.address, "Authorization", "Bearer " + w.token, "Content-Type", "application/json",
		"Accept", "application/json, text/event-stream", "Content-Length", strconv.Itoa(len(body)), "Connection", "close",
	}
	for i := 0; i < len(changes); i += 2 {
		at := slices.Index(fields, changes[i])
		if at < 0 || at%2 == 1 {
			fields = append(fields, changes[i], changes[i+1])
			continue
		}
		fields[at+1] = changes[i+1]
	}
	text := line + "\r\n"
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] != "" {
			text += fields[i] + ": " + fields[i+1] + "\r\n"
		}
	}
	return text
}

func (w *mcpWeb) post(body string, changes ...string) answer {
	w.t.Helper()
	return w.say(w.head("POST /mcp HTTP/1.1", body, changes...), body)
}

// alive reports whether a client with a token is served, and ends its session.
func (w *mcpWeb) alive() bool {
	w.t.Helper()
	a := w.post(mcpHello)
	id := a.header.Get("Mcp-Session-Id")
	gone := w.say(w.head("DELETE /mcp HTTP/1.1", "", "Content-Type", "", "Mcp-Session-Id", id), "")
	return a.status == 200 && strings.Contains(a.body, `"serverInfo"`) && id != "" && gone.status == 204
}

// TestTheCasesOfMCPOverHTTP plays the cases of their kind.
func TestTheCasesOfMCPOverHTTP(t *testing.T) {
	raw, err := os.ReadFile("testdata/security/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Cases []struct {
			ID, Kind string
			Action   struct {
				HTTP struct {
					Method, Path string
					Headers      map[string]string
					Body         json.RawMessage
				}
			}
			Expect struct {
				Status   int   `json:"http_status"`
				StatusIn []int `json:"http_status_in"`
				Alive    bool  `json:"server_alive"`
			}
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	w := serveMCP(t, newHome(t))
	played := 0
	for _, c := range list.Cases {
		if c.Kind != "mcp-http" {
			continue
		}
		played++
		t.Run(c.ID, func(t *testing.T) {
			body := bodyOf(t, c.Action.HTTP.Body)
			changes := []string{"Authorization", ""}
			for name, value := range c.Action.HTTP.Headers {
				changes = append(changes, name, strings.ReplaceAll(value, "${TOKEN}", w.token))
			}
			got := w.say(w.head(c.Action.HTTP.Method+" "+c.Action.HTTP.Path+" HTTP/1.1", body, changes...), body)
			if want := append(c.Expect.StatusIn, c.Expect.Status); !slices.Contains(want, got.status) {
				t.Errorf("got %d %s, want one of %v", got.status, got.body, want)
			}
			if !w.alive() {
				t.Error("the server serves no more")
			}
		})
	}
	if played != 6 {
		t.Errorf("%d cases were played, want 6", played)
	}
}

// bodyOf is a body as the cases write it: text as it stands, anything else as
// JSON, with what is to be repeated repeated.
func bodyOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if text, ok := v.(string); ok {
		return text
	}
	var grow func(any) any
	grow = func(v any) any {
		m, ok := v.(map[string]any)
		if !ok {
			return v
		}
		if list, ok := m["$repeat"].([]any); ok {
			return strings.Repeat(list[0].(string), int(list[1].(float64)))
		}
		if inner, ok := m["$generate"]; ok {
			return grow(inner)
		}
		for k := range m {
			m[k] = grow(m[k])
		}
		return m
	}
	out, err := json.Marshal(grow(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestMCPOverHTTPRefusesOrSurvivesWhateverComes sends every kind of request
// that has no business here to the real program.
func TestMCPOverHTTPRefusesOrSurvivesWhateverComes(t *testing.T) {
	home := newHome(t)
	w := serveMCP(t, home, "--mode", "full")
	if code, out, _ := gofer(t, spec{home: home}, "mcp", "token", "other"); code != 0 || out != filepath.Join(home, "mcp", "client-other.token")+"\n" {
		t.Fatalf("another client: %d %q", code, out)
	}
	other := w.tokenOf("other")
	id := w.post(mcpHello).header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatal("there is no session")
	}
	port := w.address[strings.LastIndex(w.address, ":"):]
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	big := `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + strings.Repeat("A", 32<<20) + `"}}`
	deep := `{"jsonrpc":"2.0","id":2,"method":"ping","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + "}"
	post := func(body string, changes ...string) func() answer {
		return func() answer { return w.post(body, changes...) }
	}
	line := func(line string, changes ...string) func() answer {
		return func() answer {
			return w.say(w.head(line, "", append([]string{"Content-Type", "", "Content-Length", ""}, changes...)...), "")
		}
	}
	chunked := func(size int, end string) func() answer {
		return func() answer {
			body := fmt.Sprintf("%x\r\n%s\r\n%s", size, strings.Repeat(" ", size), end)
			return w.say(w.head("POST /mcp HTTP/1.1", "", "Content-Length", "", "Transfer-Encoding", "chunked"), body)
		}
	}
	held, kinds := 0, 0
	for _, c := range []struct {
		kind string
		send func() answer
		want []int // 0 is a closed connection
	}{
		{"no token", post(mcpHello, "Authorization", ""), []int{401}},
		{"a wrong token", post(mcpHello, "Authorization", "Bearer "+strings.Repeat("A", 43)), []int{401}},
		{"a cut token", post(mcpHello, "Authorization", "Bearer "+w.token[:42]), []int{401}},
		{"a token of another scheme", post(mcpHello, "Authorization", "Basic "+w.token), []int{401}},
		{"two tokens", post(mcpHello, "authorization", "Bearer "+w.token), []int{401}},
		{"a token in the address", func() answer {
			return w.say(w.head("POST /mcp?token="+w.token+"&access_token="+w.token+" HTTP/1.1", mcpHello, "Authorization", ""), mcpHello)
		}, []int{401}},
		{"a token in a cookie", post(mcpHello, "Authorization", "", "Cookie", "token="+w.token), []int{401}},
		{"a foreign host", post(mcpHello, "Host", "evil.test"), []int{403}},
		{"a name that was rebound", post(mcpHello, "Host", "evil.test"+port), []int{403}},
		{"a name that looks like ours", post(mcpHello, "Host", "localhost.evil.test"+port), []int{403}},
		{"our address at another port", post(mcpHello, "Host", "127.0.0.1:1"), []int{403}},
		{"no host", post(mcpHello, "Host", ""), []int{400, 403}},
		{"an absolute address of another host", func() answer {
			return w.say(w.head("POST http://evil.test/mcp HTTP/1.1", mcpHello), mcpHello)
		}, []int{403}},
		{"a foreign origin", post(mcpHello, "Origin", "http://evil.test"), []int{403}},
		{"a foreign origin without a token", post(mcpHello, "Origin", "http://evil.test", "Authorization", ""), []int{403}},
		{"the origin null", post(mcpHello, "Origin", "null"), []int{403}},
		{"the origin of another port", post(mcpHello, "Origin", "http://127.0.0.1:1"), []int{403}},
		{"our origin over https", post(mcpHello, "Origin", "https://"+w.address), []int{403}},
		{"a foreign origin that listens", line("GET /mcp HTTP/1.1", "Origin", "http://evil.test", "Mcp-Session-Id", id), []int{403}},
		{"a foreign origin that ends", line("DELETE /mcp HTTP/1.1", "Origin", "http://evil.test", "Mcp-Session-Id", id), []int{403}},
		{"a foreign origin that says it is none", post(mcpHello, "Origin", "http://evil.test", "Sec-Fetch-Site", "none"), []int{403}},
		{"a request across sites", post(mcpHello, "Sec-Fetch-Site", "cross-site"), []int{403}},
		{"a request of the same site", post(mcpHello, "Sec-Fetch-Site", "same-site"), []int{403}},
		{"a page that listens across sites", line("GET /mcp HTTP/1.1", "Sec-Fetch-Site", "cross-site", "Mcp-Session-Id", id), []int{403}},
		{"a question before a request across origins", line("OPTIONS /mcp HTTP/1.1", "Origin", "http://evil.test", "Access-Control-Request-Method", "POST"), []int{403}},
		{"such a question without an origin", line("OPTIONS /mcp HTTP/1.1", "Access-Control-Request-Method", "POST"), []int{405}},
		{"plain text", post(mcpHello, "Content-Type", "text/plain"), []int{415}},
		{"a form", post("a=b", "Content-Type", "application/x-www-form-urlencoded"), []int{415}},
		{"a form of parts", post("a=b", "Content-Type", "multipart/form-data; boundary=x"), []int{415}},
		{"no content type", post(mcpHello, "Content-Type", ""), []int{415}},
		{"a packed body", post(mcpHello, "Content-Encoding", "gzip"), []int{415}},
		{"a body of 32 MiB", post(big), []int{413}},
		{"a body of 32 MiB without a token", post(big, "Authorization", ""), []int{401, 413}},
		{"a body of 32 MiB in chunks", chunked(32<<20, "0\r\n\r\n"), []int{413}},
		{"a body that claims a terabyte", post("{", "Content-Length", "1099511627776"), []int{413}},
		{"a chunk that is broken", chunked(3, "zz\r\n"), []int{400}},
		{"two lengths", func() answer {
			return w.say(w.head("POST /mcp HTTP/1.1", mcpHello, "Transfer-Encoding", "chunked", "content-length", "5"), mcpHello)
		}, []int{400}},
		{"a header of 1 MiB", post(mcpHello, "X-Long", strings.Repeat("A", 1<<20)), []int{0, 431}},
		{"JSON 100,000 deep", post(deep), []int{400}},
		{"lists 100,000 deep", post(strings.Repeat("[", 100_000)), []int{400}},
		{"broken JSON", post("{"), []int{400}},
		{"no JSON at all", post("\xff\xfe\x00"), []int{400}},
		{"an empty body", post(""), []int{400}},
		{"a list of messages", post("["+ping+","+ping+"]", "Mcp-Session-Id", id), []int{400}},
		{"two messages", post(ping+ping, "Mcp-Session-Id", id), []int{400}},
		{"no message", post(`{"jsonrpc":"2.0"}`, "Mcp-Session-Id", id), []int{400, 202}},
		{"a method that is not there", post(`{"jsonrpc":"2.0","id":3,"method":"never/heard/of"}`, "Mcp-Session-Id", id), []int{200, 400}},
		{"an answer to nothing", post(`{"jsonrpc":"2.0","id":99,"result":{}}`, "Mcp-Session-Id", id), []int{202, 400}},
		{"a version that is not there", post(ping, "Mcp-Session-Id", id, "Mcp-Protocol-Version", "1999-01-01"), []int{400}},
		{"a call without a session", post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), []int{400}},
		{"a stream without a session", line("GET /mcp HTTP/1.1"), []int{400}},
		{"the end of no session", line("DELETE /mcp HTTP/1.1"), []int{400}},
		{"a session that is not there", post(ping, "Mcp-Session-Id", "AAAA"), []int{404}},
		{"the session of another client", post(ping, "Mcp-Session-Id", id, "Authorization", "Bearer "+other), []int{404}},
		{"the stream of another client", line("GET /mcp HTTP/1.1", "Mcp-Session-Id", id, "Authorization", "Bearer "+other), []int{404}},
		{"the end of another client's session", line("DELETE /mcp HTTP/1.1", "Mcp-Session-Id", id, "Authorization", "Bearer "+other), []int{404}},
		{"a stream to be gone on with", line("GET /mcp HTTP/1.1", "Mcp-Session-Id", id, "Last-Event-ID", "x_1"), []int{400}},
		{"another method", line("PUT /mcp HTTP/1.1"), []int{405}},
		{"TRACE", line("TRACE /mcp HTTP/1.1"), []int{405}},
		{"CONNECT", line("CONNECT evil.test:443 HTTP/1.1"), []int{403, 404, 405}},
		{"another path", line("GET / HTTP/1.1"), []int{404}},
		{"a path upwards", line("GET /mcp/../../etc/passwd HTTP/1.1"), []int{404}},
		{"HTTP/1.0 without a host", func() answer {
			return w.say(w.head("POST /mcp HTTP/1.0", mcpHello, "Host", ""), mcpHello)
		}, []int{403}},
		{"HTTP/1.0", func() answer { return w.say(w.head("POST /mcp HTTP/1.0", mcpHello), mcpHello) }, []int{200}},
		{"HTTP/2 that was not agreed on", func() answer { return w.say("PRI * HTTP/2.0\r\n\r\nSM\r\n", "") }, []int{0, 400, 505, 403}},
		{"no HTTP", func() answer { return w.say("\x16\x03\x01\x02\x00\x01\x00", "") }, []int{0, 400}},
		{"a head that never ends", func() answer { return w.drip(200 * time.Millisecond) }, []int{0, 400, 408}},
	} {
		got := c.send()
		kinds++
		if slices.Contains(c.want, got.status) {
			held++
		} else {
			t.Errorf("%s: got %d %.300q, want one of %v", c.kind, got.status, got.body, c.want)
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: got the header %s", c.kind, name)
			}
		}
		if strings.Contains(got.body, w.token) || strings.Contains(got.body, other) {
			t.Errorf("%s: the answer holds a token", c.kind)
		}
		if !w.alive() {
			t.Fatalf("%s: the server serves no more; it said:\n%s", c.kind, w.stderr())
		}
	}
	t.Logf("%d of %d kinds were refused or survived", held, kinds)
	if got := w.post(ping, "Mcp-Session-Id", id); got.status != 200 {
		t.Errorf("the session after all of it: %d %s", got.status, got.body)
	}
	w.private()
	if n := strings.Count(w.stdout(), "\n"); n != 1 || strings.Contains(w.stdout()+w.stderr(), w.token) {
		t.Errorf("the server said %q and %q, want one line and no token", w.stdout(), w.stderr())
	}
}

// drip sends a head byte by byte and never ends it.
func (w *mcpWeb) drip(pause time.Duration) answer {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Error(err)
		return answer{}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	for i := 0; ; i++ {
		if _, err := conn.Write([]byte("POST /mcp HTTP/1.1\r\nX: " + strings.Repeat("y", 200))[i%200 : i%200+1]); err != nil {
			return hear(conn)
		}
		time.Sleep(pause)
		if i > 45 {
			return answer{status: 200} // it was listened to for too long
		}
	}
}

// private checks that nobody but the user has a way to the server.
func (w *mcpWeb) private() {
	w.t.Helper()
	for file, want := range map[string]os.FileMode{w.file: 0o600, filepath.Dir(w.file): 0o700, w.dir: 0o700} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != want {
			w.t.Errorf("%s: got %v, %v, want %o", file, info.Mode().Perm(), err, want)
		}
	}
	if list := listeners(w.t, w.cmd.Process.Pid); len(list) != 1 || list[0] != w.address {
		w.t.Errorf("the process listens on %v, want only %s", list, w.address)
	}
}

// listeners are the TCP addresses a process listens on.
func listeners(t *testing.T, pid int) []string {
	t.Helper()
	own := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		to, _ := os.Readlink(fd)
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var list []string
	for _, file := range []string{"tcp", "tcp6"} {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, file))
		for text := range strings.Lines(string(raw)) {
			f := strings.Fields(text)
			if len(f) < 10 || f[3] != "0A" || !own[f[9]] {
				continue
			}
			host, port, _ := strings.Cut(f[1], ":")
			n, _ := strconv.ParseUint(port, 16, 16)
			if host == "0100007F" {
				host = "127.0.0.1"
			}
			list = append(list, net.JoinHostPort(host, strconv.FormatUint(n, 10)))
		}
	}
	return list
}

func TestMCPOverHTTPLooksOnlyUntilMoreIsGiven(t *testing.T) {
	home, ws := newHome(t), t.TempDir()
	w := serveMCP(t, home, "--mode", "ask", "--workspace", ws)
	if code, _, out := gofer(t, spec{home: home}, "mcp", "token", "writer", "--mode", "full", "--allow", "write: "+filepath.Join(ws, "granted.txt")); code != 0 {
		t.Fatal(out)
	}
	reader, writer := w.client(w.token), w.client(w.tokenOf("writer"))
	write := func(c *mcpClient, name string) (string, bool) {
		return c.call("fs_write", map[string]any{"path": name, "content": "x"})
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(ws, name))
		return err == nil
	}
	for c, tools := range map[*mcpClient][]string{reader: {"granted.txt", "other.txt"}, writer: {"other.txt"}} {
		for _, name := range tools {
			if text, ok := write(c, name); ok || there(name) || !strings.Contains(text, "Missing grant") {
				t.Errorf("%s was written: %s", name, text)
			}
		}
	}
	for _, call := range []string{"touch made", "echo x > made", "rm -rf ."} {
		if text, ok := reader.call("shell_exec", map[string]any{"command": call}); ok || there("made") {
			t.Errorf("%s: %s", call, text)
		}
	}
	if text, ok := write(writer, "granted.txt"); !ok || !there("granted.txt") {
		t.Errorf("the granted write: %s", text)
	}
	if text, ok := reader.call("fs_read", map[string]any{"path": "granted.txt"}); !ok {
		t.Errorf("a read: %s", text)
	}
	if code, _, out := gofer(t, spec{home: home}, "mcp", "token", "writer", "--revoke"); code != 0 {
		t.Fatal(out)
	}
	if text, ok := write(writer, "granted.txt"); ok {
		t.Errorf("after the token was taken back: %s", text)
	}
}

func TestClientsOverHTTPShareTheHostsBrowserAndKeepTheirTabs(t *testing.T) {
	home, site := t.TempDir(), numbered(t)
	host := connect(t, home, "host") // over standard input and output; the other is served by it
	host.must("browser_open", map[string]any{"url": site + "/host"})
	w := serveMCP(t, home, "--allow", "visit: "+site)
	first, second := w.client(w.token), w.client(w.token)
	first.must("browser_open", map[string]any{"url": site + "/one"})
	second.must("browser_open", map[string]any{"url": site + "/two"})
	for c, want := range map[*mcpClient]string{first: "/one", second: "/two", host: "/host"} {
		if got := c.must("browser_tabs", map[string]any{"action": "list"}); strings.Count(got, "\n") != 0 || !strings.Contains(got, want) {
			t.Errorf("tabs: %s, want one with %s", got, want)
		}
	}
	roots := processes(func(args string) bool {
		return strings.Contains(args, "--user-data-dir="+home+"/") && !strings.Contains(args, "--type=")
	})
	if n := len(roots); n != 1 {
		t.Errorf("%d browsers run, want one for all", n)
	}
	if err := second.session.Close(); err != nil {
		t.Errorf("leave: %v", err)
	}
	if got := first.must("browser_snapshot", nil); !strings.Contains(got, "this is /one") {
		t.Errorf("after the other left: %s", got)
	}
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	if code := w.code(t, 20*time.Second); code != 0 {
		t.Errorf("the server ended with %d: %s", code, w.stderr())
	}
	if got := host.must("browser_snapshot", nil); !strings.Contains(got, "this is /host") {
		t.Errorf("the host after the server ended: %s", got)
	}
	if err := host.session.Close(); err != nil {
		t.Errorf("leave: %v", err)
	}
	noBrowser(t, home)
}

func TestAClientOverHTTPThatVanishesLeavesNothing(t *testing.T) {
	home, site := newHome(t), numbered(t)
	if code, _, out := gofer(t, spec{home: home}, "mcp", "token", "default", "--mode", "full"); code != 0 {
		t.Fatal(out)
	}
	w := serveMCP(t, home, "--mode", "full")
	running := func() int {
		return len(processes(func(args string) bool { return strings.Contains(args, "sleep\x00271.33") }))
	}
	begin := func() (net.Conn, string) {
		id := w.post(mcpHello).header.Get("Mcp-Session-Id")
		if got := w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id); got.status != 202 {
			t.Fatalf("initialized: %+v", got)
		}
		body := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shell_exec","arguments":{"command":"(sleep 271.33 & sleep 271.33)"}}}`
		conn, err := net.Dial("tcp", w.address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, w.head("POST /mcp HTTP/1.1", body, "Mcp-Session-Id", id)+"\r\n"+body); err != nil {
			t.Fatal(err)
		}
		until(t, 20*time.Second, "the command runs", func() bool { return running() == 2 })
		return conn, id
	}
	conn, _ := begin()
	conn.Close()
	until(t, 5*time.Second, "the command of the client that vanished has ended", func() bool { return running() == 0 })

	conn, id := begin()
	if got := w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, "Mcp-Session-Id", id); got.status != 202 {
		t.Errorf("cancel: %+v", got)
	}
	until(t, 5*time.Second, "the cancelled command has ended", func() bool { return running() == 0 })
	conn.Close()

	c := w.client(w.token)
	c.must("browser_open", map[string]any{"url": site + "/one"})
	conn, _ = begin()
	defer conn.Close()
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	if code := w.code(t, 20*time.Second); code != 0 {
		t.Errorf("the server ended with %d: %s", code, w.stderr())
	}
	if n := running(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	noBrowser(t, home)
}
