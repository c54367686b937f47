// Package tour is the guided tour: a small site and a scripted model, both
// served on this machine by the app itself. Nothing else in the app knows about
// it; it is a provider and a web page. It is labelled "scripted, no model".
//
// The script holds no link, no reference and no text of the site: all of them
// come from tool results, so the site may change and the tour still ends right.
package tour

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"gofer/backend/llm/script"
)

// Model is the name the scripted model answers to, and what it is.
const (
	Model = "guided-tour"
	Label = "scripted, no model"
	Title = "Guided tour"
)

// PromptStart begins the prompt of every tour.
const PromptStart = "Take the guided tour of "

// Tour is a running tour. Close it when its run has ended.
type Tour struct {
	BaseURL    string // of the scripted model
	Model      string
	SiteOrigin string // the only loopback origin a tour needs
	Prompt     string // what to send

	model *script.Server
	site  *http.Server
	done  chan struct{}
}

// Start serves a tour.
func Start() (*Tour, error) { return start(builtIn(), gentle) }

// Pace is how fast the scripted model speaks.
type pace struct {
	between int // milliseconds between two words
	first   int // before the first
	wait    int // for an answer to the question
}

var gentle = pace{between: 18, first: 120, wait: 15000}

func start(s site, p pace) (*Tour, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the tour's site: %w", err)
	}
	t := &Tour{Model: Model, SiteOrigin: "http://" + l.Addr().String(), done: make(chan struct{})}
	t.Prompt = PromptStart + t.SiteOrigin + "/ — read every article, keep its picture, write a short summary of each, and list the links in links.txt."
	player := script.New(theScript(t.Prompt, p))
	player.Forget = true
	if t.model, err = player.Serve("127.0.0.1:0"); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("serve the tour's model: %w", err)
	}
	t.BaseURL = t.model.URL
	t.site = &http.Server{Handler: s.handler(l.Addr().String()), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(t.done)
		_ = t.site.Serve(l)
	}()
	return t, nil
}

// Problems says what was wrong with the requests so far; a test looks here.
func (t *Tour) Problems() []string { return t.model.Problems() }

// Close ends the site and the model.
func (t *Tour) Close() error {
	err := t.model.Close()
	if e := t.site.Close(); err == nil {
		err = e
	}
	<-t.done
	return err
}
