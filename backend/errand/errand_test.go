package errand

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gofer/backend/llm/llmtest"
	"gofer/backend/llm/script"
)

func start30(t *testing.T, o Options) *Site {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func at(t *testing.T, s *script.Server, d *Desk) *llmtest.Loop {
	t.Helper()
	if d.Folder == "" {
		d.Folder = t.TempDir()
	}
	return &llmtest.Loop{Model: llmtest.Client(s, "errand"), Tools: d.Tools(), Do: d.Do}
}

func TestLinksAreSaved(t *testing.T) {
	for _, o := range []Options{{Seed: 1}, {Seed: 2, PerList: 12}, {Seed: 3, Pages: 1}} {
		for _, relative := range []bool{false, true} {
			site, desk := start30(t, o), &Desk{Relative: relative}
			loop := at(t, llmtest.Serve(t, SaveLinks("errand")), desk)
			loop.Prompt(SaveLinksPrompt + site.Origin + "/")
			said, err := loop.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("I saved %d links to links.txt.", len(site.Pages)); said != want {
				t.Errorf("got %q, want %q", said, want)
			}
			for _, wrong := range CheckLinks(site, desk.Folder) {
				t.Error(wrong)
			}
		}
	}
}

func TestTheLongErrandDoesEverythingOnce(t *testing.T) {
	for _, o := range []Options{{Seed: 4}, {Seed: 5, Pages: 9, PerList: 5}} {
		site, desk := start30(t, o), &Desk{}
		loop := at(t, llmtest.Serve(t, ReadAll("errand")), desk)
		loop.Prompt(ReadAllPrompt + site.Origin + "/")
		if _, err := loop.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range CheckAll(site, desk.Folder) {
			t.Error(wrong)
		}
		if o.Pages == 0 && loop.Calls <= 100 {
			t.Errorf("got %d calls, want more than 100", loop.Calls)
		}
	}
}

// TestAKilledErrandGoesOn kills the loop again and again, before and after
// calls took effect, with a fresh model server each time.
func TestAKilledErrandGoesOn(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		for _, step := range []int{7, 11} {
			site, desk := start30(t, Options{Seed: 6, Pages: 8, PerList: 5}), &Desk{}
			var loop *llmtest.Loop
			kills := 0
			last := 0
			kill := func(n int) error {
				if n%step == 0 && n != last {
					last = n
					kills++
					return llmtest.ErrKilled
				}
				return nil
			}
			if when == "before" {
				desk.Before = kill
			} else {
				desk.After = kill
			}
			for range 100 {
				next := at(t, llmtest.Serve(t, ReadAll("errand")), desk)
				if loop == nil {
					next.Prompt(ReadAllPrompt + site.Origin + "/")
				} else {
					next.Messages = loop.Messages
				}
				loop = next
				_, err := loop.Run(t.Context())
				if err == nil {
					break
				}
				if !errors.Is(err, llmtest.ErrKilled) {
					t.Fatal(err)
				}
				desk.Restart()
			}
			if kills < 3 {
				t.Errorf("got %d kills", kills)
			}
			for _, wrong := range CheckAll(site, desk.Folder) {
				t.Errorf("killed %s every %d calls: %s", when, step, wrong)
			}
		}
	}
}

func TestTheCheckerSeesWhatIsMissingAndWhatIsTooMuch(t *testing.T) {
	site, desk := start30(t, Options{Seed: 7, Pages: 3}), &Desk{Folder: t.TempDir()}
	if got := len(CheckAll(site, desk.Folder)); got < 6 {
		t.Errorf("an empty folder gives %d faults, want at least 6", got)
	}
	if _, err := desk.Do(context.Background(), "fs_write", fmt.Appendf(nil, `{"path":"links.txt","content":"%s\n%s/other"}`, site.URL(site.Pages[0]), site.Origin)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(CheckLinks(site, desk.Folder), "\n"); strings.Count(got, "\n") != 2 || !strings.Contains(got, "/other") {
		t.Errorf("got %s", got)
	}
}

func TestTheSameSeedMakesTheSameSite(t *testing.T) {
	a, b := makePages(Options{Seed: 9, Pages: 30}), makePages(Options{Seed: 9, Pages: 30})
	for i := range a {
		if a[i].Title != b[i].Title || a[i].Code != b[i].Code || a[i].Images[0].Sum != b[i].Images[0].Sum {
			t.Fatalf("page %d differs", i)
		}
	}
}

func TestEveryServersWaysEndTheSame(t *testing.T) {
	for name, overlay := range script.Overlays {
		site, desk := start30(t, Options{Seed: 8, Pages: 2}), &Desk{}
		srv := llmtest.Serve(t, ReadAll("errand"))
		srv.Overlay = overlay
		loop := at(t, srv, desk)
		loop.Prompt(ReadAllPrompt + site.Origin + "/")
		if _, err := loop.Run(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, wrong := range CheckAll(site, desk.Folder) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}
