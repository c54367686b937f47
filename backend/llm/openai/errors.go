package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gofer/backend/llm"
)

// What a server may send instead of a reply.
var (
	errEmpty   = errors.New("the server sent an empty reply")
	errWebPage = errors.New("the server sent a web page")
	errNotJSON = errors.New("the server sent something that is no chat completion")
)

// serverError is an error object of a server, in whatever shape it came.
type serverError struct {
	message, code, kind string
	status              int
}

func (e *serverError) Error() string { return e.message }

// serverSays reads an error object out of an event or a reply. sure says that
// the event was named as an error.
func serverSays(o object, sure bool) (*serverError, bool) {
	if raw, ok := o["error"]; ok && !isNull(raw) && string(raw) != "false" {
		return readError(raw), true
	}
	if len(o["choices"]) == 0 && (sure || o.str("object") == "error" || o.str("error_message") != "" || o.str("detail") != "") {
		raw, _ := json.Marshal(o)
		return readError(raw), true
	}
	return nil, false
}

// readError takes message, code and type from the value of an error, which is
// a string, an object, a list, or an object around one of these.
func readError(raw json.RawMessage) *serverError {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return &serverError{message: s}
	}
	if list := asList(raw); len(list) > 0 {
		return readError(list[0])
	}
	o := asObject(raw)
	if inner := o["error"]; !isNull(inner) {
		e := readError(inner)
		if e.code == "" {
			e.code = o.str("code")
		}
		return e
	}
	e := &serverError{code: o.str("code"), kind: o.str("type")}
	if e.kind == "" {
		e.kind = o.str("status") + o.str("error_type")
	}
	for _, name := range []string{"message", "detail", "error_message", "msg"} {
		if e.message = o.str(name); e.message != "" {
			break
		}
		if inner := o[name]; !isNull(inner) {
			if e.message = readError(inner).message; e.message != "" {
				break
			}
		}
	}
	if n, err := strconv.Atoi(e.code); err == nil && n >= 400 && n < 600 {
		e.status = n
	}
	return e
}

// asError turns whatever went wrong into the error the app knows.
func (c *Client) asError(ctx context.Context, err error) *llm.Error {
	var known *llm.Error
	var refused *refusal
	var said *serverError
	var limit *timeout
	name := c.options.Name
	out := &llm.Error{Cause: errors.New(c.clean(err.Error()))}
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		out.Kind, out.Message, out.Cause = llm.Cancelled, "The request was stopped.", ctx.Err()
	case errors.As(err, &refused):
		c.refused(out, refused)
	case errors.As(err, &said):
		c.judge(out, said)
	case errors.As(err, &limit):
		overdue(out, name, limit)
	case errors.Is(err, errWebPage):
		out.Kind, out.Message = llm.Protocol, name+" answered with a web page."
		out.Hint = c.baseHint()
		out.Message = fmt.Sprintf("%s answered with a web page instead of a reply; the base URL may be wrong.", name)
	case errors.Is(err, errEmpty):
		out.Kind, out.Retryable, out.Message = llm.Protocol, true, name+" sent an empty reply."
		out.Hint = "Try again; if it stays so, pick another model."
	case errors.Is(err, errNotJSON), errors.Is(err, errTooLarge):
		out.Kind, out.Message = llm.Protocol, fmt.Sprintf("%s sent something that is no chat completion; the base URL may be wrong.", name)
		out.Hint = c.baseHint()
	case errors.Is(err, errEarlyEnd):
		out.Kind, out.Retryable, out.Message = llm.StreamBroken, true, name+" ended the reply too early."
	default:
		c.network(out, err)
	}
	return out
}

func (c *Client) baseHint() string {
	return "Check the base URL of this provider; requests go to " + c.options.BaseURL + "/chat/completions."
}

