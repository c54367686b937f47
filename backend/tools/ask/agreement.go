package ask

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"gofer/backend/tool"
)

//go:embed agreement.md
var agreementAbout string

// Person is who a run can turn to.
type Person interface {
	Asker
	Proposer
}

// Proposer puts an agreement for the run to the person and waits for the
// answer. What is wrong with a proposal is in Outcome.Refused, and nobody was
// asked then.
type Proposer interface {
	Propose(ctx context.Context, p Proposal) (Outcome, error)
}

// Proposal is what a run may do until it ends, if the person agrees.
type Proposal struct {
	Goal       string       `json:"goal" about:"What the errand is for, one short sentence for the person"`
	Sites      []SiteLine   `json:"sites,omitempty" about:"Sites it goes to"`
	Folders    []FolderLine `json:"folders,omitempty" about:"Folders it works in"`
	Commands   []string     `json:"commands,omitempty" about:"How commands begin that it runs in the workspace, such as go test"`
	Spend      float64      `json:"spend,omitempty" about:"Most that the run may cost, in US dollars"`
	Iterations int          `json:"iterations,omitempty" about:"Most model replies from here on"`
}

// SiteLine is a site of a proposal.
type SiteLine struct {
	Site  string   `json:"site" about:"Such as https://example.org"`
	Kinds []string `json:"kinds,omitempty" about:"Of read (default), send and script"`
}

// FolderLine is a folder of a proposal.
type FolderLine struct {
	Path  string   `json:"path" about:"Whole path of a folder that is there"`
	Kinds []string `json:"kinds,omitempty" about:"Of read (default), write and delete"`
}

// Outcome is what became of a proposal.
type Outcome struct {
	Refused string   // why the person was not asked; a sentence for the model
	Free    bool     // everything is allowed, so there was nothing to ask
	Allowed bool     // the person agreed to the lines in Agreed
	Agreed  []string // as grants are written
	Dropped []string // lines the person took out
	Missing string   // all that was proposed, as grants are written
	Note    string   // what the person says to it
	By      string   // person, nobody or dismissed
}

const (
	longestGoal    = 200 // characters
	mostSpend      = 1000
	mostIterations = 10_000
)

// Agreement proposes what a run may do, and waits without a deadline.
func Agreement(proposer Proposer) tool.Tool {
	return tool.New(agreement, agreementAbout, tool.Acts, func(ctx context.Context, p Proposal) (tool.Result, error) {
		if wrong := p.wrong(); wrong != "" {
			return tool.Failed("Nothing was proposed: %s.", wrong), nil
		}
		p.Goal = strings.Join(strings.Fields(p.Goal), " ")
		out, err := proposer.Propose(ctx, p)
		if err != nil {
			return tool.Result{}, fmt.Errorf("propose an agreement: %w", err)
		}
		return out.told(), nil
	},
		tool.Titled(func(p Proposal) string { return strings.TrimSpace(p.Goal) }),
		tool.Within(0), tool.ForRuns())
}

// wrong says what is wrong with a proposal by itself, or "".
func (p Proposal) wrong() string {
	switch goal := strings.TrimSpace(p.Goal); {
	case goal == "":
		return "goal is empty; say there in one sentence what the errand is for"
	case utf8.RuneCountInString(goal) > longestGoal:
		return fmt.Sprintf("goal has more than %d characters; one short sentence is enough", longestGoal)
	case math.IsNaN(p.Spend) || p.Spend < 0 || p.Spend > mostSpend || p.Spend > 0 && p.Spend < 0.01:
		return fmt.Sprintf("spend has to be an amount from 0.01 to %d US dollars, or left out", mostSpend)
	case p.Iterations < 0 || p.Iterations > mostIterations:
		return fmt.Sprintf("iterations has to be a number from 1 to %d, or left out", mostIterations)
	case len(p.Sites)+len(p.Folders)+len(p.Commands) == 0:
		return "it names no site, folder or command"
	}
	return ""
}

// told turns an outcome into what the model reads.
func (o Outcome) told() tool.Result {
	var r tool.Result
	switch {
	case o.Refused != "":
		return tool.Failed("%s", o.Refused)
	case o.Free:
		return tool.Text("Nothing needs to be agreed on in Full mode. Do the errand.")
	case o.By == "dismissed":
		r = tool.Failed("Not answered: the person sent a new message instead. Finish this run now; the message follows.")
		r.Outcome = "put aside"
	case o.By == "nobody":
		r = tool.Failed("Refused: an agreement needs a person and nobody is there (missing grants: %s). Do not propose one again. Do what needs no leave, and say what is missing.", o.Missing)
		r.Outcome = "nobody there"
	case !o.Allowed:
		r = tool.Failed("The person said no to the agreement%s. Do not propose one again in this run. Go on step by step: what needs leave is asked for by itself.", says(o.Note))
		r.Outcome = "not agreed"
	default:
		r = tool.Text("Agreed for this run%s:\n- %s", says(o.Note), strings.Join(o.Agreed, "\n- "))
		r.Outcome = "agreed"
		if len(o.Dropped) > 0 {
			r.Text += "\nThe person took out, so it is asked for by itself or left undone:\n- " + strings.Join(o.Dropped, "\n- ")
			r.Outcome = fmt.Sprintf("agreed to %d of %d", len(o.Agreed), len(o.Agreed)+len(o.Dropped))
		}
		r.Text += "\nDo the errand now. Do not propose again; whatever else needs leave is asked for by itself."
	}
	return r
}

func says(note string) string {
	if note == "" {
		return ""
	}
	return fmt.Sprintf(" (the person says: %s)", note)
}
