package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"gofer/backend/chat"
	"gofer/backend/llm"
)

// builder makes one request. What servers demand of the order of messages is
// kept here: system text first, every call answered right after its message,
// pictures behind all results.
type builder struct {
	profile llm.Profile
	options Options
	host    string

	messages []openai.ChatCompletionMessageParamUnion
	roles    []chat.Role
	ids      wireIDs
	results  map[string]chat.Message // tool messages by call id
	names    map[string]string       // tool names as sent, to ours
	sent     []string
	offered  *offered // of an earlier request; nil without one
	set      []string // fields that the person has set or the profile adds
	withheld bool     // pictures were left out
}

// body is a request as it is sent. The SDK's parameters would check and copy
// every message once for each level around it, which on a long transcript took
// longer than everything else between two model calls. So messages are written
// one by one and set into the parameters' own object.
type body struct {
	params   openai.ChatCompletionNewParams // without messages and tools
	tools    []byte                         // the list of tools, empty without any
	messages []openai.ChatCompletionMessageParamUnion
}

// MarshalJSON writes the request.
func (b body) MarshalJSON() ([]byte, error) {
	rest, err := b.params.MarshalJSON()
	if err != nil {
		return nil, err
	}
	written, size := make([][]byte, len(b.messages)), 0
	for i, m := range b.messages {
		if written[i], err = m.MarshalJSON(); err != nil {
			return nil, fmt.Errorf("write message %d: %w", i, err)
		}
		size += len(written[i]) + 1
	}
	out := make([]byte, 0, size+len(b.tools)+len(rest)+32)
	out = append(out, `{"messages":[`...)
	out = append(out, bytes.Join(written, []byte{','})...)
	out = append(out, "],"...)
	if len(b.tools) > 0 {
		out = append(append(append(out, `"tools":`...), b.tools...), ',')
	}
	return append(out, rest[1:]...), nil // it names the model at least, so the comma stands right
}

func (b *builder) build(ctx context.Context, req llm.Request) (body, error) {
	b.ids = newWireIDs(b.profile.ToolIDStyle)
	b.results = map[string]chat.Message{}
	b.names = map[string]string{}
	var tools []byte
	if !b.profile.TextCalls {
		var err error
		if tools, err = b.offer(req.Tools); err != nil {
			return body{}, err
		}
	}
	answered := map[string]bool{}
	for _, m := range req.Messages {
		if m.Result != nil {
			b.results[m.Result.CallID] = m
		}
		for _, call := range m.Calls {
			answered[call.ID] = true
		}
	}
	if system := b.systemText(req); system != "" {
		b.push(chat.System, openai.SystemMessage(system))
	}
	for _, m := range req.Messages {
		var err error
		switch m.Role {
		case chat.System:
			if !b.profile.StrictRoles {
				b.late(m.Text())
			}
		case chat.User:
			err = b.user(ctx, m)
		case chat.Assistant:
			err = b.assistant(ctx, m)
		case chat.ToolRole:
			if m.Result != nil && !answered[m.Result.CallID] && m.Result.Text != "" {
				b.userText(fmt.Sprintf("Result of an earlier call of %s:\n%s", m.Result.Name, m.Result.Text))
			}
		}
		if err != nil {
			return body{}, err
		}
	}
	if req.Tail != "" {
		b.late(req.Tail)
	}
	return body{b.params(req), tools, b.messages}, nil
}

// systemText is the first message. Strict servers take one system message only.
func (b *builder) systemText(req llm.Request) string {
	texts := []string{}
	if req.System != "" {
		texts = append(texts, req.System)
	}
	if b.profile.StrictRoles {
		for _, m := range req.Messages {
			if t := m.Text(); m.Role == chat.System && t != "" {
				texts = append(texts, t)
			}
		}
	}
	if b.profile.TextCalls && len(req.Tools) > 0 {
		texts = append(texts, describeTools(req.Tools))
	}
	return strings.Join(texts, "\n\n")
}

// offered is a list of tools as it is sent. It is the same in every request of
// a run, so it is written once.
type offered struct {
	of    *llm.ToolSpec // the first of the list it was made from
	n     int
	plain bool
	raw   []byte
	names map[string]string
	sent  []string
}

