package engine

import "time"

// CloseByHand makes every session's browser window count as closed by a person
// from now on; they have none in these tests.
func CloseByHand(e *Engine) {
	e.closedByHand = func(string) time.Time { return time.Now() }
}

// Panic makes every call of a browser tool break the engine down.
func Panic(e *Engine, with any) {
	e.closedByHand = func(string) time.Time { panic(with) }
}

// FirstRunes is how titles are cut.
var FirstRunes = firstRunes
