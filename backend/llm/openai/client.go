// Package openai speaks chat completions with every server that calls itself
// compatible. openai-go builds and sends the request; the reply is read here,
// since servers differ most in what they send back.
//
// It promises that nothing comes from the environment but a proxy, that a key
// goes to the given server and nowhere else, never into an error, and that a
// call ends: each wait has a limit, and any byte counts as a sign of life.
package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"gofer/backend/llm"
)

// Options say which server to speak to and how.
type Options struct {
	Name      string // of the provider, for sentences; empty takes the host
	BaseURL   string // as CleanBase leaves it
	Key       string // empty sends no key
	Model     string
	Profile   llm.Profile
	Sampling  llm.Sampling
	Limits    llm.Limits                                            // zero fields take llm.DefaultLimits
	Vision    bool                                                  // the model sees pictures
	LoadBlob  func(ctx context.Context, key string) ([]byte, error) // bytes of a picture
	UserAgent string                                                // empty takes Gofer
	Network   Network
	Learned   []string               // what refusals have taught earlier
	Learn     func(learned []string) // told when a refusal teaches something; all of it each time
}

// Client is a model on one server.
type Client struct {
	options Options
	host    string
	sdk     openai.Client

	mu      sync.Mutex
	profile llm.Profile // the given one and what refusals have taught
	learned []string    // refusals already acted on
	offered *offered    // the tools of the last request
}

var _ llm.Model = (*Client)(nil)

// New makes a client. It sends nothing.
func New(o Options) *Client {
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	o.Limits = withDefaults(o.Limits)
	c := &Client{options: o, profile: teach(o.Profile, o.Learned), learned: o.Learned}
	if u, err := url.Parse(o.BaseURL); err == nil {
		c.host = u.Host
	}
	if c.options.Name == "" {
		c.options.Name = c.host
	}
	// A literal, because NewClient would read keys from the environment.
	c.sdk = openai.Client{Options: c.sdkOptions()}
	return c
}

func (c *Client) sdkOptions() []option.RequestOption {
	o := c.options
	agent := o.UserAgent
	if agent == "" {
		agent = "Gofer"
	}
	list := []option.RequestOption{
		option.WithBaseURL(o.BaseURL + "/"),
		option.WithHTTPClient(httpClient(o.Limits, o.Network)),
		option.WithMaxRetries(0),
		option.WithMiddleware(c.refusals),
		option.WithHeader("User-Agent", agent),
	}
	for _, h := range []string{"Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Retry-Count", "Timeout"} {
		list = append(list, option.WithHeaderDel("X-Stainless-"+h))
	}
	switch {
	case o.Key == "":
		list = append(list, option.WithHeaderDel("Authorization"))
	case o.Profile.KeyHeader != "":
		list = append(list, option.WithHeader(o.Profile.KeyHeader, o.Key))
	default:
		list = append(list, option.WithHeader("Authorization", "Bearer "+o.Key))
	}
	return list
}

// Model returns the name of the model.
func (c *Client) Model() string { return c.options.Model }

// BaseURL returns the address requests go below.
func (c *Client) BaseURL() string { return c.options.BaseURL }

// refusal is an HTTP answer that is no reply, before it has become a sentence.
type refusal struct {
	status int
	header http.Header
	body   []byte
}

func (r *refusal) Error() string { return http.StatusText(r.status) }

// maxErrorBody is how much of a refusal is read.
const maxErrorBody = 1 << 20

// refusals takes answers that are no reply out of the library's hands, which
// would lose the status of some.
func (c *Client) refusals(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil || res.StatusCode < 300 {
		return res, err
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	return nil, &refusal{status: res.StatusCode, header: res.Header, body: body}
}

// Stream asks for one reply. A server that refuses a field is asked once more
// without it, and the client remembers; each lesson is learned once.
func (c *Client) Stream(ctx context.Context, req llm.Request, emit func(llm.Delta)) (llm.Reply, error) {
	if emit == nil {
		emit = func(llm.Delta) {}
	}
	var notes []string
	for {
		reply, sent, err := c.once(ctx, req, emit)
		if note := c.learn(err, sent); note != "" {
			notes = append(notes, note)
			continue
		}
		reply.Notes = append(notes, reply.Notes...)
		if err != nil {
			return reply, err
		}
		return reply, nil
	}
}

// once sends one request and reads its reply. It also returns the fields of
// the request that the person has set.
func (c *Client) once(ctx context.Context, req llm.Request, emit func(llm.Delta)) (llm.Reply, []string, error) {
	c.mu.Lock()
	b := builder{profile: c.profile, options: c.options, host: c.host, offered: c.offered}
	c.mu.Unlock()
	params, err := b.build(ctx, req)
	if err != nil {
		return llm.Reply{}, nil, c.asError(ctx, err)
	}
	c.mu.Lock()
	c.offered = b.offered
	c.mu.Unlock()
	guarded, watch := watchOver(ctx, c.options.Limits)
	defer watch.stop()
	var res *http.Response
	if err := c.sdk.Post(guarded, "chat/completions", params, &res, option.WithHeader("Accept", "text/event-stream, application/json")); err != nil {
		return llm.Reply{}, b.set, c.asError(ctx, watch.reason(err))
	}
	defer res.Body.Close()
	acc := newAccumulator(b.sent, func(d llm.Delta) {
		d.Name = b.ourName(d.Name)
		emit(d)
	})
	acc.follow(b.profile)
	err = acc.read(watch.body(res.Body))
	var mistake *llm.Error
	if err != nil && !errors.As(err, &mistake) {
		err = watch.reason(err)
	}
	reply, err := acc.reply(err)
	for i := range reply.Calls {
		reply.Calls[i].Name = b.ourName(reply.Calls[i].Name)
	}
	if reply.Model == "" {
		reply.Model = c.options.Model
	}
	reply.Replay = acc.replay(c.host)
	if err != nil {
		return reply, b.set, c.asError(ctx, err)
	}
	if b.withheld {
		reply.Notes = append(reply.Notes, "This model reads text only; pictures are left out.")
	}
	return reply, nil, nil
}