// offer returns the tools as JSON and notes their names.
func (b *builder) offer(tools []llm.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	if o := b.offered; o != nil && o.of == &tools[0] && o.n == len(tools) && o.plain == (b.profile.Schema == llm.PlainSchema) {
		b.names, b.sent = maps.Clone(o.names), o.sent
		return o.raw, nil
	}
	var list []openai.ChatCompletionToolUnionParam
	for _, t := range tools {
		schema, err := parameters(t.Parameters, b.profile.Schema == llm.PlainSchema)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		name := b.wireName(t.Name)
		b.sent = append(b.sent, name)
		f := shared.FunctionDefinitionParam{Name: name, Parameters: schema}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		list = append(list, openai.ChatCompletionFunctionTool(f))
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("write tools: %w", err)
	}
	b.offered = &offered{of: &tools[0], n: len(tools), plain: b.profile.Schema == llm.PlainSchema, raw: raw, names: maps.Clone(b.names), sent: b.sent}
	return raw, nil
}

func (b *builder) params(req llm.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: b.options.Model}
	extra := extras(b.profile, b.options.Sampling)
	b.set = sortedKeys(extra)
	extra["stream"] = true
	if !b.profile.NoStreamOptions {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if req.MaxTokens > 0 {
		if b.profile.MaxTokensField == "max_completion_tokens" {
			p.MaxCompletionTokens = param.NewOpt(int64(req.MaxTokens))
		} else {
			p.MaxTokens = param.NewOpt(int64(req.MaxTokens))
		}
	}
	p.SetExtraFields(extra)
	return p
}

var badInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// wireName makes a tool name that every server accepts and remembers whose it is.
func (b *builder) wireName(name string) string {
	wire := badInName.ReplaceAllString(name, "_")
	if wire == "" {
		wire = "unnamed"
	}
	if len(wire) > 64 {
		wire = wire[:55] + "_" + digest(name)[:8]
	}
	for i := 2; b.names[wire] != "" && b.names[wire] != name; i++ {
		wire = fmt.Sprintf("%.60s_%d", wire, i)
	}
	b.names[wire] = name
	return wire
}

// ourName returns the tool name behind one that was sent.
func (b *builder) ourName(wire string) string {
	if name, ok := b.names[wire]; ok {
		return name
	}
	return wire
}

func (b *builder) push(role chat.Role, m openai.ChatCompletionMessageParamUnion) {
	b.messages = append(b.messages, m)
	b.roles = append(b.roles, role)
}

func (b *builder) lastRole() chat.Role {
	if len(b.roles) == 0 {
		return ""
	}
	return b.roles[len(b.roles)-1]
}

// late adds an instruction in the middle or at the end.
func (b *builder) late(text string) {
	if text == "" {
		return
	}
	if b.profile.LateSystem {
		b.push(chat.System, openai.SystemMessage(text))
		return
	}
	b.userText(text)
}

func (b *builder) userText(text string) {
	b.userParts([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(text)})
}

// userParts adds a user message, or joins it to the one before where roles
// must alternate.
func (b *builder) userParts(parts []openai.ChatCompletionContentPartUnionParam) {
	if len(parts) == 0 {
		return
	}
	if b.profile.BridgeAfterTool && b.lastRole() == chat.ToolRole {
		b.push(chat.Assistant, openai.AssistantMessage("I have the results."))
	}
	if b.profile.StrictRoles && b.lastRole() == chat.User {
		last := b.messages[len(b.messages)-1].OfUser
		old := last.Content.OfArrayOfContentParts
		if s := last.Content.OfString; s.Valid() {
			old = []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(s.Value)}
		}
		b.messages[len(b.messages)-1] = userMessage(append(old, parts...))
		return
	}
	b.push(chat.User, userMessage(parts))
}

// userMessage sends plain text as a string, since some servers know no lists.
func userMessage(parts []openai.ChatCompletionContentPartUnionParam) openai.ChatCompletionMessageParamUnion {
	var texts []string
	for _, p := range parts {
		if p.OfText == nil {
			return openai.UserMessage(parts)
		}
		texts = append(texts, p.OfText.Text)
	}
	return openai.UserMessage(strings.Join(texts, "\n\n"))
}

func (b *builder) user(ctx context.Context, m chat.Message) error {
	parts, err := b.parts(ctx, m.Parts)
	if err != nil {
		return err
	}
	b.userParts(parts)
	return nil
}

// parts turns text, pictures and files into what the model can take.
func (b *builder) parts(ctx context.Context, list []chat.Part) ([]openai.ChatCompletionContentPartUnionParam, error) {
	var out []openai.ChatCompletionContentPartUnionParam
	add := func(text string) {
		if text != "" {
			out = append(out, openai.TextContentPart(text))
		}
	}
	for _, p := range list {
		switch p.Type {
		case chat.Text:
			add(p.Text)
		case chat.File:
			add(fmt.Sprintf("[attached file %s]\n%s", p.Name, p.Text))
		case chat.Image:
			out = append(out, b.picture(ctx, p))
		}
	}
	return out, ctx.Err()
}

