package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gofer/backend/engine"
	"gofer/backend/event"
	"gofer/backend/fault"
)

// nobody answers where no person can.
const nobody = "nobody"

// asks puts the run's questions, approvals and agreements to the person at the
// terminal, one after the other, or answers them for want of one.
type asks struct {
	*app
	steps  *steps
	reply  func(id string, answer engine.Answer) error
	lines  chan string // what is typed; nil until the first question
	open   []ask       // the first one is on the screen
	closed bool        // nobody can be asked any more
	over   bool        // the run is being stopped, so nothing needs an answer
	known  map[string]event.ApprovalAsked
	seen   map[string]bool // by id: what was put once is not put again
}

// ask is one open question, approval or agreement; exactly one is set.
type ask struct {
	id        string
	question  *event.ClarificationAsked
	approval  *event.ApprovalAsked
	agreement *event.AgreementAsked
}

func (q *asks) question(d event.ClarificationAsked) error { return q.add(ask{id: d.ID, question: &d}) }

func (q *asks) approval(d event.ApprovalAsked) error {
	if q.known == nil {
		q.known = map[string]event.ApprovalAsked{}
	}
	q.known[d.ID] = d
	return q.add(ask{id: d.ID, approval: &d})
}

// agreement asks for an agreement. What it names is missing like what an
// approval names, should nobody be there.
func (q *asks) agreement(d event.AgreementAsked) error {
	if q.known == nil {
		q.known = map[string]event.ApprovalAsked{}
	}
	q.known[d.ID] = event.ApprovalAsked{ID: d.ID, Missing: d.Missing}
	return q.add(ask{id: d.ID, agreement: &d})
}

func (q *asks) add(a ask) error {
	if q.over || q.seen[a.id] {
		return nil
	}
	if q.seen == nil {
		q.seen = map[string]bool{}
	}
	q.seen[a.id] = true
	if q.closed || !q.interactive() {
		return q.settle(a, engine.Answer{By: nobody})
	}
	q.open = append(q.open, a)
	if len(q.open) == 1 {
		q.show()
	}
	return nil
}

// settle sends an answer. One that somebody else gave first is no error.
func (q *asks) settle(a ask, answer engine.Answer) error {
	err := q.reply(a.id, answer)
	if f := fault.From(err); f != nil && f.Code == fault.NotFound {
		return nil
	}
	return err
}

// settled takes a question away that has an answer, and returns the approval
// it was.
func (q *asks) settled(id string) (event.ApprovalAsked, bool) {
	for i, a := range q.open {
		if a.id != id {
			continue
		}
		q.open = append(q.open[:i:i], q.open[i+1:]...)
		if i == 0 {
			fmt.Fprintln(q.Stderr, "\nThis was answered elsewhere.")
			q.show()
		}
		break
	}
	asked, ok := q.known[id]
	delete(q.known, id)
	return asked, ok
}

// finish forgets what is still open when the run has ended.
func (q *asks) finish() {
	if len(q.open) > 0 {
		fmt.Fprintln(q.Stderr)
	}
	q.open = nil
}

// show puts the first open question on the screen. What was typed before it
// was there is no answer to it.
func (q *asks) show() {
	if len(q.open) == 0 {
		return
	}
	q.steps.clear()
	if q.lines == nil {
		flushInput(q.Stdin)
		q.listen()
	} else {
		flushInput(q.Stdin)
		for drained := false; !drained; {
			select {
			case _, open := <-q.lines:
				if !open {
					q.lines = nil
					drained = true
				}
			default:
				drained = true
			}
		}
	}
	a := q.open[0]
	switch {
	case a.approval != nil:
		q.showApproval(*a.approval)
	case a.agreement != nil:
		q.showAgreement(*a.agreement)
	default:
		q.showQuestion(a.question.Question)
	}
}