func overdue(out *llm.Error, name string, t *timeout) {
	out.Kind, out.Retryable = llm.StreamBroken, true
	switch {
	case errors.Is(t, errCeiling):
		out.Retryable = false
		out.Message = fmt.Sprintf("%s was still sending after %s.", name, t.after)
		out.Hint = "Ask for less at once, or raise the limit of this provider."
	case errors.Is(t, errFirstByte):
		out.Message = fmt.Sprintf("%s sent nothing for %s.", name, t.after)
		out.Hint = "The model may still be loading; try again, or raise the limit of this provider."
	default:
		out.Message = fmt.Sprintf("%s fell silent for %s in the middle of its reply.", name, t.after)
	}
}

// network judges what went wrong below HTTP.
func (c *Client) network(out *llm.Error, err error) {
	var dns *net.DNSError
	var op *net.OpError
	var setting *errNetwork
	name := c.options.Name
	print, certificate := unproven(err)
	switch {
	case errors.As(err, &setting):
		out.Kind, out.Message, out.Hint = llm.Unreachable, setting.message, setting.hint
	case certificate:
		out.Kind, out.Message = llm.Unreachable, fmt.Sprintf("The certificate of %s could not be checked.", c.host)
		out.Hint = fmt.Sprintf("If this is your own server and its certificate has the SHA-256 fingerprint %s, accept that in the settings of this provider.", print)
		out.Certificate = print
	case errors.As(err, &dns):
		out.Kind, out.Retryable, out.Message = llm.Unreachable, true, fmt.Sprintf("The host %s was not found.", dns.Name)
		out.Hint = "Check the base URL and the network connection."
	case errors.As(err, &op) && op.Op == "dial":
		out.Kind, out.Retryable, out.Message = llm.Unreachable, true, fmt.Sprintf("%s cannot be reached at %s.", name, c.host)
		out.Hint = "Check that the server runs and that the base URL is right."
	default:
		out.Kind, out.Retryable, out.Message = llm.StreamBroken, true, fmt.Sprintf("The connection to %s broke.", name)
	}
}

// refused judges an HTTP answer that is no reply.
func (c *Client) refused(out *llm.Error, r *refusal) {
	said := &serverError{}
	page := strings.HasPrefix(strings.TrimSpace(string(r.body)), "<")
	if json.Valid(r.body) {
		said = readError(r.body)
	} else if !page {
		said.message = string(r.body)
	}
	said.status = r.status
	out.RetryAfter = retryAfter(r.header, time.Now())
	c.judge(out, said)
	switch {
	case r.status < 400:
		out.Kind, out.Retryable = llm.Protocol, false
		out.Message, out.Hint = c.options.Name+" redirects requests elsewhere; the base URL is not right.", c.baseHint()
	case page && out.Kind == llm.BadRequest:
		out.Kind = llm.Protocol
		out.Message = fmt.Sprintf("%s answered with a web page (status %d); the base URL may be wrong.", c.options.Name, r.status)
		out.Hint = c.baseHint()
	}
}

// judge finds the kind of an error from its status, code and words.
func (c *Client) judge(out *llm.Error, e *serverError) {
	name, detail := c.options.Name, c.clean(e.message)
	words := strings.ToLower(e.message + " " + e.code + " " + e.kind)
	out.Status = e.status
	sentence := func(format string, args ...any) {
		out.Message = fmt.Sprintf(format, args...)
		if detail != "" {
			out.Message += ": " + detail
		}
		if !strings.HasSuffix(out.Message, ".") {
			out.Message += "."
		}
	}
	switch kindOf(e.status, e.code, words) {
	case llm.Auth:
		out.Kind, out.Hint = llm.Auth, "Check the key of this provider."
		sentence("%s did not accept the key", name)
		if c.options.Key == "" {
			out.Hint = "Add the key of this provider."
		}
	case llm.Quota:
		out.Kind, out.Hint = llm.Quota, "Look at the account with the provider, or pick another one."
		sentence("%s says that the quota or the balance of this account is used up", name)
	case llm.RateLimit:
		out.Kind, out.Retryable, out.Hint = llm.RateLimit, true, "Wait a little and try again."
		sentence("%s asks to go slower", name)
	case llm.ContextLength:
		out.Kind, out.Hint = llm.ContextLength, "Shorten the conversation or pick a model with a larger context."
		sentence("The conversation is too long for this model")
	case llm.Overloaded:
		out.Kind, out.Retryable, out.Hint = llm.Overloaded, true, "Try again in a moment."
		if e.status > 0 {
			sentence("%s cannot answer now (status %d)", name, e.status)
		} else {
			sentence("%s cannot answer now", name)
		}
	default:
		out.Kind = llm.BadRequest
		out.Retryable = strings.Contains(words, "tool_use_failed")
		switch {
		case e.status == http.StatusNotFound:
			sentence("%s knows no such model or address (status 404)", name)
			out.Hint = "Check the model name and the base URL."
		case e.status > 0:
			sentence("%s refused the request (status %d)", name, e.status)
		default:
			sentence("%s refused the request", name)
		}
	}
}