// assistant adds a reply of a model and the answers to its calls. A reply that
// says nothing is left out.
func (b *builder) assistant(ctx context.Context, m chat.Message) error {
	text := m.Text()
	if text == "" && len(m.Calls) == 0 {
		return nil
	}
	var back replay
	_ = json.Unmarshal(m.Replay, &back)
	ours := back.From == "" || back.From == b.host
	msg := openai.ChatCompletionAssistantMessageParam{}
	switch {
	case text != "" || b.profile.EmptyContent:
		msg.Content.OfString = param.NewOpt(text)
	default:
		msg.Content.OfString = param.Null[string]()
	}
	if b.profile.TextCalls {
		return b.written(ctx, m, text)
	}
	var order []string
	for i, call := range m.Calls {
		wire := b.ids.of(call)
		order = append(order, wire)
		tc := openai.ChatCompletionMessageFunctionToolCallParam{ID: wire}
		tc.Function.Name = b.wireName(call.Name)
		tc.Function.Arguments = "{}"
		if call.Invalid == "" && complete(string(call.Arguments)) {
			tc.Function.Arguments = string(compact(string(call.Arguments)))
		}
		if extra := asObject(call.Extra); ours && len(extra) > 0 {
			fields := map[string]any{}
			for k, v := range extra {
				fields[k] = v
			}
			tc.SetExtraFields(fields)
		} else if b.profile.Signatures && !ours && i == 0 {
			tc.SetExtraFields(map[string]any{"extra_content": map[string]any{"google": map[string]any{"thought_signature": noSignature}}})
		}
		msg.ToolCalls = append(msg.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &tc})
	}
	if fields := b.echo(m, back, ours); len(fields) > 0 {
		msg.SetExtraFields(fields)
	}
	b.push(chat.Assistant, openai.ChatCompletionMessageParamUnion{OfAssistant: &msg})
	return b.answers(ctx, m.Calls, order)
}

// noSignature is what Gemini documents for calls that another model has made.
const noSignature = "skip_thought_signature_validator"

// echo returns the thinking in the form in which the server wants it back.
func (b *builder) echo(m chat.Message, back replay, ours bool) map[string]any {
	thought := m.Reasoning()
	switch b.profile.ReasoningEcho {
	case llm.EchoContent, llm.EchoPlain:
		if thought != "" || len(m.Calls) > 0 && b.profile.ReasoningEcho == llm.EchoContent {
			return map[string]any{b.profile.ReasoningEcho: thought}
		}
	case llm.EchoDetails:
		if ours && len(back.Details) > 0 {
			return map[string]any{llm.EchoDetails: back.Details}
		}
	}
	return nil
}

// answers adds one result per call, then the pictures of all of them.
func (b *builder) answers(ctx context.Context, calls []chat.ToolCall, wire []string) error {
	var pictures []openai.ChatCompletionContentPartUnionParam
	for i, call := range calls {
		text, parts, err := b.result(ctx, call)
		if err != nil {
			return err
		}
		pictures = append(pictures, parts...)
		b.push(chat.ToolRole, openai.ToolMessage(text, wire[i]))
	}
	b.userParts(pictures)
	return nil
}

// result returns the answer of a call and the pictures that belong to it.
func (b *builder) result(ctx context.Context, call chat.ToolCall) (string, []openai.ChatCompletionContentPartUnionParam, error) {
	m, ok := b.results[call.ID]
	switch {
	case !ok && call.Invalid != "":
		return "Not run: " + call.Invalid + ".", nil, nil
	case !ok:
		return "Cancelled: this call was not run.", nil, nil
	}
	text := m.Result.Text
	if text == "" {
		text = "(no output)"
	}
	pictures := m.Pictures()
	if len(pictures) == 0 {
		return text, nil, nil
	}
	if !b.sees() {
		b.withheld = true // the text of the result names its files
		return text, nil, nil
	}
	parts, err := b.parts(ctx, pictures)
	return text, append([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("From the result of " + call.Name + ":")}, parts...), err
}

// written adds a reply whose calls stand in its text, and their results as
// what the person says next.
func (b *builder) written(ctx context.Context, m chat.Message, text string) error {
	var answers []openai.ChatCompletionContentPartUnionParam
	for _, call := range m.Calls {
		text = strings.TrimSpace(text + "\n" + writtenCall(call))
		result, pictures, err := b.result(ctx, call)
		if err != nil {
			return err
		}
		answers = append(answers, openai.TextContentPart("Result of "+call.Name+":\n"+result))
		answers = append(answers, pictures...)
	}
	b.push(chat.Assistant, openai.AssistantMessage(text))
	b.userParts(answers)
	return nil
}
