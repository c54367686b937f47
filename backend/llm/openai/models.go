package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gofer/backend/llm"
)

// listLimit bounds the wait for a list of models.
const listLimit = 15 * time.Second

// ListModels returns the names of the models the server offers, in its order.
// A server without a list is still usable: the error then is no reason to
// refuse it.
func (c *Client) ListModels(ctx context.Context) ([]string, error) {
	limited, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	var res *http.Response
	if err := c.sdk.Get(limited, "models", nil, &res); err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			err = &timeout{errFirstByte, listLimit}
		}
		return nil, c.asError(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxEvent))
	if err != nil {
		return nil, c.asError(ctx, err)
	}
	names, err := modelNames(body)
	if err != nil {
		return nil, c.asError(ctx, err)
	}
	return names, nil
}

// modelNames reads a list of models: under data or models, or bare.
func modelNames(body []byte) ([]string, error) {
	if start := strings.TrimSpace(string(body[:min(len(body), 64)])); strings.HasPrefix(start, "<") {
		return nil, errWebPage
	}
	if !json.Valid(body) {
		return nil, errNotJSON
	}
	list := asList(body)
	if o := asObject(body); o != nil {
		if said, ok := serverSays(o, false); ok {
			return nil, said
		}
		if list = asList(o["data"]); list == nil {
			list = asList(o["models"])
		}
		if list == nil && o["data"] == nil && o["models"] == nil {
			return nil, errNotJSON
		}
	}
	names := []string{}
	seen := map[string]bool{}
	for _, raw := range list {
		var name string
		if json.Unmarshal(raw, &name) != nil {
			o := asObject(raw)
			if name = o.str("id"); name == "" {
				name = o.str("name")
			}
		}
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// CleanBase makes a base URL of what a person typed: it adds a missing scheme
// and drops the ends that belong to single requests.
func CleanBase(typed string) (string, error) {
	s := strings.TrimSpace(typed)
	if s == "" {
		return "", fmt.Errorf("the base URL is empty")
	}
	if !strings.Contains(s, "://") {
		scheme := "https://"
		host, _, _ := strings.Cut(s, "/")
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate()) {
			scheme = "http://"
		}
		s = scheme + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is no base URL; it looks like https://api.example.com/v1", typed)
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	for {
		path := strings.TrimRight(u.Path, "/")
		for _, end := range []string{"/chat/completions", "/completions", "/models", "/responses", "/embeddings", "/chat"} {
			path = strings.TrimSuffix(path, end)
		}
		if path == u.Path {
			return u.String(), nil
		}
		u.Path = path
	}
}

// Probe finds the base URL of a server whose address was given without a path:
// with /v1 or without. It returns the base URL to use and the models listed
// there; when neither lists any, the one with /v1 and the error of that try.
func Probe(ctx context.Context, o Options) (base string, models []string, err error) {
	if base, err = CleanBase(o.BaseURL); err != nil {
		return "", nil, &llm.Error{Kind: llm.BadRequest, Message: "The base URL cannot be used: " + err.Error() + ".", Hint: "Correct it in the settings of this provider."}
	}
	tries := []string{base}
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		tries = []string{base + "/v1", base}
	}
	var first error
	for _, try := range tries {
		o.BaseURL = try
		models, err := New(o).ListModels(ctx)
		if err == nil {
			return try, models, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return tries[0], nil, first
}
