package agent

import (
	"fmt"

	"gofer/backend/chat"
)

// bodyBudget is how many characters of tool results go to the model, newest
// first; older bodies are left out (SPEC B26).
const bodyBudget = 50_000

// The most pictures a request shows (SPEC C31). Older ones go several at a
// time, so that most requests begin like the one before.
const (
	maxPictures  = 20
	pictureSteps = 5
)

// fit returns the context: the transcript with old tool bodies and old
// pictures left out. The newest result always stays.
func fit(messages []chat.Message) []chat.Message {
	out := make([]chat.Message, len(messages))
	copy(out, messages)
	used, newest := 0, true
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Result == nil {
			continue
		}
		size := len(out[i].Result.Text)
		if used+size > bodyBudget && !newest {
			short := *out[i].Result
			if note := fmt.Sprintf("[omitted due to context limit: %d characters of %s]", size, short.Name); len(note) < size {
				short.Text = note
			}
			out[i].Result = &short
			continue
		}
		used, newest = used+size, false
	}
	thin(out)
	return out
}

// thin takes the oldest pictures of calls out of a context that shows too many.
// The text of their results still names them.
func thin(messages []chat.Message) {
	total := 0
	for _, m := range messages {
		if m.Result != nil {
			total += len(m.Pictures())
		}
	}
	if total <= maxPictures {
		return
	}
	drop := (total - maxPictures + pictureSteps - 1) / pictureSteps * pictureSteps
	for i := range messages {
		if drop <= 0 {
			return
		}
		if r := messages[i].Result; r != nil && len(r.Artifacts) > 0 {
			drop -= len(messages[i].Pictures())
			short := *r
			short.Artifacts = nil // only their pictures are ever shown to a model
			messages[i].Result = &short
		}
	}
}
