package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxBody bounds one message over HTTP.
	maxBody = 4 << 20
	// maxDepth is how deep the objects and lists of a message may lie in each
	// other.
	maxDepth = 100
	// Path is the one thing there is on the server.
	Path = "/mcp"
)

// refusal is a request that is not served.
type refusal struct {
	status  int
	code    int // of JSON-RPC
	message string
	header  map[string]string
}

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status: status, code: jsonrpc.CodeInvalidRequest, message: fmt.Sprintf(format, args...)}
}

func (r *refusal) with(name, value string) *refusal {
	r.header = map[string]string{name: value}
	return r
}

// write answers in the form MCP clients read. What is left of the request is
// not waited for.
func (r *refusal) write(w http.ResponseWriter) {
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that has gone needs no answer
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": r.code, "message": r.message},
	})
}

// judgeHead looks at everything a request says before its body, as a page of a
// browser could have sent it, and returns why it is not served.
func (h *httpServer) judgeHead(r *http.Request) *refusal {
	// A page that had its own name point here would send that name.
	if !slices.Contains(h.hosts, r.Host) {
		return refuse(http.StatusForbidden, "The host %q is not this server.", r.Host)
	}
	// Pages of other sites, also of other ports of this computer. The library
	// looks only at methods that change something, so GET is looked at here.
	origin, site := r.Header.Values("Origin"), r.Header.Get("Sec-Fetch-Site")
	if len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+r.Host || site != "" && site != "same-origin" && site != "none" {
		return refuse(http.StatusForbidden, "Pages of other sites are not served.")
	}
	if err := h.cross.Check(r); err != nil {
		return refuse(http.StatusForbidden, "Pages of other sites are not served.")
	}
	if r.URL.Path != Path {
		return refuse(http.StatusNotFound, "There is nothing here but %s.", Path)
	}
	switch r.Method {
	case http.MethodGet, http.MethodDelete:
		if r.ContentLength != 0 {
			return refuse(http.StatusBadRequest, "%s takes no body.", r.Method)
		}
		return nil
	case http.MethodPost:
	default:
		return refuse(http.StatusMethodNotAllowed, "There are GET, POST and DELETE.").with("Allow", "GET, POST, DELETE")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "The content type must be application/json.")
	}
	if r.Header.Get("Content-Encoding") != "" {
		return refuse(http.StatusUnsupportedMediaType, "Packed messages are not taken.")
	}
	if r.ContentLength > maxBody {
		return refuse(http.StatusRequestEntityTooLarge, "The message is over 4 MiB.")
	}
	return nil
}

// bearer returns the token of a request; one in the address does not count.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// judgeBody returns why a message is not handed on.
func judgeBody(raw []byte) *refusal {
	switch {
	case depth(raw) > maxDepth:
		return refuse(http.StatusBadRequest, "The message lies more than %d levels deep.", maxDepth)
	case !json.Valid(raw):
		return &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeParseError, message: "This is not JSON. Send one JSON-RPC message."}
	case bytes.TrimLeft(raw, " \t\r\n")[0] != '{':
		return refuse(http.StatusBadRequest, "Send one message per request; lists of messages are not taken.")
	}
	return nil
}

// depth is how deep objects and lists lie in each other, whether or not the
// text is JSON.
func depth(raw []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// hostsOf are the names by which an address may be asked for.
func hostsOf(address net.Addr) []string {
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return nil
	}
	return []string{address.String(), net.JoinHostPort("localhost", port)}
}
