package openai

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"gofer/backend/llm"
)

// lesson is what one kind of refusal teaches about a server.
type lesson struct {
	name string // kept between runs
	note string // for the person
	fits func(p llm.Profile, words string) bool
	take func(p *llm.Profile)
}

// NoPictures is the lesson that a model takes no pictures.
const NoPictures = "pictures"

var lessons = []lesson{
	{
		name: "stream_options", note: "This server refuses stream_options; it is left out.",
		fits: func(p llm.Profile, words string) bool {
			return strings.Contains(words, "stream_options") && !p.NoStreamOptions
		},
		take: func(p *llm.Profile) { p.NoStreamOptions = true },
	},
	{
		name: "max_completion_tokens", note: "This server wants max_completion_tokens.",
		fits: func(p llm.Profile, words string) bool {
			return strings.Contains(words, "max_completion_tokens") && p.MaxTokensField != "max_completion_tokens"
		},
		take: func(p *llm.Profile) { p.MaxTokensField = "max_completion_tokens" },
	},
	{
		name: "max_tokens", note: "This server wants max_tokens.",
		fits: func(p llm.Profile, words string) bool {
			return strings.Contains(words, "max_completion_tokens") && p.MaxTokensField == "max_completion_tokens"
		},
		take: func(p *llm.Profile) { p.MaxTokensField = "max_tokens" },
	},
	{
		name: NoPictures, note: "This model takes no pictures; it gets text only.",
		fits: func(p llm.Profile, words string) bool {
			return !p.NoPictures && refusesPictures.MatchString(words)
		},
		take: func(p *llm.Profile) { p.NoPictures = true },
	},
	{
		name: "thinking back", note: "This server wants its thinking sent back.",
		fits: func(p llm.Profile, words string) bool {
			return strings.Contains(words, llm.EchoContent) && mustReturn.MatchString(words) && p.ReasoningEcho != llm.EchoContent
		},
		take: func(p *llm.Profile) { p.ReasoningEcho = llm.EchoContent },
	},
	{
		name: "no thinking back", note: "This server refuses thinking that is sent back; it is left out.",
		fits: func(p llm.Profile, words string) bool {
			return p.ReasoningEcho != "" && !mustReturn.MatchString(words) && names(words, llm.EchoContent, llm.EchoDetails, llm.EchoPlain)
		},
		take: func(p *llm.Profile) { p.ReasoningEcho = "" },
	},
	{
		name: "empty content", note: "This server wants an empty content where a message has calls only.",
		fits: func(p llm.Profile, words string) bool {
			return !p.EmptyContent && refusesNull.MatchString(words)
		},
		take: func(p *llm.Profile) { p.EmptyContent = true },
	},
	{
		name: "plain schemas", note: "This server knows little of JSON schema; tools are described in plain words of it.",
		fits: func(p llm.Profile, words string) bool {
			return p.Schema != llm.PlainSchema && schemaWord.MatchString(words)
		},
		take: func(p *llm.Profile) { p.Schema = llm.PlainSchema },
	},
}

var (
	mustReturn = regexp.MustCompile(`passed back|is missing in assistant|must be (provided|included|returned)`)
	// A picture that is too large or broken is no reason to send none any more.
	refusesPictures = regexp.MustCompile(`(image|vision|multi-?modal|picture)[^.]{0,60}(not support|unsupported|not enabled|not allowed|not available)|(not support|unsupported|no endpoints found that support|does not accept|cannot process|only supports? text)[^.]{0,60}(image|vision|multi-?modal|picture)|unknown variant .?image_url|mmproj|not a multimodal model|text[- ]only model`)
	refusesNull     = regexp.MustCompile(`content[^.]{0,60}(null|none|required|valid string|must be a string|missing)`)
	schemaWord      = regexp.MustCompile(`\$schema|additionalproperties|exclusivem(in|ax)imum|propertynames|\$ref|\$defs|unknown name .{0,40}(function_declarations|parameters)`)
)

// leaveOut starts the name of a lesson about a field the person has set.
const leaveOut = "without "

// names reports whether words hold one of the fields as a word of its own.
func names(words string, fields ...string) bool {
	return slices.ContainsFunc(fields, func(f string) bool {
		return regexp.MustCompile(`(^|[^a-z_])` + regexp.QuoteMeta(strings.ToLower(f)) + `($|[^a-z_])`).MatchString(words)
	})
}

// teach lays what was learned earlier over a profile.
func teach(p llm.Profile, learned []string) llm.Profile {
	for _, name := range learned {
		if field, ok := strings.CutPrefix(name, leaveOut); ok {
			p.Leave = append(slices.Clip(p.Leave), field)
		}
		for _, l := range lessons {
			if l.name == name {
				l.take(&p)
			}
		}
	}
	return p
}

// learn changes the profile after a refusal that names what is wrong, and
// returns a sentence about it; "" means there is nothing to learn. sent are
// the fields the person has set.
func (c *Client) learn(err error, sent []string) string {
	var e *llm.Error
	if !errors.As(err, &e) || !teaches(e) {
		return ""
	}
	words := strings.ToLower(e.Message)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, field := range sent {
		if name := leaveOut + field; names(words, field) && !slices.Contains(c.learned, name) {
			c.profile.Leave = append(slices.Clip(c.profile.Leave), field)
			return c.keep(name, "This server refuses "+field+"; it is left out.")
		}
	}
	for _, l := range lessons {
		if slices.Contains(c.learned, l.name) || !l.fits(c.profile, words) {
			continue
		}
		l.take(&c.profile)
		return c.keep(l.name, l.note)
	}
	return ""
}

// teaches reports whether a refusal can be about a field. Some servers call
// what they do not know an error of their own.
func teaches(e *llm.Error) bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return e.Kind == llm.BadRequest || e.Kind == llm.Overloaded
	}
	return false
}

func (c *Client) keep(name, note string) string {
	c.learned = append(slices.Clip(c.learned), name)
	if c.options.Learn != nil {
		c.options.Learn(slices.Clone(c.learned))
	}
	return note
}

// Explain says in sentences what was learned.
func Explain(learned []string) []string {
	var out []string
	for _, name := range learned {
		if field, ok := strings.CutPrefix(name, leaveOut); ok {
			out = append(out, "This server refuses "+field+"; it is left out.")
		}
		for _, l := range lessons {
			if l.name == name {
				out = append(out, l.note)
			}
		}
	}
	return out
}
