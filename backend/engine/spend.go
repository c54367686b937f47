package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gofer/backend/chat"
	"gofer/backend/event"
	"gofer/backend/fault"
	"gofer/backend/llm"
	"gofer/backend/store"
)

// warnAt is the part of a budget at which a person is told.
const warnAt = 0.8

// spent keeps what was spent today, so that no model call waits for a sum over
// the database.
type spent struct {
	mu   sync.Mutex
	day  string
	cost float64
}

// today returns what all runs have cost since midnight, and adds to it.
func (e *Engine) today(ctx context.Context, more float64) (float64, error) {
	e.spent.mu.Lock()
	defer e.spent.mu.Unlock()
	now := e.now()
	if day := now.Format(time.DateOnly); day != e.spent.day {
		rows, err := e.store.Usage(ctx, midnight(now).UnixMilli())
		if err != nil {
			return 0, err
		}
		sum := chat.Usage{}
		for _, r := range rows {
			sum = sum.Add(r.Usage)
		}
		e.spent.day, e.spent.cost = day, sum.Cost // what was added is among the rows
		return e.spent.cost, nil
	}
	e.spent.cost += more
	return e.spent.cost, nil
}

// spentBeside counts the reply to a request beside a run.
func (e *Engine) spentBeside(ctx context.Context, sessionID, purpose string, r llm.Reply) error {
	if r.Usage == nil {
		return nil
	}
	if _, err := e.today(ctx, 0); err != nil { // reads the day, if need be, before the row is there
		return err
	}
	if err := e.store.PutUsage(ctx, sessionID, purpose, r.Model, *r.Usage); err != nil {
		return err
	}
	_, err := e.today(ctx, r.Usage.Cost)
	return err
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// purse watches what one run spends. The run's goroutine owns it.
type purse struct {
	engine  *Engine
	journal *journal
	asker   *gate
	extra   map[string]float64 // allowed beyond the budget, by its name
	warned  map[string]bool
	more    int // iterations allowed beyond the agreement
}

func newPurse(e *Engine, j *journal, asker *gate) *purse {
	return &purse{engine: e, journal: j, asker: asker, extra: map[string]float64{}, warned: map[string]bool{}}
}

// afford tells when most of a budget is spent, and asks when all of it is.
func (p *purse) afford(ctx context.Context) (reason string, err error) {
	run := p.journal.usage.Cost
	day, err := p.engine.today(ctx, 0) // its own replies are among them
	if err != nil {
		return "", err
	}
	budget := p.engine.settings.Settings().Budget
	agreed, iterations, last := p.asker.agreed.limits() // beside the person's own budget, never in its place
	if reason, err := p.reached(ctx, iterations, last); reason != "" || err != nil {
		return reason, err
	}
	for _, b := range []struct {
		name        string
		spent, most float64
	}{{"this run", run, budget.Run}, {"today", day, budget.Day}, {agreedBudget, run, agreed}} {
		if b.most <= 0 {
			continue
		}
		if reason, err := p.check(ctx, b.name, b.spent, b.most); reason != "" || err != nil {
			return reason, err
		}
	}
	return "", nil
}

// agreedBudget names what was agreed on as the most to spend.
const agreedBudget = "this run, as agreed,"

// reached asks when the iterations that were agreed on are used up.
func (p *purse) reached(ctx context.Context, iterations, last int) (string, error) {
	if iterations == 0 || p.journal.begun <= last+p.more {
		return "", nil
	}
	answer, by, err := p.asker.Ask(ctx, event.Question{
		Kind:    "confirm",
		Title:   fmt.Sprintf("The %d iterations that were agreed for this run are used up. Go on?", iterations+p.more),
		Why:     "Going on allows as many again.",
		Options: []event.Option{{Label: "Go on", Value: "yes"}, {Label: "Stop here", Value: "no"}},
	})
	if err != nil {
		return "", err
	}
	if by == "person" && answer == "yes" {
		p.more += iterations
		return "", nil
	}
	return "budget", fault.New(fault.Invalid, fmt.Sprintf("Stopped: the %d iterations that were agreed for this run are used up.", iterations+p.more), "What was done is kept; continue from here.")
}

func (p *purse) check(ctx context.Context, name string, spent, budget float64) (string, error) {
	limit := budget + p.extra[name]
	switch {
	case spent < limit*warnAt:
		return "", nil
	case spent < limit:
		if p.warned[name] {
			return "", nil
		}
		p.warned[name] = true
		return "", p.journal.Notice(ctx, fmt.Sprintf("$%.2f of the $%.2f for %s are spent.", spent, limit, name))
	}
	answer, by, err := p.asker.Ask(ctx, event.Question{
		Kind:    "confirm",
		Title:   fmt.Sprintf("The budget for %s is used up: $%.2f of $%.2f. Go on?", name, spent, limit),
		Why:     "Going on allows as much again.",
		Options: []event.Option{{Label: "Go on", Value: "yes"}, {Label: "Stop here", Value: "no"}},
	})
	if err != nil {
		return "", err
	}
	if by == "person" && answer == "yes" {
		p.extra[name] += max(budget, spent-limit)
		p.warned[name] = false
		return "", nil
	}
	hint := "Raise it in the settings, or choose a cheaper model."
	if name == agreedBudget {
		hint = "What was done is kept; continue from here."
	}
	return "budget", fault.New(fault.Invalid, fmt.Sprintf("Stopped: the budget for %s is used up ($%.2f of $%.2f).", name, spent, limit), hint)
}

// Usage says what was used since so many days ago, today included, by day and
// by model.
func (e *Engine) Usage(ctx context.Context, days int) (UsageReport, error) {
	now := e.now()
	rows, err := e.store.Usage(ctx, midnight(now).AddDate(0, 0, 1-max(days, 1)).UnixMilli())
	if err != nil {
		return UsageReport{}, err
	}
	report := UsageReport{Days: []UsageOf{}, Models: []UsageOf{}}
	add := func(list *[]UsageOf, name string, r store.UsageRow) {
		for i := range *list {
			if u := &(*list)[i]; u.Name == name {
				u.Usage, u.Replies = u.Usage.Add(r.Usage), u.Replies+1
				return
			}
		}
		*list = append(*list, UsageOf{Name: name, Usage: r.Usage, Replies: 1})
	}
	for _, r := range rows {
		report.Total = report.Total.Add(r.Usage)
		add(&report.Days, time.UnixMilli(r.At).In(now.Location()).Format(time.DateOnly), r)
		add(&report.Models, r.Model, r)
	}
	budget := e.settings.Settings().Budget
	report.BudgetDay, report.BudgetRun = budget.Day, budget.Run
	return report, nil
}