// listen reads lines from the terminal. It ends with the process: nothing can
// interrupt a read from a terminal.
func (q *asks) listen() {
	lines := make(chan string)
	q.lines = lines
	in := bufio.NewScanner(q.Stdin)
	go func() {
		defer close(lines)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
}

// typed takes a line the person entered. The end of input means that nobody is
// there any more.
func (q *asks) typed(text string, open bool) error {
	if !open {
		q.lines, q.closed = nil, true
		waiting := q.open
		q.open = nil
		for _, a := range waiting {
			if err := q.settle(a, engine.Answer{By: nobody}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(q.open) == 0 {
		return nil
	}
	a := q.open[0]
	var answer engine.Answer
	var ok bool
	switch {
	case a.approval != nil:
		answer, ok = readApproval(*a.approval, text)
	case a.agreement != nil:
		answer, ok = readAgreement(*a.agreement, text)
	default:
		answer, ok = readQuestion(a.question.Question, text)
	}
	if !ok {
		q.again(a)
		return nil
	}
	q.open = q.open[1:]
	if err := q.settle(a, answer); err != nil {
		return err
	}
	q.show()
	return nil
}

func (q *asks) again(a ask) {
	switch {
	case a.approval != nil:
		fmt.Fprintf(q.Stderr, "%s ", choices(*a.approval))
	case a.agreement != nil:
		fmt.Fprintf(q.Stderr, "%s ", agreeOrNot)
	default:
		fmt.Fprint(q.Stderr, "> ")
	}
}

func (q *asks) showApproval(d event.ApprovalAsked) {
	w := q.Stderr
	for _, deed := range d.Deeds {
		fmt.Fprintf(w, "\n%s\n%s\n", q.steps.tint("1", inWords(deed.Class)), indent(clean(deed.Object)))
		if deed.Detail != "" {
			fmt.Fprintln(w, indent("("+clean(deed.Detail)+")"))
		}
		for _, f := range deed.Fields {
			value := clean(f.Value)
			if f.Secret {
				value = "(not shown)"
			}
			fmt.Fprintln(w, indent(clean(f.Label)+": "+value))
		}
		if deed.Text != "" {
			fmt.Fprintln(w, indent(indent(clean(deed.Text))))
		}
	}
	if d.Why != "" {
		fmt.Fprintf(w, "%s\n", clean(d.Why))
	}
	if d.Session != "" {
		fmt.Fprintf(w, "For this session would cover: %s\n", clean(d.Session))
	}
	fmt.Fprintf(w, "%s ", choices(d))
}

func choices(d event.ApprovalAsked) string {
	text := "Allow? y once, "
	if d.Extend != "" {
		text += "a add to the agreement, "
	}
	if d.Session != "" {
		text += "s for this session, "
	}
	return text + "n no:"
}

const agreeOrNot = "Agree to this for the run? y all, y 1 2 only these, N no:"

func (q *asks) showAgreement(d event.AgreementAsked) {
	w := q.Stderr
	fmt.Fprintf(w, "\n%s\n%s\n", q.steps.tint("1", "The agent proposes what it may do in this run"), indent(clean(d.Goal)))
	for _, l := range d.Lines {
		fmt.Fprintf(w, "  %s  %s\n", line(l.ID, 8), line(l.Words, 0))
	}
	if d.Spend > 0 {
		fmt.Fprintf(w, "%s\n", indent(fmt.Sprintf("Up to $%.2f.", d.Spend)))
	}
	if d.Iterations > 0 {
		fmt.Fprintf(w, "%s\n", indent(fmt.Sprintf("Up to %s.", plural(d.Iterations, "iteration"))))
	}
	fmt.Fprintln(w, "All else still asks. It ends with the run.")
	if d.Why != "" {
		fmt.Fprintf(w, "%s\n", clean(d.Why))
	}
	fmt.Fprintf(w, "%s ", agreeOrNot)
}

// readAgreement understands an answer: y for all lines or y with the numbers of
// some. Enter alone is a no.
func readAgreement(d event.AgreementAsked, text string) (engine.Answer, bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		answer := engine.Answer{Allow: true}
		wanted := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' })
		for _, l := range d.Lines {
			if len(wanted) == 0 || slices.Contains(wanted, l.ID) {
				answer.Lines = append(answer.Lines, l.ID)
			}
		}
		return answer, len(wanted) == 0 || len(answer.Lines) == len(wanted)
	case "", "n", "no":
		return engine.Answer{Note: strings.TrimSpace(rest)}, true
	}
	return engine.Answer{}, false
}

// readApproval understands an answer. Enter alone means nothing.
func readApproval(d event.ApprovalAsked, text string) (engine.Answer, bool) {
	word, note, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		return engine.Answer{Allow: true, Scope: "once"}, note == ""
	case "a", "add":
		return engine.Answer{Allow: true, Scope: "run"}, note == "" && d.Extend != ""
	case "s", "session":
		return engine.Answer{Allow: true, Scope: "session"}, note == "" && d.Session != ""
	case "n", "no":
		return engine.Answer{Note: strings.TrimSpace(note)}, true
	}
	return engine.Answer{}, false
}

func (q *asks) showQuestion(d event.Question) {
	w := q.Stderr
	fmt.Fprintf(w, "\n%s\n", q.steps.tint("1", clean(d.Title)))
	if d.Why != "" {
		fmt.Fprintln(w, indent(clean(d.Why)))
	}
	for i, o := range d.Options {
		fmt.Fprintf(w, "  %d  %s\n", i+1, clean(o.Label))
	}
	hint := "Answer, or /decide to let the agent decide, /skip to go on without"
	if d.Default != "" {
		hint += ", Enter for " + line(d.Default, 60)
	}
	fmt.Fprintf(w, "%s\n> ", hint)
}

func readQuestion(d event.Question, text string) (engine.Answer, bool) {
	text = strings.TrimSpace(text)
	switch text {
	case "/decide":
		return engine.Answer{Decide: true}, true
	case "/skip":
		return engine.Answer{Skip: true}, true
	case "":
		return engine.Answer{Text: d.Default}, d.Default != ""
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(d.Options) {
		return engine.Answer{Text: d.Options[n-1].Value}, true
	}
	for _, o := range d.Options {
		if strings.EqualFold(text, o.Label) || text == o.Value {
			return engine.Answer{Text: o.Value}, true
		}
	}
	if d.Kind == "confirm" && len(d.Options) == 0 {
		switch strings.ToLower(text) {
		case "y", "yes":
			return engine.Answer{Text: "yes"}, true
		case "n", "no":
			return engine.Answer{Text: "no"}, true
		}
		return engine.Answer{}, false
	}
	return engine.Answer{Text: text}, d.Kind != "choice"
}

// inWords says what a deed is.
func inWords(class string) string {
	switch class {
	case "read_file":
		return "Read a file"
	case "write_file":
		return "Write a file"
	case "delete_file":
		return "Delete a file"
	case "run_command":
		return "Run a command on this computer"
	case "visit":
		return "Open a page"
	case "send":
		return "Send data to a site"
	case "run_script":
		return "Run a script in a page"
	}
	return strings.ReplaceAll(clean(class), "_", " ")
}

// grants names what leave was missing, one line each.
func grants(d event.ApprovalAsked) []string {
	var list []string
	for _, deed := range d.Deeds {
		text := line(deed.Class, 0) + " " + line(deed.Object, 300)
		if deed.Detail != "" {
			text += " (" + line(deed.Detail, 200) + ")"
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		list = append(list, line(d.Tool, 0))
	}
	return list
}