var (
	quotaWords   = []string{"insufficient_quota", "exceeded your current quota", "credit_balance", "credit balance", "spend_limit", "usage_limit", "insufficient balance", "insufficient_balance", "insufficient credit", "billing", "payment required", "out of credits", "arrearage", "余额不足"}
	contextWords = []string{
		"context_length", "context length", "exceed_context_size", "context size", "context window", "maximum context", "maximum prompt length",
		"prompt is too long", "input is too long", "too many tokens", "input length", "range of input length", "reduce the length", "larger than the context", "model's context", "tokens to keep from the initial prompt",
	}
	authWords = []string{"api key not valid", "api_key_invalid", "invalid api key", "incorrect api key", "invalid_api_key", "authentication", "unauthorized"}
	busyWords = []string{"overloaded", "at capacity", "capacity", "server is busy", "temporarily unavailable", "internal_server_error", "server_error", "timeout"}
)

func kindOf(status int, code, words string) llm.ErrorKind {
	has := func(list []string) bool {
		for _, w := range list {
			if strings.Contains(words, w) {
				return true
			}
		}
		return false
	}
	switch code {
	case "1113", "1308", "1309", "1310":
		return llm.Quota
	case "1302", "1303", "1305":
		return llm.RateLimit
	}
	switch {
	case status == http.StatusPaymentRequired:
		return llm.Quota
	case status == http.StatusTooManyRequests:
		if has(quotaWords) {
			return llm.Quota
		}
		return llm.RateLimit
	case status == http.StatusUnauthorized:
		return llm.Auth
	case has(contextWords), status == http.StatusRequestEntityTooLarge:
		return llm.ContextLength
	case status == http.StatusForbidden:
		if has(quotaWords) {
			return llm.Quota
		}
		return llm.Auth
	case status == http.StatusRequestTimeout, status >= 500:
		return llm.Overloaded
	case has(quotaWords) && status < 404:
		return llm.Quota
	case has(authWords) && status < 404:
		return llm.Auth
	case status == 0 && strings.Contains(words, "rate limit"), status == 0 && strings.Contains(words, "rate_limit"):
		return llm.RateLimit
	case status == 0 && has(busyWords):
		return llm.Overloaded
	}
	return llm.BadRequest
}

// retryAfter reads how long the server wants to be left alone.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

var (
	keyLike = regexp.MustCompile(`(?i)\b(?:bearer\s+|sk-|gsk_|xai-|key-|AIza)[A-Za-z0-9_*.\-]{4,}`)
	tagLike = regexp.MustCompile(`<[a-zA-Z!/][^>]*>`)
)

// maxDetail is how much of a server's words a person gets to read.
const maxDetail = 400

// clean makes a server's words fit to show: one line, no key, no page source.
func (c *Client) clean(s string) string {
	if c.options.Key != "" {
		s = strings.ReplaceAll(s, c.options.Key, "***")
	}
	s = keyLike.ReplaceAllString(s, "***")
	s = tagLike.ReplaceAllString(s, " ")
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > maxDetail {
		s = string(r[:maxDetail]) + "…"
	}
	return s
}
