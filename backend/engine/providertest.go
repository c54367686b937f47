package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"strings"
	"time"

	"gofer/backend/chat"
	"gofer/backend/config"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm"
	"gofer/backend/llm/openai"
)

// testLimit bounds a test of a provider.
const testLimit = 90 * time.Second

// probe is a test of one model at work.
type probe struct {
	engine  *Engine
	c       connection
	lessons []string
	quick   bool
	out     ProviderTest
}

// TestProvider lists a provider's models and makes one real request each for
// text, a stream, a tool call and a picture. What it learns about a known
// provider is kept; nothing else is saved.
func (e *Engine) TestProvider(ctx context.Context, spec ProviderSpec) (ProviderTest, error) {
	p, err := e.merged(spec)
	if err != nil {
		return ProviderTest{}, err
	}
	c := e.connectionOf(e.settings.Settings(), p, p.Model)
	if spec.Key != nil {
		c.key = strings.TrimSpace(*spec.Key)
		e.redact.Hide(c.key)
	} else if c.key, err = e.key(p); err != nil {
		return ProviderTest{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	t := &probe{engine: e, c: c, quick: spec.Quick, out: ProviderTest{URL: p.BaseURL, Models: []string{}}}
	if err := t.run(ctx); err != nil {
		return ProviderTest{}, err
	}
	t.out.Learned = openai.Explain(t.lessons)
	if t.out.OK && !t.quick {
		e.learned.keep(c.base, t.c.model, t.lessons)
		e.forgetClients(p.ID)
		e.rests.Wake(restKey(p.ID))
		e.rememberTest(ctx, p.ID, t)
	}
	return t.out, nil
}

// run makes the requests, until one shows that the rest is useless.
func (t *probe) run(ctx context.Context) error {
	client, err := t.client(ctx)
	if err != nil {
		return err
	}
	t.out.URL = client.BaseURL()
	began := t.engine.now()
	models, listErr := client.ListModels(ctx)
	t.note("models", began, 0, listErr, fmt.Sprintf("%d listed", len(models)))
	t.out.Models = append(t.out.Models, models...)
	if t.c.model == "" {
		if listErr != nil {
			t.fail(listErr)
			return nil
		}
		if len(models) == 0 {
			t.out.Problem = &event.Problem{Code: string(fault.Invalid), Message: "The server lists no models.", Hint: "Write the model's name."}
			return nil
		}
		t.c.model, t.c.own.Name = models[0], models[0]
		if client, err = t.client(ctx); err != nil {
			return err
		}
	}
	t.out.Model = t.c.model
	if !t.text(ctx, client) || t.quick {
		return nil
	}
	t.stream(ctx, client)
	t.tools(ctx, client)
	t.pictures(ctx)
	return nil
}

// client makes a connection that has learned nothing yet, so that a lesson
// that no longer holds is forgotten.
func (t *probe) client(ctx context.Context) (*openai.Client, error) {
	return t.engine.newClient(ctx, t.c, slices.Clone(t.lessons), func(all []string) { t.lessons = all })
}

// note adds what a request showed.
func (t *probe) note(what string, began time.Time, first time.Duration, err error, text string) {
	c := Check{What: what, OK: err == nil, ElapsedMS: t.engine.now().Sub(began).Milliseconds(), FirstMS: first.Milliseconds(), Text: text}
	if err != nil {
		c.Text, c.Problem = "", t.engine.problemOf(err)
	}
	t.out.Checks = append(t.out.Checks, c)
}

func (t *probe) fail(err error) {
	t.out.Problem = t.engine.problemOf(err)
	var failed *llm.Error
	if errors.As(err, &failed) {
		t.out.Certificate = failed.Certificate
	}
}

// heard is what came of one request.
type heard struct {
	reply  llm.Reply
	text   string
	pieces int
	first  time.Duration
	began  time.Time
	err    error
}

func (t *probe) ask(ctx context.Context, client llm.Model, prompt string, more llm.Request, parts ...chat.Part) heard {
	h := heard{began: t.engine.now()}
	more.Messages = []chat.Message{{Role: chat.User, Parts: append([]chat.Part{{Type: chat.Text, Text: prompt}}, parts...)}}
	h.reply, h.err = client.Stream(ctx, more, func(d llm.Delta) {
		if h.pieces++; h.pieces == 1 {
			h.first = t.engine.now().Sub(h.began)
		}
	})
	h.text = strings.TrimSpace(chat.Message{Parts: h.reply.Parts}.Text())
	return h
}

func (t *probe) text(ctx context.Context, client llm.Model) bool {
	h := t.ask(ctx, client, "Reply with the one word: ready", llm.Request{})
	t.out.ElapsedMS = t.engine.now().Sub(h.began).Milliseconds()
	t.out.Answer = firstRunes(h.text, 200)
	t.note("text", h.began, h.first, h.err, t.out.Answer)
	if h.err != nil {
		t.fail(h.err)
		return false
	}
	t.out.OK = true
	return true
}

func (t *probe) stream(ctx context.Context, client llm.Model) {
	h := t.ask(ctx, client, "Write the numbers from 1 to 20 in words, and nothing else.", llm.Request{})
	text := fmt.Sprintf("%d pieces", h.pieces)
	if h.err == nil && h.pieces < 2 {
		h.err = &llm.Error{Kind: llm.Protocol, Message: "The reply came in one piece.", Hint: "It works, but text will not grow as it is written."}
	}
	t.note("stream", h.began, h.first, h.err, text)
}

const checkTool = "say_word"

func (t *probe) tools(ctx context.Context, client llm.Model) {
	tools := []llm.ToolSpec{{
		Name: checkTool, Description: "Says a word aloud.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`),
	}}
	h := t.ask(ctx, client, "Call the tool "+checkTool+" with the word gofer.", llm.Request{Tools: tools})
	switch {
	case h.err != nil:
	case len(h.reply.Calls) == 0:
		hint := "Choose another model, or switch on calls in the text for this one."
		for _, n := range h.reply.Notes {
			hint = n + " " + hint
		}
		h.err = &llm.Error{Kind: llm.BadRequest, Message: "The model answered without calling the tool.", Hint: hint}
	case h.reply.Calls[0].Invalid != "":
		h.err = &llm.Error{Kind: llm.BadRequest, Message: "The model's call could not be read: " + h.reply.Calls[0].Invalid + ".", Hint: "Choose another model."}
	}
	t.note("tools", h.began, h.first, h.err, "called as asked")
}

// pictures shows the model a plain red square and asks for its colour.
func (t *probe) pictures(ctx context.Context) {
	see := true
	t.c.own.Vision = &see
	t.c.load = func(context.Context, string) ([]byte, error) { return redSquare() }
	client, err := t.client(ctx)
	if err != nil {
		t.note("pictures", t.engine.now(), 0, err, "")
		return
	}
	before := len(t.lessons)
	h := t.ask(ctx, client, "Which colour is this picture? Answer with one word.", llm.Request{}, chat.Part{Type: chat.Image, Blob: "check", Media: "image/png", Name: "colour.png"})
	switch {
	case h.err != nil:
	case slices.Contains(t.lessons[before:], openai.NoPictures):
		h.err = &llm.Error{Kind: llm.BadRequest, Message: "This model takes no pictures.", Hint: "It works with text; screenshots are not shown to it."}
	case !strings.Contains(strings.ToLower(h.text), "red"):
		h.err = &llm.Error{Kind: llm.BadRequest, Message: fmt.Sprintf("The model took the picture and did not see it: %q.", firstRunes(h.text, 60)), Hint: "Switch pictures off for this model."}
	}
	t.note("pictures", h.began, h.first, h.err, "it sees")
}

func redSquare() ([]byte, error) {
	square := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(square, square.Bounds(), image.NewUniform(color.RGBA{R: 220, A: 255}), image.Point{}, draw.Src)
	var out bytes.Buffer
	err := png.Encode(&out, square)
	return out.Bytes(), err
}

// forgetClients drops the connections of a provider, and so what they learned.
func (e *Engine) forgetClients(providerID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.clients {
		if strings.HasPrefix(id, connectionPrefix(providerID)) {
			delete(e.clients, id)
		}
	}
}

// rememberTest keeps the list of models of a known provider, and whether the
// model sees pictures when nobody has said so and it was not known.
func (e *Engine) rememberTest(ctx context.Context, providerID string, t *probe) {
	unknown := errors.New("not saved yet")
	sees := slices.ContainsFunc(t.out.Checks, func(c Check) bool { return c.What == "pictures" && c.OK })
	err := e.settings.Change(func(s *config.Settings) error {
		at := slices.IndexFunc(s.Providers, func(p config.Provider) bool { return p.ID == providerID })
		if at < 0 {
			return unknown
		}
		p := &s.Providers[at]
		if len(t.out.Models) > 0 {
			p.Models = t.out.Models
		}
		i := slices.IndexFunc(p.Known, func(m config.Model) bool { return m.Name == t.c.model })
		if i < 0 {
			p.Known = append(p.Known, config.Model{Name: t.c.model})
			i = len(p.Known) - 1
		}
		if m := &p.Known[i]; m.Vision == nil && sees != e.connectionOf(*s, *p, t.c.model).facts().Vision {
			m.Vision = &sees
		}
		if p.Known[i].Empty() {
			p.Known = slices.Delete(p.Known, i, i+1)
		}
		return nil
	})
	if err == nil {
		_ = e.tellSettings(ctx) // a hint; the settings are saved
	}
}
