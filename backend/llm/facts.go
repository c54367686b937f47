package llm

import (
	"math"

	"gofer/backend/chat"
)

// Facts are what is known of a model. A zero field is unknown.
type Facts struct {
	Name   string
	Input  int  // tokens a request may have
	Output int  // tokens a reply may have
	Vision bool // it sees pictures
	Price  *Price
}

// Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	Input  float64
	Output float64
	Cached float64 // input that was in the provider's cache
}

// Cost returns what the tokens cost, in US dollars; 0 when the price is not known.
func (p *Price) Cost(u chat.Usage) float64 {
	if p == nil {
		return 0
	}
	cached := min(u.Cached, u.Input)
	dollars := (float64(u.Input-cached)*p.Input + float64(cached)*p.Cached + float64(u.Output)*p.Output) / 1e6
	return math.Round(dollars*1e9) / 1e9 // no noise of binary fractions in what is stored
}

// The sizes by which tokens are guessed where a provider does not count them.
const (
	charsPerToken = 4
	pictureTokens = 1000
	messageTokens = 4
)

// Estimate guesses how many tokens a request has, tools and pictures included.
func Estimate(req Request) int {
	chars, tokens := len(req.System)+len(req.Tail), 0
	for _, t := range req.Tools {
		chars += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, m := range req.Messages {
		tokens += messageTokens
		for _, p := range m.Parts {
			chars += len(p.Text)
			if p.Type == chat.Image {
				tokens += pictureTokens
			}
		}
		for _, c := range m.Calls {
			chars += len(c.Name) + len(c.Arguments)
		}
		if m.Result != nil {
			chars += len(m.Result.Text)
			tokens += pictureTokens * len(m.Pictures())
		}
	}
	return tokens + chars/charsPerToken + 1
}

// EstimateReply guesses how many tokens a reply has.
func EstimateReply(r Reply) int {
	chars := 0
	for _, p := range r.Parts {
		chars += len(p.Text)
	}
	for _, c := range r.Calls {
		chars += len(c.Name) + len(c.Arguments)
	}
	return chars/charsPerToken + 1
}
