package main

import (
	"os"
	"testing"

	"gofer/backend/engine"
)

func TestTheReferenceIsFresh(t *testing.T) {
	want, err := Reference(engine.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/tools.md")
	if err != nil || string(got) != want {
		t.Fatalf("docs/tools.md is stale (%v): run make gen", err)
	}
}
