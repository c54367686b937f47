package id

import "testing"

func TestIdsSortByTheTimeTheyWereMade(t *testing.T) {
	last := ""
	for range 1000 {
		got := New()
		if got <= last {
			t.Fatalf("got %s after %s, want increasing ids", got, last)
		}
		if !Valid(got) {
			t.Fatalf("Valid(%q) = false", got)
		}
		last = got
	}
	if Valid("last") || Valid("") {
		t.Fatal("Valid accepts words that are no id")
	}
}
